//! The laws of LNet Health for arbitrary worlds, parameters and fault scripts.
//!
//! Each law is checked on the events and on the state at every whole second, independently of the
//! implementation.

use std::collections::{BTreeMap, BTreeSet};

use lnet::{
    Cause, Ending, Errand, Health, Lnet, LnetProfile, MessageId, MsgStatus, Nid, Node, Notice,
    Param, PortEvent, Request, Side, Verb, View, What, WorkloadEvent,
};
use platforms::NodeName;
use proptest::{prelude::*, test_runner::RngSeed};
use simfs::SimTime;

use crate::{
    stage,
    story::{Act, Playing, Story, With, play, story},
};

type Lawful = Result<(), TestCaseError>;

/// The same stories in every run.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(4),
        ..ProptestConfig::default()
    }
}

/// Every health value of every node.
fn healths(lnet: &Lnet) -> Vec<u16> {
    let own = lnet
        .nodes()
        .flat_map(|node| node.nis().iter().map(|ni| ni.health.value()));
    let peers = lnet
        .nodes()
        .flat_map(Node::peers)
        .flat_map(|peer| &peer.nis);
    own.chain(peers.map(|ni| ni.health.value())).collect()
}

fn is_second(at: SimTime) -> bool {
    at.as_ns().is_multiple_of(1_000_000_000)
}

/// The interfaces of a loaded node with side, health, ping count and whether they are queued.
fn recoveries(node: &Node) -> Vec<(Side, Nid, Health, u32, bool)> {
    let own = node.nis().iter().map(|ni| {
        (
            Side::Local,
            ni.nid().clone(),
            ni.health,
            ni.recovery.ping_count,
            ni.recovery.queued,
        )
    });
    let peers = node.peers().flat_map(|peer| &peer.nis).map(|ni| {
        (
            Side::Peer,
            ni.nid.clone(),
            ni.health,
            ni.recovery.ping_count,
            ni.recovery.queued,
        )
    });
    own.chain(peers).collect()
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn pl1_health_stays_between_0_and_1000(story in story(With::ALL)) {
        play(&story, 20, |playing, _| {
            prop_assert!(healths(&playing.lnet).into_iter().all(|health| health <= 1000));
            Ok(())
        })?;
    }

    #[test]
    fn pl2_without_sensitivity_no_health_changes_and_nobody_is_queued(mut story in story(With::ALL)) {
        story.sensitivity = 0;
        story.retry_count = 0;
        play(&story, 20, |playing, happened| {
            for entry in happened {
                if let What::Health { cause, .. } = &entry.what {
                    prop_assert_eq!(*cause, Cause::Set);
                }
            }
            for node in playing.lnet.nodes() {
                prop_assert!(node.local_queue().is_empty() && node.peer_queue().is_empty());
            }
            Ok(())
        })?;
    }

    #[test]
    fn pl3_a_status_moves_an_interface_by_at_most_one_step(story in story(With::ALL)) {
        let by_design = story.profile == LnetProfile::Hld;
        let step = if by_design { 1 } else { story.sensitivity };
        play(&story, 20, |_, happened| steps_are_single(happened, story.sensitivity, step))?;
    }

    #[test]
    fn pl4_local_statuses_spare_peers_and_remote_ones_spare_us(story in story(With::ALL)) {
        play(&story, 20, |_, happened| {
            for entry in happened {
                if let What::Health { side, cause: Cause::Status(_, status), .. } = &entry.what {
                    match side {
                        Side::Local => prop_assert!(!status.name().starts_with("remote_"), "{entry:?}"),
                        Side::Peer => prop_assert!(!status.name().starts_with("local_"), "{entry:?}"),
                    }
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn pl5_a_message_is_sent_at_most_once_more_than_it_may_be_retried(story in story(With::NO_RELOADS)) {
        let mut sends: BTreeMap<(NodeName, MessageId), u64> = BTreeMap::new();
        let playing = play(&story, 20, |_, happened| {
            for entry in happened {
                if let What::Sent { message, attempt, .. } = &entry.what {
                    let count = sends.entry((entry.node.clone(), *message)).or_insert(0);
                    *count += 1;
                    prop_assert_eq!(*count, u64::from(*attempt));
                    prop_assert!(*count <= u64::from(story.retry_count) + 1);
                }
            }
            Ok(())
        })?;
        for node in playing.lnet.nodes() {
            let own = sends.iter().filter(|((name, _), _)| name == node.name());
            let again: u64 = own.map(|(_, count)| count - 1).sum();
            prop_assert_eq!(node.statistics().resend_count, again);
        }
    }

    #[test]
    fn pl6_nothing_is_sent_again_that_must_not_be(story in story(With::ALL)) {
        let mut first: BTreeMap<MessageId, (SimTime, SimTime, Errand)> = BTreeMap::new();
        play(&story, 20, |playing, happened| {
            for entry in happened {
                match &entry.what {
                    What::Sent { message, errand, by, attempt: 1, .. } => {
                        let params = playing.lnet.node(&entry.node).unwrap().params();
                        let deadline = entry.at + params.message_timeout(by.net().lnd());
                        first.insert(*message, (entry.at, deadline, *errand));
                    }
                    What::Judged { message, status, resend: true } => {
                        let (_, deadline, errand) = first[message];
                        prop_assert!(entry.at <= deadline);
                        prop_assert!(status.resend().is_some());
                        prop_assert!(!matches!(errand, Errand::RecoverLocal | Errand::RecoverPeer));
                    }
                    _ => {}
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn pl7_what_was_sent_again_ends_in_one_of_three_ways(story in story(With::NO_RELOADS)) {
        let mut ends: BTreeMap<NodeName, [u64; 3]> = BTreeMap::new();
        let mut ended = BTreeSet::new();
        let playing = play(&story, 20, |_, happened| {
            for entry in happened {
                if let What::Ended { message, resends, ending, .. } = &entry.what {
                    prop_assert!(ended.insert(*message), "{message} ended twice");
                    if *resends > 0 {
                        let counts = ends.entry(entry.node.clone()).or_default();
                        counts[match ending {
                            Ending::Success => 0,
                            Ending::Failure => 1,
                            Ending::Deadline => 2,
                        }] += 1;
                    }
                }
            }
            Ok(())
        })?;
        for node in playing.lnet.nodes() {
            let [success, failure, _] = ends.get(node.name()).copied().unwrap_or_default();
            prop_assert_eq!(node.statistics().successful_resends, success);
            prop_assert_eq!(node.statistics().failed_resends, failure);
        }
    }

    #[test]
    fn pl8_and_pl9_at_a_second_the_queues_hold_who_is_unwell(story in story(With::ALL)) {
        play(&story, 20, |playing, happened| {
            let now = playing.lnet.now();
            if !is_second(now) {
                return Ok(());
            }
            for node in playing.lnet.nodes().filter(|node| node.is_loaded()) {
                for (side, nid, health, _, queued) in recoveries(node) {
                    // Changes at this very instant happened after the queues were checked.
                    let just_now = happened.iter().any(|entry| {
                        entry.at == now && entry.node == *node.name()
                            && matches!(&entry.what, What::Health { ni, .. } if *ni == nid)
                    });
                    prop_assert!(!queued || health < Health::MAX || just_now, "{side:?} {nid}");
                    let queue = if side == Side::Local { node.local_queue() } else { node.peer_queue() };
                    prop_assert_eq!(queue.contains(&nid), queued);
                }
                let limit_s = u64::from(node.params().get(Param::RecoveryLimit));
                for nid in node.peer_queue().iter().filter(|_| limit_s > 0) {
                    let heard_s = node.peer_ni(nid).unwrap().last_alive.unwrap().as_ms() / 1000;
                    prop_assert!(now.as_ms() / 1000 <= heard_s + limit_s);
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn pl10_failing_pings_come_ever_more_rarely_up_to_the_longest_interval(story in story(With::NO_SETS)) {
        // By interface: the last ping's second, its count, and the interval before it.
        let mut last: BTreeMap<(NodeName, Nid), (u64, u32, u64)> = BTreeMap::new();
        play(&story, 40, |playing, happened| {
            let now = playing.lnet.now();
            // An interface that was healthy in between starts again, also within one second.
            for entry in happened {
                if let What::Health { ni, after: Health::MAX, .. } = &entry.what {
                    last.remove(&(entry.node.clone(), ni.clone()));
                }
            }
            let now_s = now.as_ms() / 1000;
            for node in playing.lnet.nodes().filter(|_| is_second(now)) {
                for (_, nid, _, count, queued) in recoveries(node) {
                    let pinged = happened.iter().any(|entry| {
                        entry.at == now && entry.node == *node.name()
                            && matches!(
                                &entry.what,
                                What::Sent { errand: Errand::RecoverLocal | Errand::RecoverPeer, to, .. }
                                    if *to == nid
                            )
                    });
                    let key = (node.name().clone(), nid);
                    if !queued || !node.is_loaded() {
                        last.remove(&key);
                    } else if pinged {
                        let mut gap = 0;
                        if let Some((at_s, before, gap_before)) = last.get(&key).copied()
                            && count == before + 1
                        {
                            gap = now_s - at_s;
                            let by_design = story.profile == LnetProfile::Hld;
                            let most = if by_design { 1 } else { u64::from(story.interval_s) };
                            prop_assert!((gap_before..=most).contains(&gap), "{key:?}: {gap} s");
                        }
                        last.insert(key, (now_s, count, gap));
                    } else if last.get(&key).is_some_and(|(_, before, _)| *before != count) {
                        // It was answered, or there was no route to ping it.
                        last.remove(&key);
                    }
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn pl11_the_best_interface_that_is_not_fatal_is_chosen(story in story(With::ALL)) {
        let mut playing = story.begin();
        let mut at = SimTime::ZERO;
        for (after_ms, act) in &story.acts {
            at += SimTime::from_ms(*after_ms);
            playing.lnet.advance(at);
            let before = playing.lnet.clone();
            let sent = playing.act(&story, act);
            let happened = playing.lnet.advance(at);
            let Act::Send { source: None, .. } = act else { continue };
            let Some(first) = sent.first() else { continue };
            chosen_is_best(&playing, &before, &happened, *first)?;
        }
    }

    #[test]
    fn pl12_equals_take_turns(rails in 1..=4_usize, sends in 1..=40_u32, gap_ms in 0..=20_u64) {
        let nis = |end: &str| -> Vec<(String, &str)> {
            (1..=rails).map(|rail| (format!("{end}{rail}"), "o2ib")).collect()
        };
        let node = |name: &str, end: &str| {
            let nis = nis(end);
            let nis: Vec<(&str, &str)> = nis.iter().map(|(a, n)| (a.as_str(), *n)).collect();
            stage::node(name, LnetProfile::V2_17, &nis)
        };
        let mut lnet = stage::lnet(vec![node("A", "a"), node("B", "b")]);
        let mut counts: BTreeMap<Nid, u32> = nis("a").iter().chain(&nis("b"))
            .map(|(address, net)| (stage::nid(address, net), 0)).collect();
        for _ in 0..sends {
            let request = Request {
                node: stage::name("A"),
                verb: Verb::Put,
                source: None,
                destination: stage::nid("b1", "o2ib"),
                length: 1,
                portal: 12,
            };
            lnet.send(request).unwrap();
            for entry in lnet.advance(lnet.now() + SimTime::from_ms(gap_ms)) {
                if let What::Sent { by, to, .. } = &entry.what {
                    *counts.get_mut(by).unwrap() += 1;
                    *counts.get_mut(to).unwrap() += 1;
                }
            }
        }
        for end in ["a", "b"] {
            let of_end = nis(end).into_iter().map(|(address, net)| counts[&stage::nid(&address, net)]);
            let of_end: Vec<u32> = of_end.collect();
            prop_assert_eq!(of_end.iter().sum::<u32>(), sends);
            prop_assert!(of_end.iter().max().unwrap() - of_end.iter().min().unwrap() <= 1, "{of_end:?}");
        }
    }

    #[test]
    fn pl13_events_of_ports_change_no_health_of_ours(story in story(With::ALL)) {
        let mut playing = story.begin();
        let mut at = SimTime::ZERO;
        for (after_ms, act) in &story.acts {
            at += SimTime::from_ms(*after_ms);
            playing.lnet.advance(at);
            let before = healths(&playing.lnet);
            for (node, nid) in playing.nis.clone() {
                let port = stage::port(node.as_str(), nid.to_string().split('@').next().unwrap());
                let mut other = playing.lnet.clone();
                for event in [PortEvent::Error, PortEvent::Active, PortEvent::Lost, PortEvent::Gone] {
                    other.notify(Notice::Port { port: port.clone(), event }).unwrap();
                    other.advance(at);
                    prop_assert_eq!(&healths(&other), &before);
                }
            }
            playing.act(&story, act);
        }
    }

    #[test]
    fn pl14_an_interface_is_down_while_fatal_or_on_its_way_back_from_0(story in story(With::ALL)) {
        let mut sunk: BTreeSet<Nid> = BTreeSet::new();
        play(&story, 20, |playing, happened| {
            for entry in happened {
                if let What::Health { ni, side: Side::Local, after, .. } = &entry.what {
                    if *after == Health::ZERO {
                        sunk.insert(ni.clone());
                    } else if *after == Health::MAX {
                        sunk.remove(ni);
                    }
                }
            }
            for node in playing.lnet.nodes() {
                for ni in node.nis() {
                    if !node.is_loaded() {
                        sunk.remove(ni.nid());
                        continue;
                    }
                    let back = story.profile == LnetProfile::V2_17 && sunk.contains(ni.nid());
                    prop_assert_eq!(node.is_up(ni), !(ni.fatal || back), "{:?}", ni);
                }
            }
            Ok(())
        })?;
    }

    /// With the default response tracking; without it, lost responses are not tracked.
    #[test]
    fn pl15_every_request_gets_exactly_one_final_event(story in story(With::ALL)) {
        let mut finals: BTreeMap<MessageId, u32> = BTreeMap::new();
        let playing = play(&story, 400, |_, happened| {
            for entry in happened {
                if let What::Told { request, last, .. } = &entry.what {
                    let count = finals.entry(*request).or_insert(0);
                    *count += u32::from(*last);
                }
            }
            Ok(())
        })?;
        for (request, node) in &playing.requests {
            prop_assert_eq!(finals.get(request).copied(), Some(1), "request {} of {}", request, node);
        }
    }

    #[test]
    fn pl16_without_faults_all_is_well_and_no_error_is_counted(story in story(With::SENDS_ONLY)) {
        let playing = play(&story, 20, |_, _| Ok(()))?;
        prop_assert!(healths(&playing.lnet).into_iter().all(|health| health == 1000));
        for node in playing.lnet.nodes() {
            for (name, count) in node.statistics().rows() {
                let error = name == "errors" || name == "failed_resends" || name.starts_with("drop_")
                    || ["local_", "remote_", "network_", "res"].iter().any(|start| name.starts_with(start));
                prop_assert!(!error || count == 0, "{name}: {count}");
            }
        }
    }

    #[test]
    fn pl17_the_same_story_gives_the_same_texts(story in story(With::ALL)) {
        let rendered = |story: &Story| -> Result<(Vec<WorkloadEvent>, Vec<String>), TestCaseError> {
            let mut all = Vec::new();
            let playing = play(story, 20, |_, happened| { all.extend_from_slice(happened); Ok(()) })?;
            let texts = playing.lnet.nodes().map(|node| {
                View::ALL.map(|view| node.show(view)).concat()
            });
            Ok((all, texts.collect()))
        };
        let (first, second) = (rendered(&story)?, rendered(&story)?);
        prop_assert!(first == second);
    }
}

/// PL3: each classified attempt is followed by the changes that it caused; each is one step, limited to
/// the range.
fn steps_are_single(happened: &[WorkloadEvent], sensitivity: u16, step: u16) -> Lawful {
    let mut caused: Option<(MessageId, MsgStatus, usize)> = None;
    for entry in happened {
        match &entry.what {
            What::Judged {
                message, status, ..
            } => caused = Some((*message, *status, 0)),
            What::Health {
                before,
                after,
                cause,
                ..
            } => {
                let down = *after == before.lowered(sensitivity);
                let up = *after == before.raised(step);
                match cause {
                    Cause::Status(message, status) => {
                        let (judged, as_status, count) = caused.as_mut().expect("judged before");
                        *count += 1;
                        prop_assert_eq!((*judged, *as_status), (*message, *status));
                        let most = if *status == MsgStatus::NetworkTimeout {
                            2
                        } else {
                            1
                        };
                        prop_assert!(*count <= most);
                        let right = if *status == MsgStatus::Ok { up } else { down };
                        prop_assert!(right);
                    }
                    // A message through a router sets its health to the maximum at once.
                    Cause::Arrival => prop_assert!(up || *after == Health::MAX),
                    Cause::Recovery => prop_assert!(up),
                    Cause::PingFailed | Cause::ResponseTimeout | Cause::ReportedDown => {
                        prop_assert!(down);
                    }
                    Cause::Set => {}
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// PL11: checks the state before the send, and compares with every other interface.
fn chosen_is_best(
    playing: &Playing,
    before: &Lnet,
    happened: &[WorkloadEvent],
    sent: MessageId,
) -> Lawful {
    let first = happened.iter().find_map(|entry| match &entry.what {
        What::Sent {
            message,
            by,
            to,
            attempt: 1,
            ..
        } if *message == sent => Some((by, to)),
        _ => None,
    });
    let name = &playing.requests[&sent];
    let node = before.node(name).unwrap();
    let Some((by, to)) = first else {
        // Only in the HLD profile a send fails instead of using a fatal interface, or because the
        // preferred one is unhealthy; otherwise there was no route.
        return Ok(());
    };
    let peer = node.peer(to).unwrap();
    let chosen = node.ni(by).unwrap();
    if !peer.multi_rail || peer.router {
        return Ok(());
    }
    let shared = node
        .nis()
        .iter()
        .filter(|ni| peer.net_health(ni.nid().net()).is_some());
    if chosen.fatal {
        prop_assert!(shared.clone().all(|ni| ni.fatal));
        return Ok(());
    }
    for other in shared.filter(|ni| !ni.fatal && ni.nid().net() == by.net()) {
        let better = other.health > chosen.health
            || (other.health == chosen.health
                && (other.tx_credits > chosen.tx_credits
                    || (other.tx_credits == chosen.tx_credits
                        && other.sequence < chosen.sequence)));
        prop_assert!(!better, "{} rather than {by}", other.nid());
    }
    let taken = node.peer_ni(to).unwrap();
    for other in peer.nis.iter().filter(|ni| ni.nid.net() == to.net()) {
        let better = other.health > taken.health
            || (other.health == taken.health
                && (other.tx_credits > taken.tx_credits
                    || (other.tx_credits == taken.tx_credits && other.sequence < taken.sequence)));
        prop_assert!(!better, "{} rather than {to}", other.nid);
    }
    Ok(())
}

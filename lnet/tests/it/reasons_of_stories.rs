//! Every reason over drawn stories, with given sources, resends, dead connections and all profiles: why an interface was
//! passed over, why there was no path, why a message was not sent again, and what closed a connection. Each is compared with
//! what the trace recorded before it.

use std::collections::{BTreeMap, BTreeSet};

use lnet::{
    Candidate, Choice, EndsBy, Errand, Lnet, LnetProfile, MessageId, MsgStatus, NetName, Nid,
    NoPath, NoResend, PassedOver, Resend, TraceEntry, Traced, Trouble, What,
};
use platforms::NodeName;
use proptest::{
    strategy::{Strategy as _, ValueTree as _},
    test_runner::TestRunner,
};
use simfs::SimTime;

use crate::{
    reasons::fits,
    story::{Act, Playing, Story, With, story},
};

/// Number of stories.
const STORIES: usize = 500;

/// A message as one node holds it: a router holds what it forwards.
type Held = (NodeName, MessageId);

/// What the trace told of a story so far.
struct Told<'a> {
    story: &'a Story,
    lnet: &'a Lnet,
    /// The sources that the layer above gave.
    given: &'a BTreeMap<MessageId, Nid>,
    /// The paths of a message's tries, the last one last.
    tries: BTreeMap<Held, Vec<(Nid, Nid)>>,
    errands: BTreeMap<Held, Errand>,
    deadlines: BTreeMap<Held, SimTime>,
    /// How the driver will fail the present try.
    troubles: BTreeMap<Held, Trouble>,
    /// The status of the last try that was judged, and whether it is to be resent.
    judged: BTreeMap<Held, (MsgStatus, bool)>,
    /// Failed tries: when, of which node, by which path and trouble.
    failed: Vec<(SimTime, NodeName, (Nid, Nid), Trouble)>,
    /// Messages for which a reason not to resend them is due.
    unexplained: BTreeSet<Held>,
    ended: BTreeSet<Held>,
    seen: BTreeMap<&'static str, usize>,
}

impl Told<'_> {
    fn count(&mut self, kind: &'static str) {
        *self.seen.entry(kind).or_default() += 1;
    }

    /// Whether selection compares health: the document's does not without health evaluation.
    fn counts_health(&self) -> bool {
        self.story.sensitivity > 0 || self.story.profile != LnetProfile::Hld
    }

    fn entry(&mut self, entry: &TraceEntry) {
        let held = |message: &MessageId| (entry.node.clone(), *message);
        match &entry.what {
            Traced::Choice(choice) => self.choice(held(&choice.message), choice),
            Traced::Deadline { message, at } => {
                self.deadlines.insert(held(message), *at);
            }
            Traced::Prospect { message, by, .. } => self.prospect(entry, held(message), *by),
            Traced::Event(What::Judged {
                message,
                status,
                resend,
            }) => {
                let held = held(message);
                self.judged.insert(held.clone(), (*status, *resend));
                if *status != MsgStatus::Ok {
                    self.fails(entry.at, &held);
                    if !resend {
                        self.unexplained.insert(held);
                    }
                }
            }
            Traced::NoResend { message, why } => self.no_resend(entry, &held(message), *why),
            _ => {}
        }
    }

    /// The present try of a message failed.
    fn fails(&mut self, at: SimTime, held: &Held) {
        let path = self.tries.get(held).and_then(|tries| tries.last());
        if let Some((path, trouble)) = path.zip(self.troubles.get(held)) {
            let failed = (at, held.0.clone(), path.clone(), *trouble);
            self.failed.push(failed);
        }
    }

    fn prospect(&mut self, entry: &TraceEntry, held: Held, by: EndsBy) {
        match by {
            EndsBy::Driver(trouble) => {
                self.troubles.insert(held, trouble);
            }
            EndsBy::Closed(trouble) => {
                let path = self.tries[&held].last().expect("it was tried");
                let closes = |(at, node, of, by): &(SimTime, NodeName, (Nid, Nid), Trouble)| {
                    (*at, node, of, *by) == (entry.at, &held.0, path, trouble)
                };
                let closed = self.failed.iter().any(closes);
                assert!(closed, "{entry:?} of {:?}", self.story);
                self.troubles.remove(&held);
                self.count("closed");
            }
            EndsBy::Arrival | EndsBy::Rule => {
                self.troubles.remove(&held);
            }
        }
    }

    fn choice(&mut self, held: Held, choice: &Choice) {
        assert!(
            !self.ended.contains(&held),
            "{choice:?} of {:?}",
            self.story
        );
        let tries = self.tries.get(&held).cloned().unwrap_or_default();
        assert_eq!(choice.attempt as usize, tries.len() + 1, "{choice:?}");
        self.errands.insert(held.clone(), choice.errand);
        let (by, to) = match &choice.path {
            Ok(path) => path,
            Err(why) => {
                self.no_path(&held, choice, *why);
                return;
            }
        };
        let sides = [("own", &choice.local, by), ("peer", &choice.remote, to)];
        for (side, all, nid) in sides {
            // The next hop of a ping of an own interface is the node itself.
            if all.is_empty() {
                assert_eq!(side, "peer", "{choice:?}");
                continue;
            }
            let chosen: Vec<&Candidate> =
                all.iter().filter(|one| one.passed_over.is_none()).collect();
            assert_eq!(chosen.len(), 1, "{side} of {choice:?}");
            assert_eq!(&chosen[0].nid, nid, "{side} of {choice:?}");
            for one in all {
                if let Some(why) = one.passed_over {
                    let kind = self.passed_over(&held, choice, &tries, (one, chosen[0]), why);
                    let kind = kind.unwrap_or_else(|| {
                        panic!("{why:?} of {one:?} in {choice:?} of {:?}", self.story)
                    });
                    self.count(kind);
                }
            }
        }
        for gateway in &choice.gateways {
            let holds = match gateway.passed_over {
                Some(PassedOver::RouteDown) => gateway.down,
                Some(PassedOver::NotNear) => self.given.contains_key(&choice.message),
                Some(PassedOver::NoPath) => false,
                Some(_) | None => true,
            };
            assert!(holds, "{gateway:?} of {choice:?}");
        }
        self.tries
            .entry(held)
            .or_default()
            .push((by.clone(), to.clone()));
    }

    /// The kind of a reason that holds; `None` if it does not.
    fn passed_over(
        &self,
        held: &Held,
        choice: &Choice,
        tries: &[(Nid, Nid)],
        (one, chosen): (&Candidate, &Candidate),
        why: PassedOver,
    ) -> Option<&'static str> {
        let Ok((by, to)) = &choice.path else {
            return None;
        };
        let is_own = chosen.nid == *by;
        let given = self.given.get(&choice.message);
        let is_ulp = choice.errand == Errand::Ulp;
        let many = self
            .lnet
            .node(&held.0)
            .and_then(|node| node.peer(to))
            .is_some_and(|peer| peer.multi_rail);
        let (holds, kind) = match why {
            PassedOver::SourceGiven => (is_own && (!is_ulp || given == Some(by)), "source given"),
            PassedOver::BothGiven => (
                !is_own && given == Some(by) && choice.destination == *to && by.net() == to.net(),
                "both given",
            ),
            PassedOver::OneSource => (is_own && !many, "one source"),
            PassedOver::Fixed => (!is_own && (!is_ulp || !many), "fixed"),
            PassedOver::OtherNet => (one.nid.net() != by.net(), "other net"),
            PassedOver::Fatal => (is_own && one.down, "fatal"),
            PassedOver::AllFatal => (is_own && one.down && chosen.down, "all fatal"),
            PassedOver::Used => {
                let used = tries.iter().any(|(by, to)| [by, to].contains(&&one.nid));
                (used && self.story.profile == LnetProfile::Hld, "used")
            }
            PassedOver::Loses(criterion) => {
                let mut lost = one.clone();
                if !self.counts_health() {
                    lost.health = chosen.health;
                }
                (fits(criterion, &lost, chosen), "loses")
            }
            PassedOver::NoPath | PassedOver::RouteDown | PassedOver::NotNear => (false, ""),
        };
        holds.then_some(kind)
    }

    fn no_path(&mut self, held: &Held, choice: &Choice, why: NoPath) {
        let is_hld = self.story.profile == LnetProfile::Hld;
        let given = self.given.get(&choice.message);
        let node = self.lnet.node(&held.0).expect("a node");
        let far = choice.destination.net();
        let is_down = |nid: &Nid| choice.local.iter().any(|ni| ni.nid == *nid && ni.down);
        let holds = match why {
            NoPath::UnknownPeer => node.peer(&choice.destination).is_none(),
            NoPath::NoRoute => {
                choice.gateways.is_empty() && node.routes().iter().all(|it| it.spec.net != *far)
            }
            NoPath::RoutesDown => {
                !choice.gateways.is_empty() && choice.gateways.iter().all(|it| it.down)
            }
            NoPath::NoRouteFromSource => given.is_some() || choice.errand != Errand::Ulp,
            NoPath::SourceFatal => {
                is_hld && (choice.errand != Errand::Ulp || given.is_some_and(is_down))
            }
            NoPath::AllFatal => {
                let nets: BTreeSet<&NetName> = choice.local.iter().map(|ni| ni.nid.net()).collect();
                let is_dark = |net: &NetName| {
                    let mut on_net = choice.local.iter().filter(|ni| ni.nid.net() == net);
                    on_net.all(|ni| ni.down)
                };
                is_hld && nets.into_iter().any(is_dark)
            }
            NoPath::PreferredUnusable => {
                is_hld
                    && choice
                        .local
                        .iter()
                        .any(|ni| ni.down || ni.health.value() == 0)
            }
            NoPath::PeerAtZero => is_hld && choice.attempt > 1,
            NoPath::NotOwn | NoPath::NoPeerNi => false,
        };
        assert!(holds, "{why:?} of {choice:?} in {:?}", self.story);
        for one in choice.local.iter().chain(&choice.remote) {
            assert_eq!(one.passed_over, Some(PassedOver::NoPath), "{choice:?}");
        }
        self.ended.insert(held.clone());
        self.count("no path");
    }

    fn no_resend(&mut self, entry: &TraceEntry, held: &Held, why: NoResend) {
        let node = self.lnet.node(&held.0).expect("a node");
        let tries = self.tries.get(held).map_or(&[][..], Vec::as_slice);
        let last = tries.last().expect("it was tried");
        let judged = self.judged.get(held).copied();
        let resend = judged.and_then(|(status, _)| status.resend());
        let holds = match why {
            NoResend::Deadline => self.deadlines.get(held).is_some_and(|at| entry.at > *at),
            NoResend::Status(status) => {
                judged == Some((status, false)) && status.resend().is_none()
            }
            NoResend::OneLocalNi => node.nis().len() == 1 && resend == Some(Resend::Local),
            NoResend::OnePeerNi => {
                let peer = node.peer(&last.1);
                let has_one = peer.is_none_or(|peer| peer.nis.len() == 1);
                has_one && resend == Some(Resend::Remote)
            }
            NoResend::RecoveryPing => {
                let errand = self.errands.get(held);
                matches!(errand, Some(Errand::RecoverLocal | Errand::RecoverPeer))
            }
            NoResend::RetriesUsed(count) => {
                count == self.story.retry_count && tries.len() == count as usize + 1
            }
            NoResend::Unanswered => false,
        };
        assert!(holds, "{entry:?} after {tries:?} of {:?}", self.story);
        if why == NoResend::Deadline {
            self.fails(entry.at, held);
        }
        self.unexplained.remove(held);
        self.ended.insert(held.clone());
        self.count(match why {
            NoResend::Deadline => "deadline",
            NoResend::Status(_) => "status",
            NoResend::OneLocalNi | NoResend::OnePeerNi => "one interface",
            NoResend::RecoveryPing => "recovery ping",
            NoResend::RetriesUsed(_) => "retries used",
            NoResend::Unanswered => "unanswered",
        });
    }
}

/// The source that an act gives, if it gives one; as [`Playing::act`] takes it.
fn given_source(playing: &Playing, act: &Act) -> Option<Nid> {
    let Act::Send {
        from,
        source: Some(at),
        ..
    } = act
    else {
        return None;
    };
    let name = &playing.names[from % playing.names.len()];
    let own: Vec<&Nid> = playing
        .nis
        .iter()
        .filter(|ni| ni.0 == *name)
        .map(|ni| &ni.1)
        .collect();
    Some(own[at % own.len()].clone())
}

/// Plays a story and compares every reason; adds how often each kind was met.
fn check(story: &Story, seen: &mut BTreeMap<&'static str, usize>) {
    let mut playing = story.begin();
    playing.lnet.record();
    let mut given = BTreeMap::new();
    let mut at = SimTime::ZERO;
    for (after_ms, act) in &story.acts {
        at += SimTime::from_ms(*after_ms);
        playing.lnet.advance(at);
        let source = given_source(&playing, act);
        for message in playing.act(story, act) {
            if let Some(source) = &source {
                given.insert(message, source.clone());
            }
        }
    }
    playing.lnet.advance(at + SimTime::from_secs(200));
    let mut told = Told {
        story,
        lnet: &playing.lnet,
        given: &given,
        tries: BTreeMap::new(),
        errands: BTreeMap::new(),
        deadlines: BTreeMap::new(),
        troubles: BTreeMap::new(),
        judged: BTreeMap::new(),
        failed: Vec::new(),
        unexplained: BTreeSet::new(),
        ended: BTreeSet::new(),
        seen: BTreeMap::new(),
    };
    for entry in playing.lnet.trace() {
        told.entry(entry);
    }
    assert_eq!(told.unexplained, BTreeSet::new(), "{story:?}");
    for (kind, times) in told.seen {
        *seen.entry(kind).or_default() += times;
    }
}

#[test]
fn every_reason_over_drawn_stories_is_what_was_recorded_before_it() {
    let mut runner = TestRunner::deterministic();
    let stories = story(With::NO_RELOADS);
    let mut seen = BTreeMap::new();
    let mut profiles = BTreeMap::new();
    for _ in 0..STORIES {
        let story = stories.new_tree(&mut runner).expect("a story").current();
        *profiles.entry(story.profile.to_string()).or_insert(0) += 1;
        check(&story, &mut seen);
    }
    assert!(profiles.len() == 3 && profiles.values().all(|times| *times >= 100));
    for kind in [
        "loses",
        "source given",
        "both given",
        "one source",
        "fixed",
        "other net",
        "fatal",
        "used",
        "closed",
        "status",
        "one interface",
        "recovery ping",
        "retries used",
    ] {
        assert!(
            seen.get(kind).is_some_and(|times| *times >= 10),
            "`{kind}` is rare in {seen:?}"
        );
    }
}

//! Every reason for which an interface was passed over, over drawn networks, is tried: an interface that lost a comparison
//! is chosen once it has the better values, and one that was not compared is not.

use std::collections::BTreeMap;

use lnet::{
    Candidate, Choice, Criterion, Errand, Lnet, LnetProfile, Nid, NoPath, Notice, PassedOver,
    PortEvent, Request, Side, Traced, Verb,
};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
    strategy::ValueTree,
    test_runner::TestRunner,
};

use crate::stage;

/// Number of reasons that are tried.
const REASONS: usize = 2_000;

/// A network and a request of A to B.
#[derive(Clone, Debug)]
struct Drawn {
    profile: LnetProfile,
    /// B is behind two routers.
    routed: bool,
    discovers: bool,
    /// For each interface of A: whether it is on the second net, its health, priority and fatal flag.
    own: Vec<(bool, u16, u32, bool)>,
    /// For each interface of the peer, or of the first router: the same without the flag.
    peers: Vec<(bool, u16, u32)>,
    source: Option<Index>,
    destination: Index,
    verb: Verb,
    /// Number of messages before the request.
    earlier: usize,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let health = || select(vec![1_u16, 500, 900, 1000, 1000]);
    let priority = || select(vec![0_u32, 0, 1]);
    let net = || prop::bool::weighted(0.2);
    (
        (
            select(LnetProfile::ALL.to_vec()),
            prop::bool::weighted(0.3),
            prop::bool::weighted(0.8),
        ),
        vec(
            (net(), health(), priority(), prop::bool::weighted(0.2)),
            1..=4,
        ),
        vec((net(), health(), priority()), 1..=4),
        prop::option::of(any::<Index>()),
        any::<Index>(),
        select(vec![Verb::Put, Verb::PutAck, Verb::Get]),
        0..4_usize,
    )
        .prop_map(
            |((profile, routed, discovers), own, peers, source, destination, verb, earlier)| {
                Drawn {
                    profile,
                    routed,
                    discovers,
                    own,
                    peers,
                    source,
                    destination,
                    verb,
                    earlier,
                }
            },
        )
}

fn net(second: bool) -> &'static str {
    if second { "o2ib1" } else { "o2ib" }
}

impl Drawn {
    /// The NIDs of a node whose interfaces are called by this letter.
    fn nids(letter: char, seconds: impl Iterator<Item = bool>) -> Vec<(String, &'static str)> {
        let named = |(at, second): (usize, bool)| (format!("{letter}{}", at + 1), net(second));
        seconds.enumerate().map(named).collect()
    }

    /// The network, and the request.
    fn build(&self) -> (Lnet, Request) {
        let own = Self::nids('a', self.own.iter().map(|ni| ni.0));
        let peers = self.peers.iter().map(|ni| ni.0);
        let theirs = Self::nids(if self.routed { 'r' } else { 'b' }, peers);
        let node = |name: &str, nis: &[(String, &str)]| {
            let nis: Vec<(&str, &str)> =
                nis.iter().map(|(nid, net)| (nid.as_str(), *net)).collect();
            stage::node(name, self.profile, &nis)
        };
        let mut specs = if self.routed {
            let mut specs = stage::specs("routed", self.profile);
            let route = specs[0].routes.remove(0);
            let mut first = theirs.clone();
            first.push(("r9".to_owned(), "tcp"));
            let second = [("s1".to_owned(), "o2ib"), ("s2".to_owned(), "tcp")];
            let mut routers = [node("R", &first), node("S", &second)];
            let mut a = node("A", &own);
            for (router, gateway) in routers.iter_mut().zip([&theirs[0], &second[0]]) {
                router.routing = true;
                if own.iter().any(|(_, net)| *net == gateway.1) {
                    let mut route = route.clone();
                    route.gateway = stage::nid(&gateway.0, gateway.1);
                    a.routes.push(route);
                }
            }
            let mut b = specs.remove(2);
            b.routes[0].gateway = stage::nid("s2", "tcp");
            let [r, s] = routers;
            vec![a, b, r, s]
        } else {
            vec![node("A", &own), node("B", &theirs)]
        };
        specs[1].discovery = self.discovers;
        let mut lnet = stage::lnet(specs);
        lnet.record();
        let a = stage::name("A");
        for ((nid, net), (_, health, priority, fatal)) in own.iter().zip(&self.own) {
            let nid = stage::nid(nid, net);
            lnet.set_health(&a, Side::Local, &nid, *health).unwrap();
            lnet.set_priority(&a, &nid, *priority).unwrap();
            if *fatal {
                let (port, event) = (port(&nid), PortEvent::Error);
                lnet.notify(Notice::Port { port, event }).unwrap();
            }
        }
        for ((nid, net), (_, health, priority)) in theirs.iter().zip(&self.peers) {
            let nid = stage::nid(nid, net);
            // A does not know what it cannot reach.
            if lnet.set_health(&a, Side::Peer, &nid, *health).is_ok() {
                lnet.set_priority(&a, &nid, *priority).unwrap();
            }
        }
        let (nid, net) = if self.routed {
            ("b1", "tcp")
        } else {
            let (nid, net) = self.destination.get(&theirs);
            (nid.as_str(), *net)
        };
        let source = self.source.map(|source| {
            let (nid, net) = source.get(&own);
            stage::nid(nid, net)
        });
        let request = Request {
            node: a,
            verb: self.verb,
            source,
            destination: stage::nid(nid, net),
            length: 4096,
            portal: 8,
        };
        for _ in 0..self.earlier {
            let earlier = Request {
                source: None,
                ..request.clone()
            };
            lnet.send(earlier).unwrap();
        }
        (lnet, request)
    }
}

/// The port of an interface of A.
fn port(nid: &Nid) -> platforms::PortRef {
    let text = nid.to_string();
    stage::port("A", text.split('@').next().unwrap_or_default())
}

/// The choice for the first attempt of a request, on a copy of the network.
fn choice(lnet: &Lnet, request: &Request) -> Choice {
    let mut lnet = lnet.clone();
    let id = lnet.send(request.clone()).unwrap();
    let choices = lnet.trace().iter().filter_map(|entry| match &entry.what {
        Traced::Choice(choice) => Some(choice),
        _ => None,
    });
    let mut of_it = choices.filter(|choice| choice.message == id);
    of_it.next().expect("a message is chosen for").clone()
}

/// The network in which `better` has the best values, and `worse` the worst that still count as healthy.
fn turned(lnet: &Lnet, side: Side, better: &Nid, worse: &Nid) -> Lnet {
    let (mut lnet, a) = (lnet.clone(), stage::name("A"));
    for (nid, health, priority) in [(better, 1000, 0), (worse, 1, 9)] {
        lnet.set_health(&a, side, nid, health).unwrap();
        lnet.set_priority(&a, nid, priority).unwrap();
    }
    if side == Side::Local {
        let (port, event) = (port(better), PortEvent::Active);
        lnet.notify(Notice::Port { port, event }).unwrap();
    }
    lnet
}

/// Whether the first comparison that `lost` loses against `chosen` can be this one, by the values on the page. Hops, bytes
/// in flight, and the device's priority and distance are not on it, and are equal here.
pub(crate) fn fits(criterion: Criterion, lost: &Candidate, chosen: &Candidate) -> bool {
    let health = lost.health.cmp(&chosen.health);
    let priority = chosen.priority.cmp(&lost.priority);
    let credits = lost.credits.cmp(&chosen.credits);
    let sequence = chosen.sequence.cmp(&lost.sequence);
    let order = [
        (Criterion::Health, health),
        (Criterion::Priority, priority),
        (Criterion::Credits, credits),
        (Criterion::Sequence, sequence),
    ];
    let first = order.into_iter().find(|(_, compared)| compared.is_ne());
    match first {
        Some((first, compared)) => first == criterion && compared.is_lt(),
        None => criterion == Criterion::Order,
    }
}

/// Tries why a request has no path; returns its kind.
fn try_out_no_path(lnet: &Lnet, request: &Request, why: NoPath) -> &'static str {
    let a = lnet.node(&request.node).unwrap();
    let far = request.destination.net();
    let routes: Vec<_> = a
        .routes()
        .iter()
        .filter(|route| route.spec.net == *far)
        .collect();
    // The request again, after all that may be in its way is mended.
    let with_sound_ports = || {
        let mut lnet = lnet.clone();
        for ni in a.nis() {
            let (port, event) = (port(ni.nid()), PortEvent::Active);
            lnet.notify(Notice::Port { port, event }).unwrap();
        }
        choice(&lnet, request).path
    };
    match why {
        NoPath::NoRoute => {
            assert!(
                a.nis().iter().all(|ni| ni.nid().net() != far),
                "{request:?}"
            );
            assert!(routes.is_empty(), "{request:?}");
            "no route"
        }
        NoPath::RoutesDown => {
            assert!(!routes.is_empty() && routes.iter().all(|route| !a.is_route_up(route)));
            "routes down"
        }
        NoPath::NoRouteFromSource => {
            let mut free = request.clone();
            assert!(free.source.take().is_some(), "{request:?}");
            let path = choice(lnet, &free).path;
            assert!(matches!(path, Ok(_) | Err(NoPath::AllFatal)), "{path:?}");
            "no route from the source"
        }
        NoPath::SourceFatal => {
            let fatal = request.source.as_ref().and_then(|source| a.ni(source));
            assert!(fatal.is_some_and(|ni| ni.fatal), "{request:?}");
            assert_ne!(with_sound_ports(), Err(why), "{request:?}");
            "fatal"
        }
        NoPath::AllFatal => {
            assert!(request.source.is_none(), "{request:?}");
            assert_ne!(with_sound_ports(), Err(why), "{request:?}");
            "fatal"
        }
        NoPath::UnknownPeer
        | NoPath::NoPeerNi
        | NoPath::NotOwn
        | NoPath::PreferredUnusable
        | NoPath::PeerAtZero => panic!("{why:?} of {request:?}"),
    }
}

/// Tries one reason; returns its kind.
fn try_out(
    (lnet, request): (&Lnet, &Request),
    choice_made: &Choice,
    side: Side,
    candidate: &Candidate,
    why: PassedOver,
) -> &'static str {
    let Ok((by, to)) = &choice_made.path else {
        assert_eq!(why, PassedOver::NoPath);
        return "no path";
    };
    let (chosen, all) = match side {
        Side::Local => (by, &choice_made.local),
        Side::Peer => (to, &choice_made.remote),
    };
    let again = || {
        let turned = turned(lnet, side, &candidate.nid, chosen);
        let (by, to) = choice(&turned, request).path.expect("there was a path");
        if side == Side::Local { by } else { to }
    };
    match why {
        PassedOver::Loses(criterion) => {
            let best = all.iter().find(|one| one.passed_over.is_none()).unwrap();
            let values = fits(criterion, candidate, best);
            assert!(values, "{criterion:?} of {choice_made:?}");
            assert_ne!(&again(), chosen, "{candidate:?} of {choice_made:?}");
            "loses"
        }
        PassedOver::Fatal => {
            assert!(candidate.down);
            assert_ne!(&again(), chosen, "{candidate:?} of {choice_made:?}");
            "fatal"
        }
        // Whatever its values are: once it is not fatal, it is taken.
        PassedOver::AllFatal => {
            let on_net = all.iter().filter(|one| one.nid.net() == chosen.net());
            assert!(on_net.clone().all(|one| one.down), "{choice_made:?}");
            let first = on_net.map(|one| &one.nid).next();
            assert_eq!((side, first), (Side::Local, Some(chosen)));
            assert_ne!(&again(), chosen, "{candidate:?} of {choice_made:?}");
            "all fatal"
        }
        PassedOver::SourceGiven => {
            assert_eq!((side, request.source.as_ref()), (Side::Local, Some(by)));
            assert_eq!(&again(), chosen, "{candidate:?} of {choice_made:?}");
            "source given"
        }
        PassedOver::BothGiven => {
            assert_eq!((side, &request.destination), (Side::Peer, to));
            assert_eq!(&again(), chosen, "{candidate:?} of {choice_made:?}");
            "both given"
        }
        PassedOver::OneSource => {
            assert_eq!(&again(), chosen, "{candidate:?} of {choice_made:?}");
            "one source"
        }
        PassedOver::OtherNet => {
            assert_ne!(candidate.nid.net(), by.net());
            "other net"
        }
        PassedOver::Fixed => {
            assert_ne!(choice_made.errand, Errand::Ulp, "{choice_made:?}");
            "fixed"
        }
        PassedOver::NoPath | PassedOver::Used | PassedOver::RouteDown | PassedOver::NotNear => {
            panic!("{why:?} of {candidate:?} in {choice_made:?}")
        }
    }
}

#[test]
fn every_reason_is_what_the_choice_went_by() {
    let mut runner = TestRunner::deterministic();
    let drawn = drawn();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut no_paths: BTreeMap<&str, usize> = BTreeMap::new();
    while seen.values().sum::<usize>() < REASONS {
        let drawn = drawn.new_tree(&mut runner).expect("a network").current();
        let (lnet, request) = drawn.build();
        let made = choice(&lnet, &request);
        if let Err(why) = made.path {
            let kind = try_out_no_path(&lnet, &request, why);
            *no_paths.entry(kind).or_default() += 1;
        }
        for (side, all) in [(Side::Local, &made.local), (Side::Peer, &made.remote)] {
            for candidate in all {
                if let Some(why) = candidate.passed_over {
                    let kind = try_out((&lnet, &request), &made, side, candidate, why);
                    *seen.entry(kind).or_default() += 1;
                }
            }
        }
        for gateway in &made.gateways {
            match gateway.passed_over {
                Some(PassedOver::RouteDown) => assert!(gateway.down, "{made:?}"),
                Some(PassedOver::NotNear) => assert!(request.source.is_some(), "{made:?}"),
                Some(PassedOver::NoPath) => assert!(made.path.is_err(), "{made:?}"),
                _ => {}
            }
        }
    }
    for kind in [
        "loses",
        "fatal",
        "source given",
        "both given",
        "one source",
        "other net",
    ] {
        assert!(
            seen.get(kind).is_some_and(|times| *times >= 20),
            "`{kind}` is rare in {seen:?}"
        );
    }
    for kind in ["no route", "fatal"] {
        assert!(
            no_paths.get(kind).is_some_and(|times| *times >= 5),
            "`{kind}` is rare in {no_paths:?}"
        );
    }
}

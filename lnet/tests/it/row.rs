//! Parses and plays `cases.yaml`, and answers its questions.
//!
//! A row is a profile, a world and steps; a step is one action, or an `expect` with questions and
//! answers. An answer is a text, or two numbers with `..` between them, inclusive.

use std::collections::{BTreeMap, BTreeSet};

use lnet::{
    Errand, FaultEffect, FaultRule, Lnet, MessageKind, Nid, Notice, Pace, Param, PortEvent,
    Request, Side, UlpResult, Verb, What, WorkloadEvent,
};
use platforms::PortRef;
use serde::Deserialize;
use simfs::SimTime;

use crate::stage;

/// A row of the file.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) case: String,
    /// Its description.
    pub(crate) shows: String,
    profile: String,
    world: String,
    /// Nodes that do not discover.
    #[serde(default)]
    quiet: BTreeSet<String>,
    /// Number of credits of interfaces that differ from the default.
    #[serde(default)]
    credits: BTreeMap<String, u32>,
    pub(crate) steps: Vec<Step>,
}

/// A step: exactly one of these.
#[derive(Clone, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Step {
    set: Option<SetStep>,
    health: Option<NumberStep>,
    priority: Option<NumberStep>,
    rule: Option<RuleStep>,
    clear_rules: Option<String>,
    port: Option<PortStep>,
    unload: Option<String>,
    load: Option<String>,
    send: Option<SendStep>,
    /// Advances this many milliseconds.
    wait_ms: Option<u64>,
    /// Restarts the counts of sends and answers.
    mark: Option<bool>,
    pub(crate) expect: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetStep {
    node: String,
    param: String,
    value: i64,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberStep {
    node: String,
    nid: String,
    value: u32,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleStep {
    node: String,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    destination: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    /// Applies to one of this many matching messages; to every one by default.
    #[serde(default)]
    one_in: Option<u32>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    delay_s: Option<u64>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PortStep {
    nid: String,
    event: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct SendStep {
    from: String,
    verb: String,
    to: String,
    #[serde(default)]
    source: Option<String>,
    #[serde(default = "one")]
    count: u32,
}

fn one() -> u32 {
    1
}

const CASES: &str = include_str!("cases.yaml");

/// Every row of the file.
pub(crate) fn rows() -> Vec<Row> {
    read(CASES)
}

/// One row of the file, parsed alone: parsing all takes longer than playing one.
pub(crate) fn row(case: &str) -> Row {
    let start = CASES.find(&format!("- case: {case}\n"));
    let rest = &CASES[start.unwrap_or_else(|| panic!("no row `{case}`"))..];
    let end = rest.find("\n\n- case: ").unwrap_or(rest.len());
    read(&rest[..end]).remove(0)
}

fn read(text: &str) -> Vec<Row> {
    files::yaml::read("cases.yaml", text).unwrap_or_else(|error| panic!("{error}"))
}

/// The questions of a row with another answer than expected.
pub(crate) fn play(row: &Row) -> Vec<String> {
    let mut scene = Scene::new(row);
    let mut wrong = Vec::new();
    for step in &row.steps {
        let Some(expect) = &step.expect else {
            scene.act(step);
            continue;
        };
        for (question, expected) in expect {
            let answer = scene.answer(question);
            if !agrees(expected, &answer) {
                let at = scene.lnet.now();
                wrong.push(format!(
                    "at {at}: {question}: expected {expected}, found {answer}"
                ));
            }
        }
    }
    wrong
}

/// An answer that cannot be right if `expected` is.
pub(crate) fn altered(expected: &str) -> String {
    if let Some((_, most)) = bounds(expected) {
        return format!("{}..{}", most + 1, most + 9);
    }
    match expected.parse::<i64>() {
        Ok(number) => (number + 1).to_string(),
        Err(_) => format!("{expected} not"),
    }
}

fn bounds(expected: &str) -> Option<(i64, i64)> {
    let (least, most) = expected.split_once("..")?;
    Some((least.parse().ok()?, most.parse().ok()?))
}

fn agrees(expected: &str, answer: &str) -> bool {
    match (bounds(expected), answer.parse::<i64>()) {
        (Some((least, most)), Ok(number)) => (least..=most).contains(&number),
        _ => expected == answer,
    }
}

struct Scene {
    lnet: Lnet,
    /// Interfaces by their short names: node, name, port.
    known: BTreeMap<String, (String, Nid, PortRef)>,
    all: Vec<WorkloadEvent>,
    mark: usize,
    refusal: String,
}

impl Scene {
    fn new(row: &Row) -> Self {
        let profile = row.profile.parse().unwrap();
        let mut specs = stage::specs(&row.world, profile);
        let mut known = BTreeMap::new();
        for spec in &mut specs {
            spec.discovery = !row.quiet.iter().any(|quiet| quiet == spec.name.as_str());
            for ni in &mut spec.nis {
                let text = ni.nid.to_string();
                let short = text.split('@').next().unwrap().to_owned();
                ni.credits = row.credits.get(&short).copied().unwrap_or(ni.credits);
                known.insert(
                    short,
                    (
                        spec.name.as_str().to_owned(),
                        ni.nid.clone(),
                        ni.port.clone(),
                    ),
                );
            }
        }
        let lnet = stage::lnet(specs);
        Self {
            lnet,
            known,
            all: Vec::new(),
            mark: 0,
            refusal: "none".to_owned(),
        }
    }

    fn ni(&self, short: &str) -> &(String, Nid, PortRef) {
        self.known
            .get(short)
            .unwrap_or_else(|| panic!("no interface `{short}`"))
    }

    fn act(&mut self, step: &Step) {
        let mut effects = 0;
        if let Some(step) = &step.set {
            effects += 1;
            let param: Param = step.param.parse().unwrap();
            self.refusal = match self.lnet.set(&stage::name(&step.node), param, step.value) {
                Ok(()) => "none".to_owned(),
                Err(error) => error
                    .to_string()
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            };
        }
        if let Some(step) = &step.health {
            effects += 1;
            let (owner, nid, _) = self.ni(&step.nid).clone();
            let side = if owner == step.node {
                Side::Local
            } else {
                Side::Peer
            };
            let value = u16::try_from(step.value).unwrap();
            self.lnet
                .set_health(&stage::name(&step.node), side, &nid, value)
                .unwrap();
        }
        if let Some(step) = &step.priority {
            effects += 1;
            let (_, nid, _) = self.ni(&step.nid).clone();
            self.lnet
                .set_priority(&stage::name(&step.node), &nid, step.value)
                .unwrap();
        }
        if let Some(step) = &step.rule {
            effects += 1;
            let spec = self.rule(step);
            self.lnet.add_rule(&stage::name(&step.node), spec).unwrap();
        }
        if let Some(node) = &step.clear_rules {
            effects += 1;
            self.lnet.clear_rules(&stage::name(node)).unwrap();
        }
        if let Some(step) = &step.port {
            effects += 1;
            let event = match step.event.as_str() {
                "active" => PortEvent::Active,
                "error" => PortEvent::Error,
                "lost" => PortEvent::Lost,
                "gone" => PortEvent::Gone,
                other => panic!("`{other}` is no event of a port"),
            };
            let (_, _, port) = self.ni(&step.nid).clone();
            self.lnet.notify(Notice::Port { port, event }).unwrap();
        }
        for (node, loaded) in [(&step.unload, false), (&step.load, true)] {
            if let Some(node) = node {
                effects += 1;
                self.lnet
                    .notify(Notice::Node {
                        node: stage::name(node),
                        loaded,
                    })
                    .unwrap();
            }
        }
        if let Some(step) = &step.send {
            effects += 1;
            for _ in 0..step.count {
                let request = self.request(step);
                self.lnet.send(request).unwrap();
            }
        }
        if let Some(ms) = step.wait_ms {
            effects += 1;
            let to = self.lnet.now() + SimTime::from_ms(ms);
            let happened = self.lnet.advance(to);
            self.all.extend(happened);
        }
        if step.mark == Some(true) {
            effects += 1;
            let now = self.lnet.now();
            let happened = self.lnet.advance(now);
            self.all.extend(happened);
            self.mark = self.all.len();
        }
        assert_eq!(effects, 1, "a step does one thing");
    }

    fn rule(&self, step: &RuleStep) -> FaultRule {
        let pattern = |short: &Option<String>| match short.as_deref() {
            None => "*".parse().unwrap(),
            Some(short) => lnet::NidPattern::One(self.ni(short).1.clone()),
        };
        let kinds = MessageKind::ALL
            .into_iter()
            .filter(|kind| step.kind.as_deref() == Some(kind.name()));
        let kinds: BTreeSet<MessageKind> = kinds.collect();
        assert_eq!(kinds.is_empty(), step.kind.is_none(), "a kind of message");
        let effect = match (&step.status, step.delay_s) {
            (Some(status), None) => FaultEffect::Simulate(vec![status.parse().unwrap()]),
            (None, Some(delay_s)) => FaultEffect::Delay(SimTime::from_secs(delay_s)),
            (None, None) => FaultEffect::Drop,
            (Some(_), Some(_)) => panic!("a rule does one thing"),
        };
        FaultRule {
            source: pattern(&step.source),
            destination: pattern(&step.destination),
            kinds,
            portal: None,
            via: None,
            pace: step.one_in.map_or(Pace::Every, Pace::OneIn),
            effect,
        }
    }

    fn request(&self, step: &SendStep) -> Request {
        Request {
            node: stage::name(&step.from),
            verb: match step.verb.as_str() {
                "put" => Verb::Put,
                "put+ack" => Verb::PutAck,
                "get" => Verb::Get,
                other => panic!("`{other}` cannot be sent"),
            },
            source: step.source.as_ref().map(|short| self.ni(short).1.clone()),
            destination: self.ni(&step.to).1.clone(),
            length: 4096,
            portal: 12,
        }
    }

    /// Answers a question of the cases.
    fn answer(&self, question: &str) -> String {
        let words: Vec<&str> = question.split(' ').collect();
        let node = |name: &str| self.lnet.node(&stage::name(name)).unwrap();
        let local = |short: &str| {
            let (owner, nid, _) = self.ni(short);
            node(owner).ni(nid).unwrap()
        };
        let seen = |short: &str, by: &str| node(by).peer_ni(&self.ni(short).1).unwrap();
        let names = |nids: &[Nid]| {
            let short = |nid: &Nid| nid.to_string().split('@').next().unwrap().to_owned();
            let all: Vec<String> = nids.iter().map(short).collect();
            if all.is_empty() {
                "empty".to_owned()
            } else {
                all.join(" ")
            }
        };
        let up = |up: bool| if up { "up" } else { "down" }.to_owned();
        match words.as_slice() {
            ["health", a] => local(a).health.to_string(),
            ["health", b, "by", n] => seen(b, n).health.to_string(),
            ["sum", a, b] => (local(a).health.value() + local(b).health.value()).to_string(),
            ["sum", a, b, "by", n] => {
                (seen(a, n).health.value() + seen(b, n).health.value()).to_string()
            }
            ["values", a] => self.values(&self.ni(a).0, a),
            ["values", b, "by", n] => self.values(n, b),
            ["fatal", a] => u8::from(local(a).fatal).to_string(),
            ["status", a] => up(node(&self.ni(a).0).is_up(local(a))),
            ["ping_count", a] => local(a).recovery.ping_count.to_string(),
            ["ping_count", b, "by", n] => seen(b, n).recovery.ping_count.to_string(),
            ["pings", a] => self.pings(&self.ni(a).0, a),
            ["pings", b, "by", n] => self.pings(n, b),
            ["number", "of", "pings", a] => {
                self.pings(&self.ni(a).0, a).split(' ').count().to_string()
            }
            ["number", "of", "pings", b, "by", n] => {
                self.pings(n, b).split(' ').count().to_string()
            }
            ["queue", n] => names(node(n).local_queue()),
            ["peer", "queue", n] => names(node(n).peer_queue()),
            ["stat", what, n] => {
                let rows = node(n).statistics().rows();
                let row = rows.iter().find(|(name, _)| name == what);
                row.unwrap_or_else(|| panic!("no counter `{what}`"))
                    .1
                    .to_string()
            }
            ["all", "stats", n] => node(n)
                .statistics()
                .rows()
                .iter()
                .map(|(_, count)| count)
                .sum::<u64>()
                .to_string(),
            ["sends", a] => self.sends(|by, _| by == &self.ni(a).1),
            ["sends", "to", b] => self.sends(|_, to| to == &self.ni(b).1),
            ["told", what] => {
                let rendered = self.marked().filter(|entry| match &entry.what {
                    What::Told {
                        result, last: true, ..
                    } => match result {
                        UlpResult::Ok => *what == "ok",
                        UlpResult::Failed(_) => *what == "failed",
                        UlpResult::TimedOut => *what == "timed-out",
                        UlpResult::Shutdown => *what == "shutdown",
                    },
                    _ => false,
                });
                rendered.count().to_string()
            }
            ["arrived", n] => {
                let here = self.marked().filter(|entry| entry.node.as_str() == *n);
                here.filter(|entry| matches!(entry.what, What::Arrived { .. }))
                    .count()
                    .to_string()
            }
            ["net", "health", b, "by", n] => {
                let nid = &self.ni(b).1;
                node(n)
                    .peer(nid)
                    .unwrap()
                    .net_health(nid.net())
                    .unwrap()
                    .to_string()
            }
            ["param", name, n] => node(n).params().get(name.parse().unwrap()).to_string(),
            ["refusal"] => self.refusal.clone(),
            ["lnd_timeout_s", n] => (node(n).params().lnd_timeout().as_ms() / 1000).to_string(),
            ["route", net, n] => {
                let net = net.parse().unwrap();
                let route = node(n).routes().iter().find(|route| route.spec.net == net);
                up(node(n).is_route_up(route.unwrap()))
            }
            _ => panic!("`{question}` is no question"),
        }
    }

    fn marked(&self) -> impl Iterator<Item = &WorkloadEvent> {
        self.all[self.mark..].iter()
    }

    fn sends(&self, fits: impl Fn(&Nid, &Nid) -> bool) -> String {
        let sends = self.marked().filter(|entry| match &entry.what {
            What::Sent {
                errand: Errand::Ulp,
                by,
                to,
                ..
            } => fits(by, to),
            _ => false,
        });
        sends.count().to_string()
    }

    fn pings(&self, node: &str, short: &str) -> String {
        let nid = &self.ni(short).1;
        let times = self.marked().filter_map(|entry| match &entry.what {
            What::Sent {
                errand: Errand::RecoverLocal | Errand::RecoverPeer,
                to,
                ..
            } if to == nid && entry.node.as_str() == node => {
                Some((entry.at.as_ms() / 1000).to_string())
            }
            _ => None,
        });
        times.collect::<Vec<_>>().join(" ")
    }

    fn values(&self, node: &str, short: &str) -> String {
        let nid = &self.ni(short).1;
        let values = self.marked().filter_map(|entry| match &entry.what {
            What::Health { ni, after, .. } if ni == nid && entry.node.as_str() == node => {
                Some(after.to_string())
            }
            _ => None,
        });
        values.collect::<Vec<_>>().join(" ")
    }
}

//! The observations of a played row, by name.

use mpib::{
    Bytes, ConnectionId, Hazard, Isend, PathClass, PostKind, Rail, Side, Speaker, Stall, Transport,
};
use serde_json::{Value, json};
use workloads::WorkloadOutcome;

use super::stage::{Stage, mask, rail_named};

impl Stage {
    /// The observation `name`, for comparison with `expected`, which also selects the entries of a
    /// map.
    pub(crate) fn observe(&self, name: &str, expected: &Value) -> Value {
        match name {
            "same_at" => json!(self.same_at),
            "island_prefix" => json!(self.island_prefix()),
            "starts" => self.by_key(expected, |host| match &self.starts[host] {
                Ok(()) => json!("ncclSuccess"),
                Err(refusal) => json!(format!("{}: {}", refusal.result(), without_hint(refusal))),
            }),
            "logs" => json!(self.logs()),
            "log_lines" => json!(self.net().logs().len()),
            "warnings" => self.by_key(expected, |host| json!(self.warnings(host))),
            "paths" => json!(self.paths()),
            "edges_on" => self.by_key(expected, |rail| {
                json!(self.paths().iter().filter(|path| **path == rail).count())
            }),
            "connected" => json!(self.connections.iter().filter(|made| made.is_ok()).count()),
            "refused_connections" => {
                let refused = self.connections.iter().filter_map(|made| made.err());
                json!(
                    refused
                        .map(|error| without_hint(&error))
                        .collect::<Vec<_>>()
                )
            }
            "slots" => self.by_key(expected, |host| {
                json!(self.net().host(self.host(host)).agent.slots())
            }),
            "slot_users" => self.by_key(expected, |flow| {
                let (from, to) = flow.split_once(" to ").expect("`vm1 to vm2`");
                let (host, source, destination) = self.flow(from, to);
                json!(self.net().host(host).agent.users(source, destination))
            }),
            "calls" => json!(self.calls.iter().map(rendered).collect::<Vec<_>>()),
            "masks" => {
                let masks = self.calls.iter().filter_map(mask);
                json!(masks.map(|mask| mask.bits()).collect::<Vec<_>>())
            }
            "data_on" => self.by_key(expected, |rail| json!(self.posted(PostKind::Data, rail))),
            "clear_to_send_on" => self.by_key(expected, |rail| {
                json!(self.posted(PostKind::ClearToSend, rail))
            }),
            "posts" => json!(self.net().posts().len()),
            "hint_reads" => self.by_key(expected, |host| {
                json!(self.net().hint_reads(self.host(host)))
            }),
            "nics" => self.by_key(expected, |nic| {
                let (host, rail) = nic.split_once(' ').expect("`vm1 SUP`");
                let nic = self.net().nic(self.host(host), rail_named(rail));
                json!([nic.sent.get(), nic.received.get()])
            }),
            "tests" => json!(self.tests),
            "hazards" => json!(self.hazards()),
            _ => self.observe_job(name, expected),
        }
    }

    fn observe_job(&self, name: &str, expected: &Value) -> Value {
        let job = self.job_played();
        match name {
            "fate" => json!(match job.outcome() {
                WorkloadOutcome::Survived => "survived",
                WorkloadOutcome::Degraded => "degraded",
                WorkloadOutcome::Failed => "failed",
            }),
            "transport" => json!(match job.transport() {
                Transport::Mpib => "mpib",
                Transport::Internal => "internal",
            }),
            "result" => json!(job.result().map(|result| result.to_string())),
            "refusals" => {
                let refusals = job.refusals().iter();
                json!(
                    refusals
                        .map(|(_, refusal)| without_hint(refusal))
                        .collect::<Vec<_>>()
                )
            }
            "messages" => {
                json!(
                    job.edges()
                        .map(|(_, _, messages)| messages)
                        .collect::<Vec<_>>()
                )
            }
            "stalls" => json!(
                job.stalls()
                    .map(|stall| self.stall(&stall))
                    .collect::<Vec<_>>()
            ),
            "failed_at_ms" => json!(job.failure().map(|failure| failure.at.as_ms())),
            "failed_with" => {
                json!(job.failure().map(|failure| without_hint(&failure.cause)))
            }
            "failed_ranks" => {
                let ranks = job.failed_ranks().into_iter();
                json!(ranks.map(|rank| self.name(rank)).collect::<Vec<_>>())
            }
            other => panic!("no observation `{other}` (expected {expected})"),
        }
    }

    fn by_key(&self, expected: &Value, observe: impl Fn(&str) -> Value) -> Value {
        let asked = expected.as_object().expect("a map says what is asked for");
        asked
            .keys()
            .map(|key| (key.clone(), observe(key)))
            .collect()
    }

    fn name(&self, host: mpib::HostId) -> String {
        self.net().host(host).name.to_string()
    }

    fn island_prefix(&self) -> u8 {
        let environment = &self.net().host(self.host("vm1")).environment;
        let parameters = mpib::Parameters::read(environment);
        parameters.expect("nothing is missing").island_prefix.bits()
    }

    /// The log lines about connections, each with its host and end.
    fn logs(&self) -> Vec<String> {
        let about = self
            .net()
            .logs()
            .iter()
            .filter(|line| line.speaker != Speaker::Init);
        let rendered = about.map(|line| {
            let end = match line.speaker {
                Speaker::Accept => "accept",
                _ => "connect",
            };
            format!("{} {end}: {}", self.name(line.host), line.text)
        });
        rendered.collect()
    }

    fn warnings(&self, host: &str) -> usize {
        let host = self.host(host);
        let warned = self.net().logs().iter().filter(|line| line.host == host);
        warned
            .filter(|line| line.text.contains("is not IPv4-mapped"))
            .count()
    }

    fn made(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.connections.iter().filter_map(|made| made.ok())
    }

    fn paths(&self) -> Vec<&'static str> {
        let class = |connection| self.net().path(connection, Side::Send).class();
        let path = |connection| match class(connection) {
            Some(PathClass::Intra) => "SUP",
            Some(PathClass::Inter) => "SOUT",
            None => "unclassified",
        };
        self.made().map(path).collect()
    }

    fn posted(&self, kind: PostKind, rail: &str) -> u64 {
        let rail: Rail = rail_named(rail);
        let posts = self.net().posts().iter();
        let bytes = posts
            .filter(|post| post.kind == kind && post.rail == rail)
            .map(|post| post.bytes);
        bytes.sum::<Bytes>().get()
    }

    fn hazards(&self) -> Vec<String> {
        let rendered = self.net().hazards().iter().map(|hazard| match hazard {
            Hazard::NothingPosted { rail, .. } => format!("nothing posted on {rail}"),
            Hazard::NoRoute { rail, .. } => format!("no route on {rail}"),
            Hazard::SpinsOnHint { .. } => "spins on a hint".to_owned(),
        });
        rendered.collect()
    }

    fn stall(&self, stall: &Stall) -> Value {
        let edge = format!(
            "{} to {}",
            self.name(stall.edge.from),
            self.name(stall.edge.to)
        );
        json!({
            "edge": edge,
            "from_ms": stall.from.as_ms(),
            "length_ms": stall.to.map(|to| to.since(stall.from).as_ms()),
        })
    }
}

/// The first line of an error, without its hint.
fn without_hint(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

fn rendered(called: &Isend) -> &'static str {
    match called {
        Isend::Request(..) => "request",
        Isend::CallAgain => "call again",
        Isend::Spins => "spins",
    }
}

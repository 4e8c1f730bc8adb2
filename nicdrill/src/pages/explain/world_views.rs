//! What a story's world showed: at each poll both ends of the links, LNet and the workloads, and the logs that its
//! kernels, fabric manager and jobs wrote. Start at [`views`].

use std::collections::BTreeMap;

use director::{Director, FreezeError, watch};
use fabric::{Fabric, Side};
use platforms::{PhysState, PortState};
use scenarios::{Plan, Story};
use simfs::SimTime;

use super::{View, at};
use crate::pages::{
    link::{END_TITLES, NamedLink, end_cells, grown_errors, host_port, links_of},
    mpib::timeline,
};

/// What changed from poll to poll, by who shows it.
#[derive(Default)]
struct Changes {
    shown: BTreeMap<String, String>,
    lines: Vec<String>,
}

impl Changes {
    /// Takes what is shown now; the first time it is remembered and not told.
    fn take(&mut self, now: SimTime, who: &str, text: String) {
        let before = self.shown.insert(who.to_owned(), text.clone());
        if before.is_some_and(|before| before != text) {
            self.lines.push(at(now, format!("{who}: {text}")));
        }
    }

    /// As [`Changes::take`], and the first time it is told if it is not this.
    fn take_unless(&mut self, now: SimTime, who: &str, text: String, usual: &str) {
        if !self.shown.contains_key(who) {
            self.shown.insert(who.to_owned(), usual.to_owned());
        }
        self.take(now, who, text);
    }
}

/// The views of the host, the links, the kernels, the fabric manager, LNet and MPIB.
///
/// # Errors
/// [`FreezeError`] if the world cannot be played.
pub(super) fn views(story: &Story) -> Result<Vec<View>, FreezeError> {
    let (mut hosts, mut links, mut lnet) =
        (Changes::default(), Changes::default(), Changes::default());
    let director = watch(story, |director| {
        let fabric = director.fabric();
        for link in links_of(story, fabric) {
            host(&mut hosts, fabric, &link);
            ends(&mut links, fabric, &link);
        }
        interfaces(&mut lnet, story, director);
    })?;
    let fabric = director.fabric();
    hosts.lines.extend(counted(story, fabric));
    let has = |storage: bool| {
        let plans = story.workloads.values();
        plans
            .into_iter()
            .any(|plan| matches!(plan, Plan::Storage(_)) == storage)
    };
    Ok(vec![
        View {
            name: "host: what sysfs shows of its ports",
            lines: Some(hosts.lines),
        },
        View {
            name: "link: what both ends remember",
            lines: Some(links.lines),
        },
        View {
            name: "kernel log",
            lines: Some(kernels(story, fabric)),
        },
        View {
            name: "fabric manager's log",
            lines: Some(manager(story, fabric)),
        },
        View {
            name: "LNet: interfaces and storage",
            lines: has(true).then_some(lnet.lines),
        },
        View {
            name: "MPIB: queue pairs and the job",
            lines: has(false).then(|| jobs(story, &director)),
        },
    ])
}

/// What the host's kernel shows of a port.
fn host(changes: &mut Changes, fabric: &Fabric, link: &NamedLink) {
    let slot = &link.slot;
    let machine = fabric.machine(&slot.node);
    let rdma = machine
        .and_then(|machine| machine.functions.get(&slot.pci))
        .and_then(|function| function.rdma.as_ref());
    let text = match (machine, rdma) {
        (None, _) => "the host is off".to_owned(),
        (_, None) => "no such device".to_owned(),
        (_, Some(rdma)) => match rdma.ports.get(&slot.port) {
            None => "no such port".to_owned(),
            Some(port) => format!("{}, {}", port.state, port.phys_state),
        },
    };
    let usual = format!("{}, {}", PortState::ACTIVE, PhysState::LINK_UP);
    changes.take_unless(fabric.now(), &link.here, text, &usual);
}

/// What both ends of a link show to the tools.
fn ends(changes: &mut Changes, fabric: &Fabric, link: &NamedLink) {
    for (side, name) in [(Side::Here, &link.here), (Side::There, &link.there)] {
        let cells = end_cells(fabric, &link.slot, side);
        let is_active = cells[0].starts_with("Active");
        let text = match &cells[..] {
            [state, physical, reasons @ ..] => {
                let reasons = END_TITLES[2..].iter().zip(reasons);
                let reasons = reasons.filter(|(_, reason)| *reason != "None");
                let reasons: Vec<String> = reasons
                    .map(|(title, reason)| format!(", {title} {reason}"))
                    .collect();
                format!("{state}, {physical}{}", reasons.concat())
            }
            _ => cells.concat(),
        };
        let usual = if is_active {
            text.clone()
        } else {
            String::new()
        };
        changes.take_unless(fabric.now(), name, text, &usual);
    }
}

/// The counters of errors that have grown, at the end.
fn counted(story: &Story, fabric: &Fabric) -> Vec<String> {
    let links = links_of(story, fabric);
    let grown = links.iter().filter_map(|link| {
        let grown = grown_errors(fabric, &link.slot)?;
        let text = format!("{}: counters grew: {}", link.here, grown.join(", "));
        (!grown.is_empty()).then(|| at(fabric.now(), text))
    });
    grown.collect()
}

/// The kernel logs, each line after its node.
fn kernels(story: &Story, fabric: &Fabric) -> Vec<String> {
    let nodes = story.nodes.iter().map(|(node, _)| node);
    let lines = nodes.flat_map(|node| {
        let log = fabric.kernel_log(node).iter();
        log.map(move |line| (line.at, format!("{node}: {}", line.text)))
    });
    let mut lines: Vec<(SimTime, String)> = lines.collect();
    lines.sort_by_key(|(time, _)| *time);
    lines.iter().map(|(time, text)| at(time, text)).collect()
}

/// What the fabric manager wrote.
fn manager(story: &Story, fabric: &Fabric) -> Vec<String> {
    let notices = fabric.notices().iter();
    notices
        .map(|notice| {
            let port = host_port(fabric, &notice.slot, story.nodes.len() > 1);
            let text = format!("{port}: {}; {}", notice.condition.text(), notice.detail());
            at(notice.at, text)
        })
        .collect()
}

/// The interfaces of storage in the view of each node, and how the workload fares.
fn interfaces(changes: &mut Changes, story: &Story, director: &Director<'_>) {
    let now = director.fabric().now();
    for (name, _) in story
        .workloads
        .iter()
        .filter(|(_, plan)| matches!(plan, Plan::Storage(_)))
    {
        let Some(net) = director.workloads().lnet(name) else {
            continue;
        };
        for node in net.nodes() {
            let on = node.name();
            for ni in node.nis() {
                let status = if node.is_up(ni) { "up" } else { "down" };
                let fatal = if ni.fatal { ", fatal" } else { "" };
                let text = format!("{status}{fatal}, health {}", ni.health);
                changes.take(now, &format!("{on}: NI {}", ni.nid()), text);
            }
            for ni in node.peers().flat_map(|peer| &peer.nis) {
                let text = format!("health {}", ni.health);
                changes.take(now, &format!("{on}: peer NI {}", ni.nid), text);
            }
        }
        outcome(changes, director, name);
    }
}

/// How a workload fares.
fn outcome(changes: &mut Changes, director: &Director<'_>, name: &str) {
    if let Some(stats) = director.workloads().stats(name) {
        let cause = stats
            .cause
            .map_or_else(String::new, |cause| format!(": {cause}"));
        let text = format!("{}{cause}", stats.outcome);
        changes.take(director.fabric().now(), &format!("workload {name}"), text);
    }
}

/// What the plugins logged and what became of queue pairs, then each job's end.
fn jobs(story: &Story, director: &Director<'_>) -> Vec<String> {
    let names = story.workloads.keys();
    let jobs = names.filter_map(|name| Some((name, director.workloads().job(name)?)));
    jobs.flat_map(|(name, job)| {
        let signs = timeline::signs(job).into_iter();
        let signs = signs.map(|(time, text)| at(time, format!("{name}: {text}")));
        let verdict = timeline::verdict(job);
        let verdict = verdict
            .lines()
            .map(|line| format!("{:>9}  {name}: {line}", ""));
        signs.chain(verdict.collect::<Vec<_>>()).collect::<Vec<_>>()
    })
    .collect()
}

//! Reads counters: one read per file and poll, in one batch.
//!
//! A counter that the hardware does not have is missing, not unreadable: this is logged once, and
//! its path does not count as a failed read. Interface counters are read from the first interface
//! in `device/net/`, for the first Ethernet port of a device.

use std::sync::Arc;

use terms::{Check, CheckKind, LinkLayer};

use super::batch::Batch;
use super::interfaces::interfaces;
use super::{Discovery, Learnt};
use crate::counters::Watched;
use crate::counters::target::{Shape, Target};
use crate::hands::{Answer, Hands, ReadError, Request};
use crate::memory::Memory;
use crate::name::{DeviceName, PortNumber};
use crate::snapshot::{Cause, SeenCounts, SeenPorts, SeenScope, Snapshot, Unread};

/// The watched counters, prepared for reading.
#[derive(Debug, Clone)]
pub(crate) struct Shapes {
    pub(crate) watched: Vec<Watched>,
    /// The checks whose ports are read.
    checks: Vec<Check>,
    port: Arc<Shape>,
    with_net: Arc<Shape>,
    /// At least one watched counter belongs to the net device.
    wants_net: bool,
}

impl Shapes {
    /// For these counters and checks.
    pub(crate) fn new(watched: Vec<Watched>, checks: &[Check]) -> Shapes {
        let counted = |check: &Check| check.kind() == CheckKind::Degradation;
        Shapes {
            checks: checks.iter().copied().filter(counted).collect(),
            port: Arc::new(Shape::of(&watched, false)),
            with_net: Arc::new(Shape::of(&watched, true)),
            wants_net: watched
                .iter()
                .any(|watched| watched.id.row().place.is_net()),
            watched,
        }
    }
}

impl Shapes {
    /// Whether any counter of any port is watched.
    pub(crate) fn is_watching(&self) -> bool {
        !self.checks.is_empty() && !self.watched.is_empty()
    }
}

impl Discovery {
    /// Reads every watched counter.
    pub(super) fn read_counters(
        &self,
        hands: &dyn Hands,
        memory: &Memory,
        snapshot: &mut Snapshot,
        learnt: &mut Learnt,
    ) {
        let targets = self.targets(hands, memory, snapshot, learnt);
        let reads = Batch::of(&mut learnt.batches.counters, targets, |targets| {
            targets.iter().flat_map(|it| self.requests(it)).collect()
        });
        let answers = hands.fetch(&reads.requests);
        let mut values = Vec::with_capacity(reads.requests.len());
        for (request, answer) in reads.requests.iter().zip(answers) {
            values.push(match answer {
                Ok(Answer::Bytes(bytes)) => number(&bytes).ok_or_else(|| {
                    let trouble = (request.path().to_owned(), Cause::Garbled);
                    snapshot.troubles.push(trouble);
                    Unread::Held
                }),
                Err(ReadError::ENOENT) => Err(Unread::Missing),
                Err(ReadError::ENODEV) => Err(Unread::Held),
                Err(error) => {
                    let trouble = (request.path().to_owned(), Cause::Failed(error));
                    snapshot.troubles.push(trouble);
                    Err(Unread::Held)
                }
                Ok(_) => Err(Unread::Held),
            });
        }
        values.resize(reads.requests.len(), Err(Unread::Held));
        snapshot.counts = Some(SeenCounts { reads, values });
    }

    /// The ports whose counters are watched. If a port's layer cannot be read, its last known layer
    /// is used.
    fn targets(
        &self,
        hands: &dyn Hands,
        memory: &Memory,
        snapshot: &Snapshot,
        learnt: &mut Learnt,
    ) -> Vec<Target> {
        let mut targets = Vec::new();
        // The first Ethernet port of each device has the interface counters.
        let mut with_net = Vec::new();
        for (device, seen) in snapshot.devices.iter().enumerate() {
            if let SeenScope::Out(reason) = &seen.scope
                && reason.is_management()
                && self.policy.counts_management_nics()
            {
                let layer = LinkLayer::Ethernet;
                targets.push(self.target(device, &seen.name, PortNumber(1), layer));
            }
            let SeenScope::In(_, SeenPorts::Listed(ports)) = &seen.scope else {
                continue;
            };
            let mut is_first = self.shapes.wants_net;
            for port in ports.iter().filter(|port| port.out.is_none()) {
                let key = seen.facts.as_ref().map(|facts| &facts.key);
                let spoke = || memory.counters.layer_of(key?, port.number);
                let Some(layer) = port.layer.or_else(spoke) else {
                    continue;
                };
                if !self.shapes.checks.contains(&layer.degradation_check()) {
                    continue;
                }
                if layer == LinkLayer::Ethernet && std::mem::take(&mut is_first) {
                    with_net.push(targets.len());
                }
                targets.push(self.target(device, &seen.name, port.number, layer));
            }
        }
        let names = with_net
            .iter()
            .map(|at| targets[*at].name.clone())
            .collect();
        let lists = Batch::of(&mut learnt.batches.interfaces, names, |names| {
            let list = |name: &DeviceName| self.interfaces_request(name);
            names.iter().map(list).collect()
        });
        for (at, request) in with_net.into_iter().zip(&lists.requests) {
            let target = &mut targets[at];
            target.interface = interfaces(hands, request).into_iter().next();
            if target.interface.is_some() {
                target.shape = Arc::clone(&self.shapes.with_net);
            }
        }
        let mut first = 0;
        for target in &mut targets {
            target.first = first;
            first += target.shape.files.len();
        }
        targets
    }

    /// A port without an interface.
    fn target(
        &self,
        device: usize,
        name: &DeviceName,
        number: PortNumber,
        layer: LinkLayer,
    ) -> Target {
        Target {
            device,
            name: name.clone(),
            number,
            layer,
            interface: None,
            shape: Arc::clone(&self.shapes.port),
            first: 0,
        }
    }

    /// The read requests of a port.
    fn requests(&self, target: &Target) -> Vec<Request> {
        let port = self.path(&target.name, format_args!("ports/{}", target.number));
        let net = &self.config.sys_class_net;
        let files = target.shape.files.iter().map(|(place, file)| {
            let folder = place.folder();
            Request::Read(match &target.interface {
                Some(interface) if place.is_net() => format!("{net}/{interface}/{folder}{file}"),
                _ => format!("{port}/{folder}{file}"),
            })
        });
        files.collect()
    }
}

/// The number in a counter's file: decimal digits and nothing else.
fn number(bytes: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(bytes.trim_ascii()).ok()?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::counters::table::defaults;

    #[rstest]
    #[case("0\n", Some(0))]
    #[case(" 15 ", Some(15))]
    #[case("18446744073709551615\n", Some(u64::MAX))]
    #[case("18446744073709551616\n", None)]
    #[case("N/A (no PMA)\n", None)]
    #[case("+5", None)]
    #[case("-1", None)]
    #[case("1 2", None)]
    #[case("", None)]
    fn only_a_decimal_number_is_a_value(#[case] text: &str, #[case] want: Option<u64>) {
        assert_eq!(number(text.as_bytes()), want);
    }

    #[test]
    fn symbol_error_is_read_once_for_two_counters() {
        let shape = Shape::of(&defaults(), true);
        assert_eq!(shape.counters.len(), 12);
        assert_eq!(shape.files.len(), 11);
        let places: Vec<usize> = shape
            .counters
            .iter()
            .filter(|(watched, _)| watched.id.row().file == "symbol_error")
            .map(|(_, place)| *place)
            .collect();
        assert_eq!(places, [4, 4]);
    }

    #[test]
    fn infiniband_has_no_counter_of_the_net_tree() {
        let shape = Shape::of(&defaults(), false);
        assert_eq!(shape.counters.len(), 11);
        assert!(shape.files.iter().all(|(place, _)| !place.is_net()));
    }
}

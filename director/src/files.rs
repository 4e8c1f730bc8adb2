//! Resolves a story's files to paths, rules and moments of a served tree.

use fabric::{Fabric, FunctionRef};
use platforms::{CLASS_INFINIBAND, NodeName, PciAddress};
use scenarios::{FileMoment, FileOp, FileRef, RuleAction, RuleEffect, RuleLasting, StepMoment};
use simfs::{
    MomentId, Op, OpMoment, OpSet, Pattern, Rule, RuleId, SimTime, Spot, Turn, Verdict, When,
    Within,
};

/// The path of the reference monitor's state file below the mount root.
pub const STATE_FILE: &str = "var/run/nic_health_monitor/state.json";

/// The folder in which the monitor may write.
pub const WRITABLE: &str = "var/run/nic_health_monitor";

/// The path of a file in the served tree, by its device's present or last name. A device that never
/// had a name is addressed by its PCI address.
pub(super) fn path_of(fabric: &Fabric, file: &FileRef) -> String {
    match file {
        FileRef::Path(path) => path.trim_start_matches('/').to_owned(),
        FileRef::Port(slot, below) => {
            let device = device_folder(fabric, &slot.node, slot.pci);
            joined(&format!("{device}/ports/{}", slot.port), below)
        }
        FileRef::Device(node, pci, below) => joined(&device_folder(fabric, node, *pci), below),
        FileRef::StateFile => format!("{STATE_FILE}*"),
    }
}

/// Whether the device or port of a file is there now; `true` for a file of no device.
pub(super) fn bearer_is_there(fabric: &Fabric, file: &FileRef) -> bool {
    let function = |node: &NodeName, pci: &PciAddress| {
        let machine = fabric.machine(node)?;
        machine.functions.get(pci)?.rdma.as_ref()
    };
    match file {
        FileRef::Path(_) | FileRef::StateFile => true,
        FileRef::Device(node, pci, _) => function(node, pci).is_some(),
        FileRef::Port(slot, _) => {
            function(&slot.node, &slot.pci).is_some_and(|rdma| rdma.ports.contains_key(&slot.port))
        }
    }
}

fn device_folder(fabric: &Fabric, node: &NodeName, pci: PciAddress) -> String {
    match fabric.name_of(&FunctionRef {
        node: node.clone(),
        pci,
    }) {
        Some(name) => format!("{CLASS_INFINIBAND}/{name}"),
        None => format!("sys/bus/pci/devices/{pci}"),
    }
}

fn joined(folder: &str, below: &str) -> String {
    if below.is_empty() {
        folder.to_owned()
    } else {
        format!("{folder}/{below}")
    }
}

pub(super) fn ops_of(op: FileOp) -> OpSet {
    match op {
        FileOp::List => Op::List,
        FileOp::Read => Op::Read,
        FileOp::Write => Op::Write,
        FileOp::Create => Op::Create,
        FileOp::Fsync => Op::Fsync,
        FileOp::Rename => Op::Rename,
        FileOp::Unlink => Op::Unlink,
    }
    .into()
}

fn all_ops(ops: &[FileOp]) -> OpSet {
    let simple: Vec<Op> = Op::ALL
        .into_iter()
        .filter(|op| ops.iter().any(|named| ops_of(*named).has(*op)))
        .collect();
    OpSet::of(&simple)
}

/// The rule of a step; `None` for `vanish`, which is a moment. The caller that arms the rule mixes
/// a torn value with the present one (`torn`).
#[must_use]
pub fn rule(fabric: &Fabric, id: RuleId, action: &RuleAction, now: SimTime) -> Option<Rule> {
    let verdict = match &action.effect {
        RuleEffect::Fail(errno) => Verdict::Fail(*errno),
        RuleEffect::Hang { killable, .. } => Verdict::Hang {
            killable: *killable,
        },
        RuleEffect::Content(bytes) => Verdict::Content(bytes.clone()),
        RuleEffect::Truncate(len) => Verdict::Truncate(*len),
        RuleEffect::Torn(rest) => Verdict::Content(rest.clone()),
        RuleEffect::ShortWrite(len) => Verdict::ShortWrite(*len),
        RuleEffect::Vanish => return None,
    };
    let when = match action.lasting {
        RuleLasting::Always => When::Always,
        RuleLasting::For(span) => When::Between(now, now + span),
        RuleLasting::Nth(nth) => When::Nth(nth),
        RuleLasting::First(count) => When::FirstN(count),
    };
    let pattern = Pattern::new(&path_of(fabric, &action.file));
    Some(Rule {
        id,
        ops: all_ops(&action.ops),
        pattern,
        when,
        verdict,
    })
}

/// The result of a read that overlaps a change: the first half of the old value, and the new value
/// from there on.
pub(super) fn torn(old: &[u8], new: &[u8]) -> Vec<u8> {
    let half = old.len() / 2;
    [&old[..half], new.get(half..).unwrap_or_default()].concat()
}

/// The moment at which a file vanishes.
pub(super) fn vanishing(fabric: &Fabric, id: MomentId, action: &RuleAction) -> OpMoment {
    let spot = Spot {
        ops: all_ops(&action.ops),
        pattern: Pattern::new(&path_of(fabric, &action.file)),
    };
    let nth = match action.lasting {
        RuleLasting::Nth(nth) => nth,
        RuleLasting::Always | RuleLasting::For(_) | RuleLasting::First(_) => 1,
    };
    OpMoment {
        id,
        turn: Turn::Before(spot),
        nth,
        within: Within::Drill,
    }
}

/// A story's moment in the served tree; `None` if it names no operation.
pub(super) fn moment(fabric: &Fabric, id: MomentId, moment: &StepMoment) -> Option<OpMoment> {
    let spot = |at: &FileMoment| Spot {
        ops: ops_of(at.op),
        pattern: Pattern::new(&path_of(fabric, &at.file)),
    };
    let (turn, nth) = match (&moment.after, &moment.before) {
        (None, Some(before)) => (Turn::Before(spot(before)), before.nth),
        (Some(after), None) => (Turn::After(spot(after)), after.nth),
        (Some(after), Some(before)) => (
            Turn::Between {
                after: spot(after),
                before: spot(before),
            },
            before.nth,
        ),
        (None, None) => return None,
    };
    Some(OpMoment {
        id,
        turn,
        nth,
        within: Within::Poll,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A read of two halves: the first of the old value, the second of the new one.
    #[test]
    fn a_torn_value_is_half_the_old_one_and_the_new_one_from_there_on() {
        assert_eq!(torn(b"4: ACTIVE\n", b"1: DOWN\n"), b"4: ACWN\n");
        assert_eq!(torn(b"123456", b"ab"), b"123");
        assert_eq!(torn(b"", b"new"), b"new");
    }
}

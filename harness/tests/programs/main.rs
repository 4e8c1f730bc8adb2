//! Programs of Debian read a platform's tree, at rest and with faults, and show what the machine shows.
//!
//! Each program has a file: what it prints as facts, and what a machine should make it print. The facts of the two
//! are compared value by value. By default three platforms with three faults are read; with
//! `NICDRILL_PROGRAMS=all` every platform and variant with every fault, with `NICDRILL_PROGRAMS=mi300x` one of them.
//! Start at [`check`].

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

mod ib_tools;
mod lspci;
mod lstopo;
mod node_exporter;
mod over_host;
mod textfile;

use std::{collections::BTreeMap, env, time::Duration};

use harness::sandbox::{Sandbox, SandboxError};
use platforms::{Function, Machine, Platform, Platforms, Rdma};

use over_host::OverHost;

/// What a program shows, or should show: values by the name of what they are about.
type Facts = BTreeMap<String, String>;

/// A program with its table.
struct Program {
    name: &'static str,
    /// What it shows of the tree now.
    shown: fn(&OverHost) -> Facts,
    /// What it should show of this machine while these files cannot be read.
    expected: fn(&Machine, Unreadable) -> Facts,
}

/// Files that a rule makes unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unreadable {
    Nothing,
    /// `rate` of the ports of one device.
    Rate,
}

const PROGRAMS: [Program; 6] = [
    ib_tools::IBSTAT,
    ib_tools::IBSTATUS,
    ib_tools::IBV_DEVICES,
    lspci::LSPCI,
    lstopo::LSTOPO,
    node_exporter::NODE_EXPORTER,
];

/// The faults, as lines of `do:`; `DEVICE` is the first device with a port that is up.
const FAULTS: [&str; 11] = [
    "{ cut: DEVICE }",
    "{ counter: DEVICE, name: symbol_error, add: 5 }",
    "{ remove: DEVICE }",
    "{ disable: DEVICE }",
    "{ stick: DEVICE, in: init }",
    "{ speed: DEVICE, rate: 2X HDR }",
    "{ interface: DEVICE, to: down }",
    "{ rename: DEVICE, to: mlx5_42 }",
    "{ leave_namespace: DEVICE }",
    "{ read: DEVICE/rate, fail: EIO }",
    "{ driver: unload }",
];

/// What is read by default: InfiniBand, RoCE with virtual functions, many PCI domains.
const SAMPLE: [&str; 3] = ["dgx-h100", "h100-oci:vfs", "gb200-nvl4"];
const SAMPLE_FAULTS: usize = 3;

/// The devices that programs of this node see.
fn devices(machine: &Machine) -> impl Iterator<Item = (&Function, &Rdma)> {
    let functions = machine.functions.values().map(|function| &**function);
    let visible =
        functions.filter(|function| machine.class_present && !function.in_other_namespace);
    visible.filter_map(|function| Some((function, function.rdma.as_ref()?)))
}

/// The first device with a port that is up.
fn victim(machine: &Machine) -> Option<&Rdma> {
    let mut devices = devices(machine).map(|(_, rdma)| rdma);
    devices.find(|rdma| rdma.ports.values().any(|port| port.is_up()))
}

/// Reads the tree with every program; returns the differences, and counts the values.
fn check(
    state: &str,
    sandbox: &Sandbox,
    unreadable: Unreadable,
    values: &mut usize,
) -> Vec<String> {
    let host = OverHost::new(sandbox.folder());
    let mut differences = Vec::new();
    for program in &PROGRAMS {
        let (mut shown, expected) = (
            (program.shown)(&host),
            (program.expected)(sandbox.machine(), unreadable),
        );
        *values += expected.len();
        let mut differs =
            |text: String| differences.push(format!("{state}: {}: {text}", program.name));
        for (name, value) in expected {
            match shown.remove(&name) {
                Some(found) if found == value => {}
                found => differs(format!("{name}: {found:?} instead of {value:?}")),
            }
        }
        for (name, value) in shown {
            differs(format!("{name}: {value:?} is not the tree's"));
        }
    }
    differences
}

/// One platform at rest and with each of these faults; returns the differences.
fn read_platform(
    name: &str,
    platform: &Platform,
    faults: &[&str],
    values: &mut usize,
) -> Result<Vec<String>, SandboxError> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut sandbox = Sandbox::mount(platform, folder.path())?;
    let mut differences = check(name, &sandbox, Unreadable::Nothing, values);
    sandbox.unmount()?;
    for fault in faults {
        // A tree of its own for each fault, so that none depends on how another ends.
        sandbox = Sandbox::mount(platform, folder.path())?;
        let line = match victim(sandbox.machine()) {
            Some(rdma) => fault.replace("DEVICE", rdma.name.as_str()),
            None => continue,
        };
        match sandbox.command(&line) {
            Ok(()) => {
                let unreadable = match fault.contains("/rate") {
                    true => Unreadable::Rate,
                    false => Unreadable::Nothing,
                };
                sandbox.advance(Duration::from_millis(1));
                let state = format!("{name} with {line}");
                differences.extend(check(&state, &sandbox, unreadable, values));
            }
            Err(unfit) => println!("{name}: {line} does not fit: {unfit}"),
        }
        sandbox.unmount()?;
    }
    Ok(differences)
}

#[test]
fn programs_of_debian_show_what_the_machine_shows() {
    let this = "programs_of_debian_show_what_the_machine_shows";
    if !over_host::can_read() || over_host::ran_as_root(this) {
        return;
    }
    let platforms = Platforms::shipped();
    let chosen = env::var("NICDRILL_PROGRAMS").ok();
    let faults = match &chosen {
        Some(_) => &FAULTS[..],
        None => &FAULTS[..SAMPLE_FAULTS],
    };
    let (mut values, mut read, mut differing) = (0, 0, 0);
    for (name, platform) in platforms.iter() {
        let name = name.to_string();
        let is_chosen = match chosen.as_deref() {
            Some(which) => which == "all" || which == name,
            None => SAMPLE.contains(&&*name),
        };
        if is_chosen {
            let found = read_platform(&name, platform, faults, &mut values);
            for difference in found.unwrap_or_else(|error| panic!("{name}: {error}")) {
                println!("{difference}");
                differing += 1;
            }
            read += 1;
        }
    }
    let faults = faults.len();
    println!("{values} values compared on {read} platforms, at rest and with {faults} faults");
    assert!(read > 0, "{chosen:?} is no platform");
    assert_eq!(differing, 0, "differences, printed above");
}

//! The platforms that a monitor is probed on: one that says nothing on the first is tried on others.

use crate::scratch::{Ran, Scratch, can_play_processes};

const DRILLS: [&str; 2] = ["port/cable-pulled@azure-ndv5", "port/cable-pulled@h100-oci"];

/// Runs the drills with a shell script that writes the state of each port of the devices that its `case` does not
/// pass over.
fn run_passing_over(pattern: &str) -> Ran {
    let scratch = Scratch::new();
    let program = format!(
        "#!/bin/sh\n\
         class=$1/sys/class/infiniband\n\
         while :; do\n\
           for device in $(ls \"$class\"); do\n\
             case $device in {pattern}) continue;; esac\n\
             read -r number state <\"$class/$device/ports/1/state\" && echo \"$device/1 $state\"\n\
           done\n\
         done\n"
    );
    scratch.program("monitor.sh", &program);
    scratch.file(
        "monitor.yaml",
        "descriptor_version: 1\n\
         name: passes-over\n\
         command: [ ./monitor.sh, '{root}' ]\n\
         speaks: lines\n\
         lines:\n\
         \x20 - pattern: '^(?P<device>[^/ ]+)/(?P<port>[0-9]+) (?P<verdict>[A-Z]+)$'\n\
         \x20   verdicts: { ACTIVE: healthy, INIT: nonfatal, ARMED: nonfatal, DOWN: fatal }\n\
         promises: { style: level, rows: { disabled: { verdict: fatal }, polling: { verdict: fatal } } }\n",
    );
    let words = [&["run"], &DRILLS[..], &["--monitor", "monitor.yaml"]].concat();
    scratch.run(&words)
}

const ON_THE_FIRST: &str = "`azure-ndv5` (to monitor: mlx5_an0, mlx5_ib0, mlx5_ib1, mlx5_ib2, mlx5_ib3, mlx5_ib4, mlx5_ib5, mlx5_ib6, mlx5_ib7)";

#[test]
fn a_monitor_that_passes_over_the_names_of_one_platform_is_drilled_all_the_same() {
    if !can_play_processes() {
        return;
    }
    let ran = run_passing_over("mlx5_[ai]*");
    let note = "NOTE  the monitor: when every cable was pulled, it said something on `h100-oci` (to monitor: mlx5_0, ";
    assert!(ran.out.contains(note), "{ran}");
    let names = format!("and nothing on {ON_THE_FIRST}: does it know these names?");
    assert!(ran.out.contains(&names), "{ran}");
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out.contains("1 drill on 1 of 2 platforms (azure-ndv5)"),
        "{ran}"
    );
}

#[test]
fn a_monitor_that_passes_over_every_device_stops_and_names_each_platform() {
    if !can_play_processes() {
        return;
    }
    let ran = run_passing_over("*");
    assert_eq!(ran.code, 102, "{ran}");
    let first = format!("\n  it was probed on {ON_THE_FIRST}\n");
    let also = "\n  and likewise on `h100-oci` (to monitor: mlx5_0, ";
    let (first, also) = (ran.out.find(&first), ran.out.find(also));
    assert!(first.is_some() && first < also, "{ran}");
}

//! The process arm with real children, mounts and sockets.
//!
//! The test program is also the children: `toy` is a small monitor, `inside` plays a drill on a
//! private stage until it is ended. So it has its own `main` and its own list of tests. Without
//! `/dev/fuse` it skips the tests with a message, unless `NICDRILL_REQUIRE_FUSE=1`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a test program with its own list, and a monitor that writes a log"
)]

mod connector;
mod exhausting;
mod lockstep;
mod looping;
mod programs;
mod staging;
mod toy;

use std::{
    env,
    process::{ExitCode, abort},
};

use harness::{
    Player as _,
    descriptors::read,
    process::{ProcessArm, ProcessOptions, Stage, trial},
};
use memory::Played;
use observe::{Descriptor, MonitorTick};
use scenarios::Story;
use test_support::list;

const TESTS: &[(&str, fn())] = &[
    (
        "a_fault_is_said_in_the_poll_that_first_sees_it",
        lockstep::a_fault_is_said_in_the_poll_that_first_sees_it,
    ),
    ("two_plays_tell_the_same", lockstep::two_plays_tell_the_same),
    (
        "a_hang_for_ticks_is_ticks_without_a_poll",
        lockstep::a_hang_for_ticks_is_ticks_without_a_poll,
    ),
    (
        "a_pause_is_ticks_without_a_poll",
        lockstep::a_pause_is_ticks_without_a_poll,
    ),
    (
        "a_restart_ends_one_and_starts_another",
        lockstep::a_restart_ends_one_and_starts_another,
    ),
    (
        "two_monitors_poll_one_after_the_other",
        lockstep::two_monitors_poll_one_after_the_other,
    ),
    (
        "sigterm_ends_a_monitor_at_the_gate",
        lockstep::sigterm_ends_a_monitor_at_the_gate,
    ),
    (
        "a_kill_in_mid_poll_ends_it_there",
        lockstep::a_kill_in_mid_poll_ends_it_there,
    ),
    (
        "a_device_goes_between_listing_and_read",
        lockstep::a_device_goes_between_listing_and_read,
    ),
    (
        "stuck_in_the_kernel_is_told_and_ends",
        lockstep::stuck_in_the_kernel_is_told_and_ends,
    ),
    (
        "several_listings_make_a_poll",
        lockstep::several_listings_make_a_poll,
    ),
    (
        "what_is_sent_behind_a_poll_belongs_to_it",
        lockstep::what_is_sent_behind_a_poll_belongs_to_it,
    ),
    (
        "two_loops_come_to_the_gate",
        lockstep::two_loops_come_to_the_gate,
    ),
    (
        "loops_poll_in_the_descriptors_order_whichever_came_first",
        looping::loops_poll_in_the_descriptors_order_whichever_came_first,
    ),
    (
        "a_loop_polls_at_its_interval",
        looping::a_loop_polls_at_its_interval,
    ),
    (
        "a_loop_that_real_time_paces_does_not_slow_the_others",
        looping::a_loop_that_real_time_paces_does_not_slow_the_others,
    ),
    (
        "a_drill_waits_no_longer_than_its_descriptor_allows",
        looping::a_drill_waits_no_longer_than_its_descriptor_allows,
    ),
    (
        "every_loop_polls_in_each_tick_while_the_world_heals",
        looping::every_loop_polls_in_each_tick_while_the_world_heals,
    ),
    (
        "a_loop_whose_checks_do_not_run_is_not_awaited",
        looping::a_loop_whose_checks_do_not_run_is_not_awaited,
    ),
    (
        "loops_that_do_the_same_are_refused",
        looping::loops_that_do_the_same_are_refused,
    ),
    (
        "a_loop_that_never_comes_is_told",
        looping::a_loop_that_never_comes_is_told,
    ),
    (
        "a_read_that_hangs_in_one_loop_holds_the_others",
        looping::a_read_that_hangs_in_one_loop_holds_the_others,
    ),
    (
        "a_monitor_that_ends_with_its_poll_is_let_go",
        looping::a_monitor_that_ends_with_its_poll_is_let_go,
    ),
    (
        "the_last_word_of_a_monitor_is_heard",
        looping::the_last_word_of_a_monitor_is_heard,
    ),
    (
        "a_monitor_that_does_not_end_is_hung",
        looping::a_monitor_that_does_not_end_is_hung,
    ),
    (
        "every_run_says_how_the_node_is",
        programs::every_run_says_how_the_node_is,
    ),
    (
        "a_run_is_due_at_its_interval_and_phase",
        programs::a_run_is_due_at_its_interval_and_phase,
    ),
    (
        "a_run_at_boot_comes_again_with_each_start",
        programs::a_run_at_boot_comes_again_with_each_start,
    ),
    (
        "a_run_that_is_held_goes_on_over_ticks",
        programs::a_run_that_is_held_goes_on_over_ticks,
    ),
    (
        "a_run_that_takes_too_long_is_killed_in_simulated_time",
        programs::a_run_that_takes_too_long_is_killed_in_simulated_time,
    ),
    (
        "a_run_that_is_stuck_in_the_kernel_is_waited_for",
        programs::a_run_that_is_stuck_in_the_kernel_is_waited_for,
    ),
    (
        "what_is_asked_of_slurm_counts_and_not_the_code",
        programs::what_is_asked_of_slurm_counts_and_not_the_code,
    ),
    (
        "a_drain_of_somebody_else_is_seen_and_left",
        programs::a_drain_of_somebody_else_is_seen_and_left,
    ),
    (
        "a_program_that_ends_writes_for_the_collector",
        programs::a_program_that_ends_writes_for_the_collector,
    ),
    (
        "the_last_value_of_a_dead_writer_stays",
        programs::the_last_value_of_a_dead_writer_stays,
    ),
    (
        "a_torn_file_and_one_with_time_stamps_are_not_shown",
        programs::a_torn_file_and_one_with_time_stamps_are_not_shown,
    ),
    (
        "what_is_no_file_of_the_folder_is_not_shown_and_nobody_waits_for_it",
        programs::what_is_no_file_of_the_folder_is_not_shown_and_nobody_waits_for_it,
    ),
    (
        "a_file_and_a_page_without_end_end_the_drill",
        programs::a_file_and_a_page_without_end_end_the_drill,
    ),
    (
        "a_page_is_asked_for_at_its_interval",
        programs::a_page_is_asked_for_at_its_interval,
    ),
    (
        "a_page_that_the_monitor_does_not_give_is_a_poll",
        programs::a_page_that_the_monitor_does_not_give_is_a_poll,
    ),
    (
        "a_scrape_that_is_held_ends_late_or_by_its_timeout",
        programs::a_scrape_that_is_held_ends_late_or_by_its_timeout,
    ),
    (
        "a_page_in_json_is_asked_for",
        programs::a_page_in_json_is_asked_for,
    ),
    (
        "a_wrapper_stands_before_the_monitor",
        lockstep::a_wrapper_stands_before_the_monitor,
    ),
    ("the_connector_accepts", connector::accepts),
    ("the_connector_is_absent", connector::is_absent),
    ("nobody_listens", connector::nobody_listens),
    ("the_connector_refuses", connector::refuses),
    (
        "the_connector_answers_with_a_code",
        connector::answers_with_a_code,
    ),
    ("the_connector_is_slow", connector::is_slow),
    ("the_connector_hangs", connector::hangs),
    ("the_connector_loses_the_reply", connector::loses_the_reply),
    ("the_connector_disconnects", connector::disconnects),
    (
        "a_socket_that_the_monitor_removes_ends_the_drill_as_its_doing",
        connector::a_socket_that_the_monitor_removes_ends_the_drill_as_its_doing,
    ),
    (
        "the_probe_tells_who_cannot_be_drilled",
        staging::the_probe_tells_who_cannot_be_drilled,
    ),
    (
        "sigkill_of_the_outer_process_leaves_nothing",
        staging::sigkill_of_the_outer_process_leaves_nothing,
    ),
    (
        "sigkill_of_the_inner_process_leaves_nothing",
        staging::sigkill_of_the_inner_process_leaves_nothing,
    ),
    ("ctrl_c_leaves_nothing", staging::ctrl_c_leaves_nothing),
    (
        "a_drill_ends_at_the_limit_that_is_set_for_it",
        exhausting::a_drill_ends_at_the_limit_that_is_set_for_it,
    ),
    (
        "a_monitor_that_always_makes_progress_ends_with_its_poll",
        exhausting::a_monitor_that_always_makes_progress_ends_with_its_poll,
    ),
    (
        "a_monitor_that_waits_for_a_missing_socket_in_its_poll_is_stopped",
        exhausting::a_monitor_that_waits_for_a_missing_socket_in_its_poll_is_stopped,
    ),
    (
        "a_monitor_that_calls_without_end_is_stopped",
        exhausting::a_monitor_that_calls_without_end_is_stopped,
    ),
    (
        "a_monitor_that_opens_thousands_of_files_is_stopped",
        exhausting::a_monitor_that_opens_thousands_of_files_is_stopped,
    ),
    (
        "a_monitor_that_keeps_a_hundred_connections_open_is_stopped",
        exhausting::a_monitor_that_keeps_a_hundred_connections_open_is_stopped,
    ),
    (
        "a_monitor_that_reports_events_without_end_is_stopped",
        exhausting::a_monitor_that_reports_events_without_end_is_stopped,
    ),
    (
        "output_without_end_is_kept_within_bounds",
        exhausting::output_without_end_is_kept_within_bounds,
    ),
    (
        "a_monitor_that_had_its_time_on_a_cpu_has_not_stalled",
        exhausting::a_monitor_that_had_its_time_on_a_cpu_has_not_stalled,
    ),
    (
        "a_signal_that_stops_the_monitor_for_a_while_is_a_stall",
        exhausting::a_signal_that_stops_the_monitor_for_a_while_is_a_stall,
    ),
    (
        "drills_a_second_are_printed",
        lockstep::drills_a_second_are_printed,
    ),
];

fn main() -> ExitCode {
    if let Some(code) = trial() {
        return code;
    }
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("toy") => return toy::run(&arguments[1..]),
        Some("inside") => return staging::inside(),
        _ => {}
    }
    list::run(TESTS)
}

/// A descriptor of the toy monitor with these additional lines.
fn toy(mode: &str, more: &str) -> Descriptor {
    let text = format!(
        "descriptor_version: 1\nname: toy\ncommand: [ \"{{self}}\", toy, {mode}, \"{{root}}\", \"{{socket}}\" ]\n{more}"
    );
    read("toy.yaml", &text).unwrap()
}

/// A story on the platform `h100-oci`, from its timeline on.
fn story(timeline: &str) -> Story {
    // The story is not judged, but a story without an expectation is invalid.
    let timeline = timeline.replacen(
        "timeline:\n",
        "timeline:\n  - at: 0s\n    expect: [ baseline ]\n",
        1,
    );
    let text = format!(
        "scenario: a test\nwhy: a test\ncovers: [ mine/a-test ]\nplatforms: all\nlet:\n  victim: {{ role: compute, nth: 1 }}\n{timeline}"
    );
    let scenario =
        scenarios::read("test/a-test.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let platforms = platforms::Platforms::shipped();
    let (_, platform) = platforms
        .iter()
        .find(|(name, _)| *name == "h100-oci")
        .unwrap();
    scenario
        .in_world(&platforms::NodeName::from("node-a"), platform)
        .unwrap()
}

/// Plays a story once with the toy, on a stage without namespaces.
fn play(story: &Story, descriptor: &Descriptor, options: ProcessOptions) -> Played {
    let stage = Stage::here().unwrap();
    let story = story.clone();
    let descriptor = descriptor.clone();
    // A separate thread, because the arm gives its thread a network namespace of its own.
    let player = std::thread::spawn(move || {
        let mut arm = ProcessArm::new(&stage, 0, options).unwrap();
        let played = arm.play(&story, &descriptor);
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(
            !mounts.contains(&*stage.folder().to_string_lossy()),
            "the mount has gone"
        );
        played
    });
    player.join().unwrap_or_else(|_| abort())
}

/// Each tick as `polls calls exits`.
fn rendered(played: &Played) -> Vec<String> {
    let ticks = &played.recording.ticks;
    let instances = ticks.iter().flat_map(|tick| tick.monitors.values());
    let line = |program: &MonitorTick| {
        let calls: Vec<String> = program
            .calls
            .iter()
            .map(|call| {
                let texts: Vec<&str> = call
                    .observations
                    .iter()
                    .map(|reported| reported.text.as_str())
                    .collect();
                format!("{}: {}", call.answer, texts.join(", "))
            })
            .collect();
        let exits: Vec<String> = program
            .exits
            .iter()
            .map(|exit| format!("{exit:?}"))
            .collect();
        format!(
            "{} [{}] [{}]",
            program.polls,
            calls.join("; "),
            exits.join("; ")
        )
    };
    instances.map(|program| line(program)).collect()
}

/// The lines that the monitor wrote, tick by tick.
fn log(played: &Played) -> Vec<String> {
    let ticks = &played.recording.ticks;
    ticks
        .iter()
        .flat_map(|tick| tick.monitors.values())
        .map(|program| program.log.join("; "))
        .collect()
}

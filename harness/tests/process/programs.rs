//! Programs that are run, whose files are collected, or that are asked: what each tick has of them.

use harness::{descriptors::read, process::ProcessOptions};
use observe::{Broken, Descriptor};

use crate::{log, play, rendered, story};

/// Tells by its exit code whether the first port of the first device is up.
const CODE: &str = "read -r s <{root}/sys/class/infiniband/mlx5_0/ports/1/state; echo \"it is $s\"; [ \"$s\" = '4: ACTIVE' ]";

/// The same under Slurm, with a mark by which it knows its own drains.
const MARKED: &str = "sinfo -h -o '%t %E' >$TMPDIR/s; read -r t e <$TMPDIR/s;
read -r s <{root}/sys/class/infiniband/mlx5_0/ports/1/state;
case $s/$t/$e in
  '4: ACTIVE'/drain/mine:*) scontrol update NodeName={node} State=RESUME;;
  '4: ACTIVE'/*|*/drain/*) ;;
  *) scontrol update NodeName={node} State=DRAIN Reason=\"mine: $s\";;
esac";

/// Writes the same into a file for a textfile collector, and then looks at the device again.
const FILE: &str = "read -r s <{root}/sys/class/infiniband/mlx5_0/ports/1/state;
up=0; [ \"$s\" = '4: ACTIVE' ] && up=1;
printf 'up{device=\"mlx5_0\",port=\"1\"} %s\\n' $up >{textfile_dir}/nic.tmp;
mv {textfile_dir}/nic.tmp {textfile_dir}/nic.prom";

const RULES: &str =
    "metrics: [ { name: up, device: device, port: port, values: { 1: healthy, 0: fatal } } ]";

/// A descriptor of a script of bash, with these additional lines.
fn bash(script: &str, more: &str) -> Descriptor {
    let command = serde_json::to_string(&["bash", "-c", script]).unwrap();
    let env = "env: { TMPDIR: \"{files}\" }\nfiles: { empty: \"\" }";
    let text = format!("descriptor_version: 1\nname: m\ncommand: {command}\n{env}\n{more}\n");
    read("m.yaml", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// A descriptor of the toy that serves a page.
fn page(more: &str) -> Descriptor {
    let text = format!(
        "descriptor_version: 1\nname: m\ncommand: [ \"{{self}}\", toy, page, \"{{root}}\", \"{{metrics_port}}\" ]\n{more}\n"
    );
    read("m.yaml", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn check(steps: &str, until: &str, monitor: &Descriptor, expected: &[&str]) {
    let story = story(&format!(
        "timeline:\n{steps}until: {until}\nheal: never\nbecause: a test\n"
    ));
    let played = play(&story, monitor, ProcessOptions::default());
    assert_eq!(played.recording.broken, None, "{:#?}", log(&played));
    assert_eq!(rendered(&played), expected, "{:#?}", log(&played));
}

const CUT: &str = "  - at: 2s\n    do: [ { cut: victim } ]\n";

const WELL: &str = "1 [exit code 0: it is 4: ACTIVE] []";
const DOWN: &str = "1 [exit code 1: it is 1: DOWN] []";
const NOTHING: &str = "0 [] []";

pub(crate) fn every_run_says_how_the_node_is() {
    let monitor = bash(CODE, "speaks: exit-code\nexit_code: { codes: npd }");
    check(CUT, "3s", &monitor, &[WELL, WELL, DOWN, DOWN]);
}

pub(crate) fn a_run_is_due_at_its_interval_and_phase() {
    let more =
        "speaks: exit-code\nexit_code: { codes: npd }\nschedule: { interval: 2s, phase: 1s }";
    let monitor = bash(CODE, more);
    check(
        CUT,
        "4s",
        &monitor,
        &[NOTHING, WELL, NOTHING, DOWN, NOTHING],
    );
}

pub(crate) fn a_run_at_boot_comes_again_with_each_start() {
    let more = "speaks: exit-code\nexit_code: { codes: npd }\nschedule: { on: [boot] }";
    let restart = "  - at: 2s\n    do: [ { monitor: restart, signal: TERM, away: 1s } ]\n";
    check(
        restart,
        "4s",
        &bash(CODE, more),
        &[WELL, NOTHING, NOTHING, WELL, NOTHING],
    );
}

pub(crate) fn a_run_that_is_held_goes_on_over_ticks() {
    let monitor = bash(CODE, "speaks: exit-code\nexit_code: { codes: npd }");
    let hang = "  - at: 1s\n    do: [ { read: victim/state, hang: 2 ticks } ]\n";
    check(
        hang,
        "4s",
        &monitor,
        &[WELL, NOTHING, NOTHING, WELL, NOTHING],
    );
}

pub(crate) fn a_run_that_takes_too_long_is_killed_in_simulated_time() {
    let more = "speaks: exit-code\nexit_code: { codes: npd }\nschedule: { kill_after: 2s }";
    let hang = "  - at: 1s\n    do: [ { read: victim/state, hang: given_up } ]\n";
    let killed = "killed, because it ran too long";
    let killed = format!("0 [{killed}: {killed}] []");
    check(
        hang,
        "5s",
        &bash(CODE, more),
        &[WELL, NOTHING, NOTHING, &killed, NOTHING, &killed],
    );
}

pub(crate) fn a_run_that_is_stuck_in_the_kernel_is_waited_for() {
    let more = "speaks: exit-code\nexit_code: { codes: npd }\nschedule: { kill_after: 1s }";
    let hang = "  - at: 1s\n    do: [ { read: victim/state, hang: given_up, killable: false, for: 3s } ]\n";
    let killed = "killed, because it ran too long";
    let killed = format!("0 [{killed}: {killed}] []");
    check(
        hang,
        "6s",
        &bash(CODE, more),
        &[WELL, NOTHING, &killed, NOTHING, NOTHING, WELL, WELL],
    );
}

pub(crate) fn what_is_asked_of_slurm_counts_and_not_the_code() {
    let more = "speaks: exit-code\nexit_code: { actions: slurm }";
    let steps = format!("{CUT}  - at: 4s\n    do: [ {{ mend: victim }} ]\n");
    let drain = "scontrol update NodeName=node-a State=DRAIN Reason=mine: 1: DOWN";
    let resume = "scontrol update NodeName=node-a State=RESUME";
    let story = story(&format!(
        "timeline:\n{steps}until: 30s\nheal: never\nbecause: a test\n"
    ));
    let played = play(&story, &bash(MARKED, more), ProcessOptions::default());
    assert_eq!(played.recording.broken, None, "{:#?}", log(&played));
    let ticks: Vec<String> = rendered(&played);
    let said: Vec<&str> = ticks
        .iter()
        .map(String::as_str)
        .filter(|line| line.contains("scontrol"))
        .collect();
    let line = |text| format!("1 [recorded: {text}] []");
    assert_eq!(said, [line(drain), line(resume)], "{ticks:#?}");
    assert_eq!(ticks[2], line(drain));
}

pub(crate) fn a_drain_of_somebody_else_is_seen_and_left() {
    let more =
        "speaks: exit-code\nexit_code: { actions: slurm, drained_by: 'operator: a new PSU' }";
    let steps = format!("{CUT}  - at: 3s\n    do: [ {{ mend: victim }} ]\n");
    let nothing = ["1 [] []"; 20];
    check(&steps, "19s", &bash(MARKED, more), &nothing);
    let careless = bash("scontrol update NodeName={node} State=RESUME", more);
    let lifts = "1 [recorded: scontrol update NodeName=node-a State=RESUME] []";
    check("", "1s", &careless, &[lifts; 2]);
}

const UP: &str = "1 [collected: up{device=\"mlx5_0\",port=\"1\"} 1] []";
const OFF: &str = "1 [collected: up{device=\"mlx5_0\",port=\"1\"} 0] []";

pub(crate) fn a_program_that_ends_writes_for_the_collector() {
    let more = format!("speaks: textfile\ntextfile: {{ program: one-shot, {RULES} }}");
    check(CUT, "3s", &bash(FILE, &more), &[UP, UP, OFF, OFF]);
}

pub(crate) fn the_last_value_of_a_dead_writer_stays() {
    let script =
        format!("while :; do echo {{root}}/sys/class/infiniband/* >$TMPDIR/l; {FILE}; done");
    let more = format!("speaks: textfile\ntextfile: {{ {RULES} }}");
    let steps = "  - at: 1s\n    do: [ { monitor: restart, signal: KILL, away: 2s } ]\n  - at: 2s\n    do: [ { cut: victim } ]\n";
    let stale = "0 [collected: up{device=\"mlx5_0\",port=\"1\"} 1] []";
    let killed = "0 [collected: up{device=\"mlx5_0\",port=\"1\"} 1] [Signal(9)]";
    check(
        steps,
        "4s",
        &bash(&script, &more),
        &[UP, killed, stale, OFF, OFF],
    );
}

/// What the collector shows of a file with this text.
fn check_file(text: &str, refused: &str) {
    check_made(&format!("printf '{text}' >nic.prom"), refused);
}

/// What the collector shows of a file that is made by this script in its folder.
fn check_made(script: &str, refused: &str) {
    let script = format!("cd {{textfile_dir}}; rm -f nic.prom; {script}");
    let more = format!("speaks: textfile\ntextfile: {{ program: one-shot, {RULES} }}");
    let story = story("timeline:\nuntil: 1s\nheal: never\nbecause: a test\n");
    let played = play(&story, &bash(&script, &more), ProcessOptions::default());
    assert_eq!(rendered(&played), ["1 [collected: ] []"; 2]);
    assert_eq!(
        log(&played),
        vec![format!("nicdrill: nic.prom: {refused}"); 2]
    );
}

pub(crate) fn a_torn_file_and_one_with_time_stamps_are_not_shown() {
    check_file(
        "up{device=\"a\",port=\"1\"} 1\\nup{devi",
        "its last line does not end",
    );
    check_file(
        "up{device=\"a\",port=\"1\"} 1 1700000000000\\n",
        "it has a time stamp",
    );
}

pub(crate) fn what_is_no_file_of_the_folder_is_not_shown_and_nobody_waits_for_it() {
    check_made("mkfifo nic.prom", "it is not a regular file");
    check_made("ln -s /dev/zero nic.prom", "it leads out of the folder");
    check_made("ln -s ../node nic.prom", "it leads out of the folder");
}

/// How a drill ends of a monitor that is over a limit from its first answer on.
fn check_over(monitor: &Descriptor, expected: &str) {
    let story = story("timeline:\nuntil: 1s\nheal: never\nbecause: a test\n");
    let broken = play(&story, monitor, ProcessOptions::default())
        .recording
        .broken;
    let Some(Broken::Excess { tick: 0, what }) = &broken else {
        panic!("{broken:?}");
    };
    assert_eq!(what, expected);
}

pub(crate) fn a_file_and_a_page_without_end_end_the_drill() {
    let more = format!("speaks: textfile\ntextfile: {{ program: one-shot, {RULES} }}");
    let sparse = bash("truncate -s 1T {textfile_dir}/nic.prom", &more);
    check_over(
        &sparse,
        "its files for the collector have a line of more than 64 KiB",
    );
    let endless = format!("speaks: scrape\nscrape: {{ path: /endless, {RULES} }}");
    check_over(&page(&endless), "its page has more than 16384 series");
    let lower = format!("{endless}\nlimits: {{ output: 1MiB }}");
    check_over(&page(&lower), "its page has more than 256 series");
}

const PAGE_UP: &str = "1 [answered: up{device=\"mlx5_0\",port=\"1\"} 1] []";
const PAGE_OFF: &str = "1 [answered: up{device=\"mlx5_0\",port=\"1\"} 0] []";

pub(crate) fn a_page_is_asked_for_at_its_interval() {
    let more =
        format!("speaks: scrape\nscrape: {{ {RULES} }}\nschedule: {{ interval: 2s, timeout: 2s }}");
    check(
        CUT,
        "4s",
        &page(&more),
        &[PAGE_UP, NOTHING, PAGE_OFF, NOTHING, PAGE_OFF],
    );
}

/// What is owed then is judged: it is a poll, in which nothing was said.
pub(crate) fn a_page_that_the_monitor_does_not_give_is_a_poll() {
    let failed = "the page has the status 500";
    let failed = format!("1 [{failed}: {failed}] []");
    let more = format!("speaks: scrape\nscrape: {{ path: /late, {RULES} }}");
    let expected = [PAGE_UP, PAGE_UP, &failed, &failed];
    check(CUT, "3s", &page(&more), &expected);
}

pub(crate) fn a_scrape_that_is_held_ends_late_or_by_its_timeout() {
    let more =
        format!("speaks: scrape\nscrape: {{ {RULES} }}\nschedule: {{ interval: 4s, timeout: 2s }}");
    let hang = |how: &str| {
        format!("  - at: 1s\n    do: [ {{ read: victim/state, hang: {how}, for: 7s }} ]\n")
    };
    let late = |how, expected: &[&str], took: &[u64]| {
        let story = story(&format!(
            "timeline:\n{}until: 8s\nheal: never\nbecause: a test\n",
            hang(how)
        ));
        let played = play(&story, &page(&more), ProcessOptions::default());
        assert_eq!(played.recording.broken, None, "{:#?}", log(&played));
        assert_eq!(rendered(&played), expected, "{how}");
        let monitors = played
            .recording
            .ticks
            .iter()
            .flat_map(|tick| tick.monitors.values());
        let scrapes = monitors.flat_map(|monitor| &monitor.scrapes);
        let took_s: Vec<u64> = scrapes
            .map(|scrape| scrape.took_ns / 1_000_000_000)
            .collect();
        assert_eq!(took_s, took, "{how}");
    };
    let timed_out = "no page came within the timeout";
    let timed_out = format!("0 [{timed_out}: {timed_out}] []");
    let not = NOTHING;
    late(
        "1 ticks",
        &[PAGE_UP, not, not, not, not, PAGE_UP, not, not, PAGE_UP],
        &[0, 1, 0],
    );
    late(
        "given_up",
        &[PAGE_UP, not, not, not, not, not, &timed_out, not, PAGE_UP],
        &[0, 2, 0],
    );
}

pub(crate) fn a_page_in_json_is_asked_for() {
    let more = "speaks: http-json\nhttp_json: { path: /json, items: /ports, device: /device, port: /port, verdict: /state, verdicts: { '4: ACTIVE': healthy, '1: DOWN': fatal } }";
    let line = |word: &str| format!("1 [answered: {word}] []");
    let (up, down) = (line("4: ACTIVE"), line("1: DOWN"));
    check(CUT, "3s", &page(more), &[&up, &up, &down, &down]);
}

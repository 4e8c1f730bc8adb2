//! `docs/mpib.md` is true: its commands print what it shows, and its step saves the job when it says.

use rstest::rstest;

use crate::{
    page::{check, shown},
    scratch::Scratch,
};

const PAGE: &str = include_str!("../../../docs/mpib.md");

/// The blocks of YAML on the page: the story, and a step for it.
fn blocks() -> [&'static str; 2] {
    let mut blocks = PAGE.split("```yaml\n").skip(1);
    [(); 2].map(|()| {
        let block = blocks.next().expect("two blocks");
        block.split_once("```").expect("a block is closed").0
    })
}

#[test]
fn the_page_shows_what_its_commands_print() {
    let scratch = Scratch::new();
    scratch.file("rail.yaml", blocks()[0]);
    let commands = shown(PAGE);
    assert_eq!(commands.len(), 2);
    for (command, lines) in commands {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let ran = scratch.run(&words);
        assert_eq!(ran.code, 0, "{ran}");
        check(command, &lines, &ran.out);
    }
    let ran = scratch.run(&["run", "rail.yaml", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
}

#[rstest]
#[case("10080ms", "job survives: no message had to wait\n")]
#[case("10120ms", "job fails at 44.459738368s on vm1 to vm2")]
fn the_step_of_the_page_saves_the_job_until_the_lost_post(#[case] at: &str, #[case] fares: &str) {
    let [story, step] = blocks();
    let step = step.replace("10080ms", at);
    let (before, after) = story.split_once("until: ").expect("the story ends");
    let scratch = Scratch::new();
    scratch.file("rail.yaml", &format!("{before}{step}until: {after}"));
    let ran = scratch.run(&["mpib", "show", "./rail.yaml"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains(fares), "{ran}");
}

/// A file that is named as the drill is shown, whatever else lies in the folders that are named beside it.
#[test]
fn a_file_among_others_is_the_one_that_is_shown() {
    let scratch = Scratch::new();
    let story = blocks()[0];
    for (file, job) in [("a.yaml", "first"), ("b.yaml", "second")] {
        let story = story.replace("workloads: { job:", &format!("workloads: {{ {job}:"));
        let story = story.replace("{ hint: job,", &format!("{{ hint: {job},"));
        let story = story.replace("{ workload: job,", &format!("{{ workload: {job},"));
        let named = story.replacen("scenario: ", &format!("scenario: {job}, "), 1);
        scratch.file(file, &named);
    }
    for (file, job) in [
        ("a.yaml", "first"),
        ("b.yaml", "second"),
        ("./b.yaml", "second"),
    ] {
        let ran = scratch.run(&["mpib", "show", file, "--scenarios", "."]);
        assert_eq!(ran.code, 0, "{ran}");
        assert!(
            ran.out.starts_with(&format!("# job {job} on vm1 vm2")),
            "{ran}"
        );
    }
}

/// The completions with status 5, of which the page speaks, are shown where several messages are in flight.
#[test]
fn flushed_writes_are_shown_with_their_status() {
    let scratch = Scratch::new();
    let story = blocks()[0].replace("message: 1MiB,", "message: 1MiB, in_flight: 4,");
    scratch.file("rail.yaml", &story);
    let ran = scratch.run(&["mpib", "show", "./rail.yaml", "--timeline"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.out
            .contains("; WC 5 IBV_WC_WR_FLUSH_ERR for 1 behind it\n"),
        "{ran}"
    );
}

/// The second generation reads no hint, and yet it is the size that keeps bytes on SOUT: a message of 1 MiB leaves none there.
#[rstest]
#[case(
    "0",
    "another mask: no hint right before 10.1s would have saved it: an empty message uses SOUT whatever the hint\n"
)]
#[case(
    "1",
    "another mask: no hint right before 10.1s would have saved it: 1 bytes of each message use SOUT whatever the hint\n"
)]
#[case(
    "1000",
    "another mask: no hint right before 10.1s would have saved it: 104 bytes of each message use SOUT whatever the hint\n"
)]
#[case("1MiB", "job survives: no message had to wait\n")]
fn the_second_generation_says_what_keeps_bytes_on_a_rail(
    #[case] size: &str,
    #[case] verdict: &str,
) {
    let scratch = Scratch::new();
    let story = blocks()[0].replace("message: 1MiB,", &format!("message: {size},"));
    let story = story.replace("profile: g1", "profile: g2");
    scratch.file("rail.yaml", &story);
    let ran = scratch.run(&["mpib", "show", "./rail.yaml", "--timeline"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.ends_with(verdict), "{ran}");
}

//! The acceptance cases: every row of `cases.yaml` is a test of its own with the row's name.

use std::collections::BTreeSet;

use crate::row::{altered, play, row, rows};

fn check(case: &str) {
    let row = row(case);
    let wrong = play(&row);
    assert!(
        wrong.is_empty(),
        "{case}: {}\n{}",
        row.shows,
        wrong.join("\n")
    );
}

macro_rules! cases {
    ($($test:ident = $case:literal,)*) => {
        const PLAYED: &[&str] = &[$($case),*];
        $(#[test] fn $test() { check($case); })*
    };
}

cases! {
    ln_01_sr = "LN-01/sr",
    ln_01_mr = "LN-01/mr",
    ln_02_100 = "LN-02/100",
    ln_02_300 = "LN-02/300",
    ln_02_1000 = "LN-02/1000",
    ln_02_0 = "LN-02/0",
    ln_02_950 = "LN-02/950",
    ln_03_local_interrupt = "LN-03/local_interrupt",
    ln_03_local_dropped = "LN-03/local_dropped",
    ln_03_local_aborted = "LN-03/local_aborted",
    ln_03_local_no_route = "LN-03/local_no_route",
    ln_03_local_timeout = "LN-03/local_timeout",
    ln_03_local_error = "LN-03/local_error",
    ln_03_remote_error = "LN-03/remote_error",
    ln_03_remote_dropped = "LN-03/remote_dropped",
    ln_03_remote_timeout = "LN-03/remote_timeout",
    ln_03_network_timeout = "LN-03/network_timeout",
    ln_03_ok = "LN-03/ok",
    ln_04_local_interrupt = "LN-04/local_interrupt",
    ln_04_local_dropped = "LN-04/local_dropped",
    ln_04_local_aborted = "LN-04/local_aborted",
    ln_04_local_no_route = "LN-04/local_no_route",
    ln_04_local_timeout = "LN-04/local_timeout",
    ln_04_local_error = "LN-04/local_error",
    ln_04_remote_error = "LN-04/remote_error",
    ln_04_remote_dropped = "LN-04/remote_dropped",
    ln_04_remote_timeout = "LN-04/remote_timeout",
    ln_04_network_timeout = "LN-04/network_timeout",
    ln_04_ok = "LN-04/ok",
    ln_05_local_interrupt = "LN-05/local_interrupt",
    ln_05_local_dropped = "LN-05/local_dropped",
    ln_05_local_aborted = "LN-05/local_aborted",
    ln_05_local_no_route = "LN-05/local_no_route",
    ln_05_local_timeout = "LN-05/local_timeout",
    ln_05_local_error = "LN-05/local_error",
    ln_07 = "LN-07",
    ln_08 = "LN-08",
    ln_09_local_interrupt = "LN-09/local_interrupt",
    ln_09_local_dropped = "LN-09/local_dropped",
    ln_09_local_aborted = "LN-09/local_aborted",
    ln_09_local_no_route = "LN-09/local_no_route",
    ln_09_local_timeout = "LN-09/local_timeout",
    ln_09_remote_dropped = "LN-09/remote_dropped",
    ln_10_local_error = "LN-10/local_error",
    ln_10_remote_error = "LN-10/remote_error",
    ln_10_remote_timeout = "LN-10/remote_timeout",
    ln_10_network_timeout = "LN-10/network_timeout",
    ln_12 = "LN-12",
    ln_13_sensitivity_1001 = "LN-13/sensitivity-1001",
    ln_13_retry_without_health = "LN-13/retry-without-health",
    ln_13_retry_151 = "LN-13/retry-151",
    ln_13_timeout_2 = "LN-13/timeout-2",
    ln_13_timeout_0 = "LN-13/timeout-0",
    ln_13_interval_0 = "LN-13/interval-0",
    ln_13_tracking_minus_1 = "LN-13/tracking-minus-1",
    ln_13_tracking_4 = "LN-13/tracking-4",
    ln_13_health_off = "LN-13/health-off",
    ln_14_150_2 = "LN-14/150-2",
    ln_14_50_2 = "LN-14/50-2",
    ln_14_10_2 = "LN-14/10-2",
    ln_14_150_0 = "LN-14/150-0",
    ln_14_150_3 = "LN-14/150-3",
    ln_14_50_0 = "LN-14/50-0",
    ln_14_10_9 = "LN-14/10-9",
    ln_15 = "LN-15",
    ln_16 = "LN-16",
    ln_17_0 = "LN-17/0",
    ln_17_500 = "LN-17/500",
    ln_19_peer = "LN-19/peer",
    ln_19_local = "LN-19/local",
    ln_20 = "LN-20",
    ln_21 = "LN-21",
    ln_22 = "LN-22",
    ln_24 = "LN-24",
    ln_25_priority = "LN-25/priority",
    ln_25_credits = "LN-25/credits",
    ln_25_nothing = "LN-25/nothing",
    ln_27_2_17 = "LN-27/2.17",
    ln_27_hld = "LN-27/hld",
    ln_28_2_17 = "LN-28/2.17",
    ln_28_hld = "LN-28/hld",
    ln_29_rising = "LN-29/rising",
    ln_29_failing = "LN-29/failing",
    ln_30_router = "LN-30/router",
    ln_30_routing = "LN-30/routing",
    ln_31 = "LN-31",
    ln_32 = "LN-32",
    ln_33_5 = "LN-33/5",
    ln_33_152 = "LN-33/152",
    ln_34 = "LN-34",
    ln_35_104 = "LN-35/104",
    ln_35_204_local_interrupt = "LN-35/204-local_interrupt",
    ln_35_204_local_dropped = "LN-35/204-local_dropped",
    ln_35_204_local_aborted = "LN-35/204-local_aborted",
    ln_35_204_local_no_route = "LN-35/204-local_no_route",
    ln_35_204_local_timeout = "LN-35/204-local_timeout",
    ln_35_204_local_error = "LN-35/204-local_error",
    ln_35_205_local_interrupt = "LN-35/205-local_interrupt",
    ln_35_205_local_dropped = "LN-35/205-local_dropped",
    ln_35_205_local_aborted = "LN-35/205-local_aborted",
    ln_35_205_local_no_route = "LN-35/205-local_no_route",
    ln_35_205_local_timeout = "LN-35/205-local_timeout",
    ln_35_205_local_error = "LN-35/205-local_error",
    ln_35_206_remote_error = "LN-35/206-remote_error",
    ln_35_206_remote_dropped = "LN-35/206-remote_dropped",
    ln_35_206_remote_timeout = "LN-35/206-remote_timeout",
    ln_35_207_remote_dropped = "LN-35/207-remote_dropped",
    ln_35_207_remote_error = "LN-35/207-remote_error",
    ln_35_207_remote_timeout = "LN-35/207-remote_timeout",
    ln_35_209_sr = "LN-35/209-sr",
    ln_35_209_mr = "LN-35/209-mr",
    ln_35_210 = "LN-35/210",
    ln_35_210_interval = "LN-35/210-interval",
    ln_35_211_limit = "LN-35/211-limit",
    ln_35_211_answering = "LN-35/211-answering",
    ln_35_211_interval = "LN-35/211-interval",
    ln_35_214 = "LN-35/214",
    ln_35_216 = "LN-35/216",
    ln_35_218 = "LN-35/218",
    ln_35_220 = "LN-35/220",
    ln_35_221 = "LN-35/221",
    ln_35_222 = "LN-35/222",
    ln_35_223 = "LN-35/223",
    ln_35_224 = "LN-35/224",
    ln_35_225 = "LN-35/225",
    ln_35_226 = "LN-35/226",
    ln_35_227 = "LN-35/227",
    ln_35_228 = "LN-35/228",
    ln_35_233_local_interrupt = "LN-35/233-local_interrupt",
    ln_35_233_local_dropped = "LN-35/233-local_dropped",
    ln_35_233_local_aborted = "LN-35/233-local_aborted",
    ln_35_233_local_no_route = "LN-35/233-local_no_route",
    ln_35_233_local_timeout = "LN-35/233-local_timeout",
    ln_35_233_remote_dropped = "LN-35/233-remote_dropped",
    ln_35_234 = "LN-35/234",
    ln_35_235 = "LN-35/235",
    ln_35_253 = "LN-35/253",
    ln_35_254 = "LN-35/254",
    ln_35_256 = "LN-35/256",
    ln_35_303 = "LN-35/303",
    ln_35_501 = "LN-35/501",
    ln_35_502 = "LN-35/502",
    ln_35_550 = "LN-35/550",
}

#[test]
fn every_row_of_the_file_is_played_once() {
    let rows = rows();
    let named: Vec<&str> = rows.iter().map(|row| row.case.as_str()).collect();
    assert_eq!(named, PLAYED);
    assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), named.len());
}

/// The numbers have gaps; each existing one has a row.
#[test]
fn every_case_has_a_row_and_no_other() {
    let numbers = [
        1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 24, 25, 27, 28, 29, 30,
        31, 32, 33, 34, 35,
    ];
    let listed: BTreeSet<String> = numbers.map(|number| format!("LN-{number:02}")).into();
    let rendered = rows().into_iter().map(|row| row.case[..5].to_owned());
    assert_eq!(rendered.collect::<BTreeSet<_>>(), listed);
}

/// Changing one expected value of a row must make that row fail.
#[test]
fn every_expected_value_that_is_altered_fails_its_row() {
    let mut expectations = 0;
    for row in rows() {
        for (at, step) in row.steps.iter().enumerate() {
            for (question, expected) in step.expect.iter().flatten() {
                let mut changed = row.clone();
                let expect = changed.steps[at].expect.as_mut().unwrap();
                expect.insert(question.clone(), altered(expected));
                assert_eq!(
                    play(&changed).len(),
                    1,
                    "{}: {question}: {expected}",
                    row.case
                );
                expectations += 1;
            }
        }
    }
    assert!(expectations > 400, "{expectations}");
}

//! What node_exporter's textfile collector shows of files is what `speaks: textfile` hears of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    process::Command,
    time::SystemTime,
};

use observe::{Series, Textfiles};
use rstest::rstest;

use crate::over_host::{can_read, scraped_by};

/// The series of the collector that are about the files themselves, apart from those in them.
const ABOUT_FILES: &str = "node_textfile_scrape_error";

/// The prefixes of what the exporter says of itself.
const OWN: [&str; 6] = [
    "go_",
    "node_exporter_",
    "node_scrape_",
    "node_textfile_",
    "process_",
    "promhttp_",
];

/// What the exporter shows of files in a folder, one series a line.
fn shown(files: &BTreeMap<String, String>) -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("it is written");
        if name.starts_with("stale") {
            let file = File::options()
                .write(true)
                .open(&path)
                .expect("it is there");
            file.set_modified(SystemTime::UNIX_EPOCH)
                .expect("a time is set");
        }
    }
    let command = format!(
        "prometheus-node-exporter --web.systemd-socket --collector.disable-defaults --collector.textfile \
         --collector.textfile.directory={}",
        folder.path().display()
    );
    let answer = scraped_by(&command, |script| {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    });
    let (head, page) = answer.split_once("\r\n\r\n").expect("an answer of HTTP");
    assert!(head.contains(" 200 "), "{answer}");
    let all = observe::series(page).expect("the text format");
    let of_files = all.iter().filter(|series| {
        series.name == ABOUT_FILES || !OWN.iter().any(|own| series.name.starts_with(own))
    });
    of_files.map(Series::line).collect()
}

#[rstest]
#[case::no_files(&[])]
#[case::two_files(&[("a.prom", "# HELP nic_up Up.\n# TYPE nic_up gauge\nnic_up{device=\"mlx5_0\"} 1\n"), ("b.prom", "nic_errors 2.5\n")])]
#[case::an_empty_file(&[("a.prom", ""), ("b.prom", "b 2\n")])]
#[case::another_suffix(&[("a.prom.tmp", "a 1\n"), ("b.prom", "b 2\n")])]
#[case::an_escaped_label(&[("a.prom", "a{text=\"a \\\"b\\\" \\\\ c\"} 1\n")])]
#[case::values(&[("a.prom", "a{x=\"1\"} -3\na{x=\"2\"} 1e3\na{x=\"3\"} +Inf\n")])]
#[case::a_writer_that_died(&[("stale.prom", "a 1\n"), ("b.prom", "b 2\n")])]
#[case::torn_in_a_label(&[("a.prom", "a 1\na{x=\"1"), ("b.prom", "b 2\n")])]
#[case::torn_before_the_value(&[("a.prom", "a 1\nc{x=\"1\"}"), ("b.prom", "b 2\n")])]
#[case::torn_after_the_value(&[("a.prom", "a 1"), ("b.prom", "b 2\n")])]
#[case::not_the_format(&[("a.prom", "a{x 1\n"), ("b.prom", "b 2\n")])]
#[case::no_number(&[("a.prom", "a one\n"), ("b.prom", "b 2\n")])]
#[case::a_time_stamp(&[("a.prom", "a 1 1700000000000\n"), ("b.prom", "b 2\n")])]
#[case::a_time_stamp_beside_others(&[("a.prom", "a 1\nc 1 1700000000000\n"), ("b.prom", "b 2\n")])]
fn the_collector_shows_the_series_of_the_same_files(#[case] files: &[(&str, &str)]) {
    if !can_read() {
        return;
    }
    let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    let files: BTreeMap<String, String> = files.iter().map(own).collect();
    let heard = Textfiles::of(&files);
    let heard: BTreeSet<String> = heard.series.iter().map(Series::line).collect();
    assert_eq!(heard, shown(&files), "heard of {files:?}, and shown");
}

//! The folder that a run leaves behind, written so that another program can follow it.
//!
//! ```text
//! run.json       what the run is going to do, complete before the first drill
//! events.jsonl   what happened, one event a line, in drill order; the last one has the sum of all
//! passed.txt skipped.txt    drills by result, one a line
//! failed.txt known.txt      a line for each drill and each cause of its findings
//! drills/<family>/<scenario>@<platform>/    of a failed drill: story, reads, events, log, state file
//! contents.txt   the SHA-256 of each scenario whose drills were all reached, now or in an earlier run, and of each world; the last line has the sum of the others
//! probe/         of a probe that failed: how the monitor was started, its log, reads, connections and open files
//! unstored.jsonl    with `--store`: events that the store did not take
//! repeat-01/ …   with `--repeat`: all this for each repeat
//! ```
//! The previous run is kept once, as `<folder>.old`. A folder is that of a run by its marker `.nicdrill-run`,
//! which is locked while the run lasts (`run_folder/claim.rs`); any other folder is left alone. The folder ignores itself in git. `reports`
//! formats the texts; [`super::suite`] decides which artifacts a drill leaves.

mod claim;
mod contents;
mod error;
mod plan;
mod reach;
mod shards;
mod shards_error;
mod stream;
mod whole;

use std::{
    borrow::Cow,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use reports::{Baseline, DrillName, DrillReport, RunEvent, as_output, finding_id};
use serde::Serialize;

use claim::{Claim, Marker};
use contents::CONTENTS;
pub(crate) use contents::{read_contents, sealed, sha256};
pub use error::RunFolderError;
pub use plan::PlanBefore;

pub use shards::Shards;
pub(crate) use shards_error::ShardProblem;
pub use shards_error::ShardsError;
use stream::Sum;
pub use whole::write_whole;

use crate::read_files::{
    RUN_MARKER,
    regular::{RUN_FILE_BYTES_MAX, text_up_to},
};

/// The default name of the folder.
pub const DEFAULT: &str = "nicdrill.out";

/// The file by which the folder ignores itself in git.
const IGNORE: &str = ".gitignore";

/// What a file of SQLite begins with (SQLite, "Database File Format", 1.3.1).
const SQLITE: &[u8; 16] = b"SQLite format 3\0";

/// The files that a run begins with, empty.
const LISTS: [&str; 4] = ["events.jsonl", "passed.txt", "failed.txt", "skipped.txt"];

/// A file that a drill leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its name in the drill's folder.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The folder of a run in progress.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    events: File,
    /// The sum of the lines in it.
    sum: Sum,
    passed: File,
    failed: File,
    /// Created with its first line.
    known: Option<File>,
    skipped: File,
    /// `None` for a repeat, which lies in the folder of its run.
    _claim: Option<Claim>,
}

/// A line of `failed.txt`: a drill, and a cause of its findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLine {
    /// The drill.
    pub drill: DrillName,
    /// The id of the findings; `None` for a drill without one.
    pub id: Option<String>,
}

impl RunFolder {
    /// Creates the folder; an earlier run there is kept once, as `<path>.old`, unless it told nothing. Of a link the folder that
    /// it leads to is meant.
    ///
    /// # Errors
    /// If the folder, or `<path>.old`, contains something other than an earlier run, if another run writes
    /// into it, or if it cannot be written.
    pub fn create(path: &Path) -> Result<Self, RunFolderError> {
        Self::claimed(path, Marker::Whole)
    }

    /// Creates the folder like [`Self::create`], and takes one whose marker cannot be read for that of an earlier run.
    ///
    /// # Errors
    /// As those of [`Self::create`].
    pub fn take_over(path: &Path) -> Result<Self, RunFolderError> {
        Self::claimed(path, Marker::Any)
    }

    fn claimed(path: &Path, marker: Marker) -> Result<Self, RunFolderError> {
        // `out/` is `out`, whose neighbour is `out.old`.
        let named: PathBuf = path.components().collect();
        let target = whole::behind_links(&named).map_err(RunFolderError::writing(path))?;
        let claim = Claim::of(&target, marker)?;
        Self::fresh(path, Some(claim))
    }

    /// Creates the folder of one repeat, counted from 1, within this one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn repeat(&self, number: u32) -> Result<Self, RunFolderError> {
        Self::fresh(&self.path.join(format!("repeat-{number:02}")), None)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one event to the files at once.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn take(&mut self, event: &RunEvent) -> Result<(), RunFolderError> {
        if let RunEvent::RunStarted(plan) = event {
            write(&self.path.join("run.json"), (line(plan) + "\n").as_bytes())?;
        }
        let text = match Sum::with_room(event) {
            Some(ended) => self.sum.seal(&line(&ended)),
            None => line(event),
        };
        add(&mut self.events, &self.path.join("events.jsonl"), &text)?;
        self.sum.add(&text);
        if let RunEvent::DrillFailed(drill) | RunEvent::DrillKnown(drill) = event {
            return self.found(drill);
        }
        let (file, list, drill) = match event {
            RunEvent::DrillPassed(drill) => (&mut self.passed, "passed.txt", drill),
            RunEvent::DrillSkipped(drill) => (&mut self.skipped, "skipped.txt", drill),
            _ => return Ok(()),
        };
        add(file, &self.path.join(list), &drill.drill.to_string())
    }

    /// Adds a line for each cause of a drill's findings: to `failed.txt`, and to `known.txt` for those that
    /// are excused.
    fn found(&mut self, drill: &DrillReport) -> Result<(), RunFolderError> {
        let causes = |excused: bool| {
            let findings = drill.findings.iter();
            let meant = findings.filter(|finding| finding.excuse.is_some() == excused);
            let mut causes: Vec<_> = meant.map(|finding| finding.cause).collect();
            causes.sort_unstable();
            causes.dedup();
            causes
        };
        for cause in causes(false) {
            let line = format!("{} {cause}", drill.drill);
            add(&mut self.failed, &self.path.join("failed.txt"), &line)?;
        }
        for cause in causes(true) {
            let path = self.path.join("known.txt");
            let file = match &mut self.known {
                Some(file) => file,
                absent => absent.insert(open(&path)?),
            };
            add(file, &path, &format!("{} {cause}", drill.drill))?;
        }
        Ok(())
    }

    /// Writes the artifacts of a drill.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn keep(&self, drill: &DrillName, artifacts: &[Artifact]) -> Result<(), RunFolderError> {
        self.keep_in(&Path::new("drills").join(drill.to_string()), artifacts)
    }

    /// Writes the contents of the scenarios that were drilled, as [`crate::suite::Before::after`] gives them.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep_contents(&self, contents: &str) -> Result<(), RunFolderError> {
        write(&self.path.join(CONTENTS), contents.as_bytes())
    }

    /// Writes the files of a probe that failed, and returns their folder.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn keep_probe(&self, files: &[Artifact]) -> Result<PathBuf, RunFolderError> {
        self.keep_in(Path::new("probe"), files)?;
        Ok(self.path.join("probe"))
    }

    fn keep_in(&self, folder: &Path, artifacts: &[Artifact]) -> Result<(), RunFolderError> {
        let folder = self.path.join(folder);
        create_folder(&folder)?;
        artifacts
            .iter()
            .try_for_each(|artifact| write(&folder.join(&artifact.name), &shown(artifact)))
    }

    /// The drills that failed in the run in this folder, in order.
    ///
    /// # Errors
    /// If there was no run, or its list is damaged.
    pub fn failed_before(path: &Path) -> Result<Vec<DrillName>, RunFolderError> {
        let path = path.join("failed.txt");
        let text = match text_up_to(&path, RUN_FILE_BYTES_MAX) {
            Ok(text) => text,
            Err(cause) => return Err(RunFolderError::NoFailures { path, cause }),
        };
        let mut drills: Vec<DrillName> = Vec::new();
        for line in failed_lines(&path, &text)? {
            if !drills.contains(&line.drill) {
                drills.push(line.drill);
            }
        }
        Ok(drills)
    }

    /// The findings that failed in the run in this folder, in order.
    ///
    /// # Errors
    /// If there was no run, or its list is damaged.
    pub(crate) fn findings_before(path: &Path) -> Result<Vec<FailedLine>, RunFolderError> {
        let path = path.join("failed.txt");
        match text_up_to(&path, RUN_FILE_BYTES_MAX) {
            Ok(text) => failed_lines(&path, &text),
            Err(cause) => Err(RunFolderError::NoRun { path, cause }),
        }
    }

    /// All findings of the run in this folder, those that were excused too.
    ///
    /// # Errors
    /// If there was no run, or a list is damaged.
    pub fn baseline(path: &Path) -> Result<Baseline, RunFolderError> {
        let mut lines = Self::findings_before(path)?;
        let known = path.join("known.txt");
        match text_up_to(&known, RUN_FILE_BYTES_MAX) {
            Ok(text) => lines.extend(failed_lines(&known, &text)?),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(RunFolderError::NoRun { path: known, cause }),
        }
        let mut baseline = Baseline::default();
        for FailedLine { drill, id } in lines {
            if let Some(id) = id {
                baseline.ids.entry(id).or_default().insert(drill);
            }
        }
        Ok(baseline)
    }

    fn fresh(path: &Path, claim: Option<Claim>) -> Result<Self, RunFolderError> {
        create_folder(path)?;
        write(&path.join(IGNORE), b"*\n")?;
        let [events, passed, failed, skipped] = LISTS.map(|name| open(&path.join(name)));
        Ok(Self {
            path: path.to_owned(),
            events: events?,
            sum: Sum::default(),
            passed: passed?,
            failed: failed?,
            known: None,
            skipped: skipped?,
            _claim: claim,
        })
    }
}

fn open(path: &Path) -> Result<File, RunFolderError> {
    let mut options = OpenOptions::new();
    let file = options.append(true).create(true).open(path);
    file.map_err(RunFolderError::writing(path))
}

/// The lines of a list of findings: a drill, and a cause.
fn failed_lines(path: &Path, text: &str) -> Result<Vec<FailedLine>, RunFolderError> {
    let read = |(row, line): (usize, &str)| {
        let (name, cause) = drill_and_cause(line);
        let drill: DrillName = name.parse().map_err(|cause| RunFolderError::BadName {
            path: path.to_owned(),
            line: row + 1,
            cause,
        })?;
        let id = cause.map(|cause| finding_id(&drill.scenario, cause));
        Ok(FailedLine { drill, id })
    };
    text.lines().enumerate().map(read).collect()
}

/// The drill of a line of a list, and the cause, if it has one. A name may have blanks, and a cause has none.
fn drill_and_cause(line: &str) -> (&str, Option<&str>) {
    let line = line.trim_end();
    match line.rsplit_once(' ') {
        Some((name, cause)) if name.contains('@') && !cause.contains('@') => (name, Some(cause)),
        _ => (line, None),
    }
}

/// Writes a text that the user asked for, such as a report; creates its parent folders. An earlier one is replaced whole.
///
/// # Errors
/// If it cannot be written, or would take the place of what a run reads or keeps; what was there is then as it was.
pub fn write_report(path: &Path, text: &str) -> Result<(), RunFolderError> {
    taken(path)?;
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        create_folder(folder)?;
    }
    write(path, text.as_bytes())
}

/// Checks that a report can be written there: creates its parent folders, and leaves a file that exists as it is. A pipe is
/// not opened, because its reader would take that for the end.
///
/// # Errors
/// If it cannot be written, or would take the place of what a run reads or keeps.
pub fn may_write_report(path: &Path) -> Result<(), RunFolderError> {
    taken(path)?;
    if let Ok(there) = fs::metadata(path) {
        if !there.is_file() && !there.is_dir() {
            return Ok(());
        }
        let opened = OpenOptions::new().append(true).open(path);
        return opened.map(drop).map_err(RunFolderError::writing(path));
    }
    write_report(path, "")?;
    // Of a link that leads nowhere yet, the link stays.
    let made = whole::behind_links(path).and_then(fs::remove_file);
    made.map_err(RunFolderError::writing(path))
}

/// Refuses a file that a run reads or keeps: a scenario, a platform, a descriptor, settings, known deviations, a store, or a file
/// of a run folder.
fn taken(path: &Path) -> Result<(), RunFolderError> {
    let is_file = fs::metadata(path).is_ok_and(|there| there.is_file());
    let end = path.extension().and_then(|end| end.to_str());
    let name = path.file_name().and_then(|name| name.to_str());
    let is_marked = || path.with_file_name(RUN_MARKER).exists();
    let of_run = ["run.json", "known.txt", CONTENTS, RUN_MARKER, IGNORE];
    let mut of_run = of_run.iter().chain(&LISTS);
    let mut begin = [0; SQLITE.len()];
    let mut is_store = || {
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
        read.is_ok() && begin == *SQLITE
    };
    let what = match end {
        _ if !is_file => return Ok(()),
        Some("yaml" | "yml" | "toml") => "a file that runs are made of",
        _ if of_run.any(|it| Some(*it) == name) && is_marked() => "a file of a run folder",
        _ if is_store() => "a database",
        _ => return Ok(()),
    };
    let path = path.to_owned();
    Err(RunFolderError::Taken { path, what })
}

fn create_folder(path: &Path) -> Result<(), RunFolderError> {
    fs::create_dir_all(path).map_err(RunFolderError::writing(path))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), RunFolderError> {
    write_whole(path, bytes).map_err(RunFolderError::writing(path))
}

/// Adds a line, or nothing: what follows a line that was cut off by a full disk would be lost with it.
fn add(file: &mut File, path: &Path, line: &str) -> Result<(), RunFolderError> {
    let mut add = || {
        let before = file.metadata()?.len();
        // One write per line, so that a reader never sees a partial line.
        let written = file.write_all(format!("{line}\n").as_bytes());
        written.inspect_err(|_| {
            // The first error is the one to tell.
            let _ = file.set_len(before);
        })
    };
    add().map_err(RunFolderError::writing(path))
}

fn line(rendered: &impl Serialize) -> String {
    let text =
        serde_json::to_string(rendered).expect("an event has only text keys and finite numbers");
    as_output(&text)
}

/// The bytes of an artifact as they are kept: a text is shown, and what has a form of its own (a story, a state file) stays as it
/// is.
fn shown(artifact: &Artifact) -> Cow<'_, [u8]> {
    let name = Path::new(&artifact.name)
        .extension()
        .and_then(|end| end.to_str());
    if !matches!(name, Some("txt" | "jsonl")) {
        return Cow::Borrowed(&artifact.bytes);
    }
    let text = String::from_utf8_lossy(&artifact.bytes);
    Cow::Owned(as_output(&text).into_bytes())
}

#[cfg(test)]
mod tests {
    use reports::{
        Finding, FindingKind, Judged, NotApplicable, Outcome, PlannedDrill, RunPlan, Wall,
    };

    use super::*;

    fn name(text: &str) -> DrillName {
        text.parse().unwrap()
    }

    fn failed(drill: &str) -> RunEvent {
        RunEvent::DrillFailed(DrillReport {
            drill: name(drill),
            outcome: Outcome::Failed,
            arms: Vec::new(),
            findings: vec![
                Finding::of(FindingKind::Crashed),
                Finding::of(FindingKind::Hung),
            ],
            verdicts: Vec::new(),
            judged: Judged::default(),
            file: "port/cable-pulled.yaml".to_owned(),
            show: "nicdrill show".to_owned(),
            repeat: String::new(),
            wall: Wall::default(),
        })
    }

    fn started() -> RunEvent {
        let drill = name("port/cut@p");
        RunEvent::RunStarted(RunPlan {
            monitor: "reference".to_owned(),
            drills: vec![PlannedDrill {
                drill: drill.clone(),
                arms: Vec::new(),
            }],
            not_applicable: vec![NotApplicable {
                drill,
                reason: "no port".to_owned(),
            }],
            ..RunPlan::default()
        })
    }

    #[test]
    fn the_plan_is_complete_before_the_first_drill_and_events_are_lines() {
        let place = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::create(&place.path().join("out")).unwrap();
        folder.take(&started()).unwrap();
        let plan = fs::read_to_string(folder.path().join("run.json")).unwrap();
        assert!(
            plan.contains("port/cut@p") && plan.contains("no port"),
            "{plan}"
        );
        folder.take(&failed("port/cut@p")).unwrap();
        folder
            .keep(
                &name("port/cut@p"),
                &[Artifact {
                    name: "reads.txt".to_owned(),
                    bytes: b"r".to_vec(),
                }],
            )
            .unwrap();
        let events = fs::read_to_string(folder.path().join("events.jsonl")).unwrap();
        assert_eq!(events.lines().count(), 2);
        assert!(folder.path().join("drills/port/cut@p/reads.txt").exists());
        assert_eq!(
            RunFolder::failed_before(folder.path()).unwrap(),
            [name("port/cut@p")]
        );
    }

    #[test]
    fn a_name_with_blanks_is_read_back_from_a_list() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        let mut folder = RunFolder::create(&path).unwrap();
        folder.take(&failed("my port/a cut@h100-oci:vfs")).unwrap();
        let lines = RunFolder::findings_before(&path).unwrap();
        assert!(!lines.is_empty());
        for FailedLine { drill, id } in lines {
            assert_eq!(drill, name("my port/a cut@h100-oci:vfs"));
            assert!(id.unwrap().starts_with("my port/a cut#"));
        }
        for (line, read) in [
            ("a b/c@p", ("a b/c@p", None)),
            ("a/b@c d@p x.y ", ("a/b@c d@p", Some("x.y"))),
            ("", ("", None)),
        ] {
            assert_eq!(drill_and_cause(line), read);
        }
    }

    #[test]
    fn the_run_before_is_kept_once() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        for drill in ["port/first@p", "port/second@p", "port/third@p"] {
            RunFolder::create(&path)
                .unwrap()
                .take(&failed(drill))
                .unwrap();
        }
        let findings = |path: &Path| RunFolder::failed_before(path).unwrap();
        assert_eq!(findings(&path), [name("port/third@p")]);
        assert_eq!(
            findings(&place.path().join("out.old")),
            [name("port/second@p")]
        );
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_folder_that_holds_no_run_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("thesis.txt"), "dear").unwrap();
        let error = RunFolder::create(place.path()).unwrap_err();
        assert!(matches!(error, RunFolderError::NotOurs { .. }), "{error}");
        assert!(place.path().join("thesis.txt").exists());
    }

    #[test]
    fn a_folder_with_an_events_file_but_without_the_marker_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        for name in ["out", "out.old"] {
            fs::create_dir(place.path().join(name)).unwrap();
            fs::write(place.path().join(name).join("notes.txt"), "dear").unwrap();
            fs::write(place.path().join(name).join("events.jsonl"), "").unwrap();
        }
        let out = place.path().join("out");
        let error = RunFolder::create(&out).unwrap_err();
        assert!(matches!(error, RunFolderError::NotOurs { .. }), "{error}");
        assert!(out.join("notes.txt").exists());
        // A marker that we did not write is none.
        fs::write(out.join(".nicdrill-run"), "").unwrap();
        let error = RunFolder::create(&out).unwrap_err();
        assert!(matches!(error, RunFolderError::BadMarker { .. }), "{error}");
        // Nor is the folder beside it removed for an earlier run.
        fs::remove_dir_all(&out).unwrap();
        let mut earlier = RunFolder::create(&out).unwrap();
        earlier.take(&started()).unwrap();
        drop(earlier);
        let error = RunFolder::create(&out).unwrap_err().to_string();
        assert!(error.contains("out.old` is not empty"), "{error}");
        assert!(place.path().join("out.old/notes.txt").exists());
        assert!(out.join("events.jsonl").exists());
    }

    /// What a full disk left of a marker: nothing, a part of it, or NULs in its place.
    #[test]
    fn a_folder_with_a_marker_that_is_not_whole_and_nothing_else_is_a_new_one() {
        for marker in ["", "the fold", "\0\0\0\0\0\0\0\0"] {
            let place = tempfile::tempdir().unwrap();
            let out = place.path().join("out");
            fs::create_dir(&out).unwrap();
            fs::write(out.join(".nicdrill-run"), marker).unwrap();
            drop(RunFolder::create(&out).unwrap());
            let marker = fs::read_to_string(out.join(".nicdrill-run")).unwrap();
            assert_eq!(marker, "the folder of a run of nicdrill\n");
        }
    }

    #[test]
    fn a_marker_that_cannot_be_read_is_told_and_overcome_by_the_flag_that_is_named() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let mut earlier = RunFolder::create(&out).unwrap();
        earlier.take(&started()).unwrap();
        drop(earlier);
        for marker in ["\0\0\0\0\0\0\0\0", "mine"] {
            fs::write(out.join(".nicdrill-run"), marker).unwrap();
            let error = RunFolder::create(&out).unwrap_err();
            assert!(matches!(error, RunFolderError::BadMarker { .. }), "{error}");
            assert!(
                error.to_string().contains("hint: `--replace-out` "),
                "{error}"
            );
            assert!(out.join("run.json").exists());
            let mut taken = RunFolder::take_over(&out).unwrap();
            assert!(place.path().join("out.old/run.json").exists());
            assert!(!out.join("run.json").exists());
            taken.take(&started()).unwrap();
        }
        // Without a marker it may be anybody's.
        fs::remove_file(out.join(".nicdrill-run")).unwrap();
        let error = RunFolder::take_over(&out).unwrap_err();
        assert!(matches!(error, RunFolderError::NotOurs { .. }), "{error}");
    }

    /// The flag is named for the folder beside it too, and holds for both.
    #[test]
    fn the_flag_overcomes_the_marker_of_the_folder_beside_it_too() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        for _ in 0..2 {
            RunFolder::create(&out).unwrap().take(&started()).unwrap();
        }
        fs::write(place.path().join("out.old/.nicdrill-run"), "mine").unwrap();
        let told = RunFolder::create(&out).unwrap_err().to_string();
        let of_old = told.contains("out.old` has a marker ");
        assert!(of_old && told.contains("hint: `--replace-out` "), "{told}");
        fs::write(out.join("passed.txt"), "port/cut@p\n").unwrap();
        drop(RunFolder::take_over(&out).unwrap());
        assert!(place.path().join("out.old/run.json").exists());
        let passed = fs::read_to_string(place.path().join("out.old/passed.txt")).unwrap();
        assert_eq!(passed, "port/cut@p\n");
    }

    #[rstest::rstest]
    #[case::a_folder(|marker: &Path| fs::create_dir(marker))]
    #[case::a_folder_with_a_file(|marker: &Path| {
        fs::create_dir(marker)?;
        fs::write(marker.join("a"), "")
    })]
    #[case::a_link(|marker: &Path| std::os::unix::fs::symlink("run.json", marker))]
    #[case::a_link_to_nothing(|marker: &Path| std::os::unix::fs::symlink("nowhere", marker))]
    fn a_marker_that_is_no_file_is_one_that_cannot_be_read(
        #[case] make: fn(&Path) -> io::Result<()>,
    ) {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        RunFolder::create(&out).unwrap().take(&started()).unwrap();
        let marker = out.join(".nicdrill-run");
        fs::remove_file(&marker).unwrap();
        make(&marker).unwrap();
        let error = RunFolder::create(&out).unwrap_err();
        assert!(matches!(error, RunFolderError::BadMarker { .. }), "{error}");
        drop(RunFolder::take_over(&out).unwrap());
        let old = place.path().join("out.old");
        assert!(old.join("run.json").is_file() && old.join(".nicdrill-run").is_file());
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        RunFolder::create(&out).unwrap().take(&started()).unwrap();
        fs::write(place.path().join("out.old"), "dear").unwrap();
        for path in [out.join("run.json"), out.join("run.json/more"), out] {
            let error = RunFolder::create(&path).unwrap_err();
            assert!(matches!(error, RunFolderError::NoFolder { .. }), "{error}");
            assert!(error.hint().is_some(), "{error}");
        }
        let old = fs::read_to_string(place.path().join("out.old")).unwrap();
        assert_eq!(old, "dear");
    }

    /// A run that could not write its plan takes no place of a good one.
    #[test]
    fn a_run_that_told_nothing_is_not_kept() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let mut good = RunFolder::create(&out).unwrap();
        good.take(&started()).unwrap();
        drop(good);
        for _ in 0..2 {
            drop(RunFolder::create(&out).unwrap());
            assert!(place.path().join("out.old/run.json").exists());
        }
    }

    #[test]
    fn a_link_to_a_folder_stays_one() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::os::unix::fs::symlink("there", at("out")).unwrap();
        for _ in 0..2 {
            let mut folder = RunFolder::create(&at("out")).unwrap();
            folder.take(&started()).unwrap();
            assert!(at("out").is_symlink() && at("there/run.json").is_file());
        }
        assert!(at("there.old/run.json").is_file() && !at("out.old").exists());
    }

    #[test]
    fn a_second_run_into_the_same_folder_is_refused_with_the_process_of_the_first() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let mut first = RunFolder::create(&out).unwrap();
        first.take(&started()).unwrap();
        let error = RunFolder::create(&out).unwrap_err().to_string();
        let pid = std::process::id();
        assert!(error.contains(&format!("process {pid}")), "{error}");
        assert!(error.contains("\nhint: "), "{error}");
        assert!(out.join("run.json").exists());
        drop(first);
        let marker = || fs::read_to_string(out.join(".nicdrill-run")).unwrap();
        assert!(!marker().contains(&pid.to_string()), "{}", marker());
        drop(RunFolder::create(&out).unwrap());
        assert!(place.path().join("out.old/run.json").exists());
    }

    #[test]
    fn of_many_runs_at_once_one_has_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let start = std::sync::Barrier::new(8);
        let ready = std::sync::Barrier::new(8);
        let winners = std::thread::scope(|scope| {
            let one = || {
                start.wait();
                let folder = RunFolder::create(&out);
                ready.wait();
                folder.is_ok()
            };
            let runs: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            let won = runs.into_iter().map(|run| run.join().unwrap());
            won.filter(|won| *won).count()
        });
        assert_eq!(winners, 1);
    }

    #[test]
    fn failures_of_a_run_that_was_never_are_asked_for_in_vain() {
        let place = tempfile::tempdir().unwrap();
        let error = RunFolder::failed_before(place.path()).unwrap_err();
        assert!(error.to_string().contains("hint: `--failed`"), "{error}");
    }
}

//! `nicdrill accept`: writes the findings of the last run to `known.toml`, after asking.
//!
//! It adds entries and changes none. It never writes while CI is set: what is accepted is a decision of
//! people.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use harness::{
    near,
    read_files::text_if_any,
    run_folder::{self, RunFolder, write_whole},
};
use reports::{Baseline, CauseKind, DrillName, ExitCode, KnownDeviations, KnownEntry, quoted};

use super::{
    Stop,
    as_before::note_what_was_not_reached,
    excuses::{read_known, today_in_utc},
    repository::is_ci,
};
use crate::{
    arguments::{AcceptArguments, Color},
    settings::Settings,
    terminal::{Terminal, log},
};

/// Accepts the findings of the last run.
pub(crate) fn accept(arguments: &AcceptArguments) -> Result<ExitCode, Stop> {
    if is_ci() {
        return Err(Stop::usage("`accept` is refused while CI is set")
            .hint("accept findings where a person decides, and commit the file"));
    }
    if arguments.reason.trim().is_empty() {
        return Err(Stop::usage("`--reason` is empty").hint("write why the findings are accepted"));
    }
    let known = read_known(&arguments.known, false)?.unwrap_or_default();
    let settings = Settings::read()?;
    let out = arguments.out.clone().or(settings.out);
    let out = out.unwrap_or_else(|| PathBuf::from(run_folder::DEFAULT));
    may_expire(arguments.expires.as_deref())?;
    let findings = RunFolder::baseline(&out).map_err(Stop::input)?;
    every_id_is_known(&arguments.ids, &findings, &known)?;
    let has_findings = !findings.ids.is_empty();
    let found = found(findings, arguments, &known);
    note_what_was_not_reached(&out);
    if found.is_empty() {
        log(nothing(&out, has_findings));
        return Ok(ExitCode::Success);
    }
    let text = entries(&found, arguments);
    let name = arguments.known.display().to_string();
    // What was written must be read again, so an invalid reason or date is refused before it is.
    KnownDeviations::read(&name, &text).map_err(Stop::input)?;
    let mut terminal = Terminal::new(Color::Never);
    terminal.out(&text);
    if !arguments.yes && !agreed(found.len(), &arguments.known)? {
        log("nothing was written");
        return Ok(ExitCode::Success);
    }
    let before = text_if_any(&arguments.known).map_err(Stop::input)?;
    let before = before.unwrap_or_default();
    let gap = if before.is_empty() || before.ends_with("\n\n") {
        ""
    } else if before.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let whole = format!("{before}{gap}{text}");
    write_whole(&arguments.known, whole.as_bytes()).map_err(|error| {
        Stop::with(
            ExitCode::ReportNotWritten,
            format!("`{name}` cannot be written: {error}"),
        )
    })?;
    log(&format!("{} written to {name}", entries_word(found.len())));
    Ok(ExitCode::Success)
}

/// Why there is nothing to accept.
fn nothing(out: &Path, has_findings: bool) -> &'static str {
    if has_findings {
        "nothing to accept: every finding of the last run that was asked for is known already"
    } else if out.join("probe").is_dir() {
        "nothing to accept: the last run stopped before its first drill"
    } else {
        "nothing to accept: the last run had no finding"
    }
}

/// Whether a day is one on which something can be accepted: today or later.
fn may_expire(day: Option<&str>) -> Result<(), Stop> {
    let Some(text) = day else { return Ok(()) };
    let read = text.parse::<jiff::civil::Date>().ok();
    // A date with a time is no day.
    let Some(day) = read.filter(|day| day.to_string() == text) else {
        return Err(Stop::usage(format!("`--expires {text}` is no day"))
            .hint("write year, month and day, such as `2027-01-31`"));
    };
    let today = today_in_utc();
    if day < today {
        return Err(
            Stop::usage(format!("`--expires {text}` has passed")).hint(format!(
                "it is the last day on which they are accepted; today is {today}, in UTC"
            )),
        );
    }
    Ok(())
}

/// Refuses an id that stands for no finding of the last run, and for none that is known.
fn every_id_is_known(
    ids: &[String],
    findings: &Baseline,
    known: &KnownDeviations,
) -> Result<(), Stop> {
    let of_run = findings.ids.keys().map(String::as_str);
    let all: BTreeSet<&str> = of_run
        .chain(known.entries.iter().map(|entry| entry.id.as_str()))
        .collect();
    for id in ids {
        let asked = pattern(id);
        if all.iter().any(|id| asked.matches(id)) || known.entries.iter().any(|it| it.matches(id)) {
            continue;
        }
        let all: Vec<&str> = all.into_iter().collect();
        let near = near::did_you_mean(&near::names(id, &all));
        return Err(
            Stop::usage(format!("the last run has no finding `{id}`")).hint(
                near.unwrap_or_else(|| "`nicdrill run` prints the id of each finding".to_owned()),
            ),
        );
    }
    Ok(())
}

/// An entry that matches what an id of the command line stands for.
fn pattern(id: &str) -> KnownEntry {
    KnownEntry {
        id: id.to_owned(),
        reason: String::new(),
        link: None,
        expires: None,
        drill: None,
        line: 0,
    }
}

/// The ids of the last run's findings that are asked for and not known yet, each with its first drill.
fn found(
    findings: Baseline,
    arguments: &AcceptArguments,
    known: &KnownDeviations,
) -> BTreeMap<String, DrillName> {
    let asked: Vec<KnownEntry> = arguments.ids.iter().map(|id| pattern(id)).collect();
    let mut found = BTreeMap::new();
    for (id, drills) in findings.ids {
        // What is not about the monitor cannot be accepted.
        if [CauseKind::Stage, CauseKind::Fault]
            .iter()
            .any(|kind| id.ends_with(&format!("#{}", kind.word())))
        {
            continue;
        }
        let is_asked = asked.is_empty() || asked.iter().any(|asked| asked.matches(&id));
        if is_asked && !known.entries.iter().any(|entry| entry.matches(&id)) {
            found.extend(drills.into_iter().next().map(|drill| (id, drill)));
        }
    }
    found
}

/// The entries as text.
fn entries(found: &BTreeMap<String, DrillName>, arguments: &AcceptArguments) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let entry = |(id, drill): (&String, &DrillName)| {
        let mut lines = vec![
            "[[known]]".to_owned(),
            format!("id = {}", quoted(id)),
            format!("reason = {}", quoted(&arguments.reason)),
        ];
        lines.extend(
            arguments
                .link
                .iter()
                .map(|link| format!("link = {}", quoted(link))),
        );
        lines.extend(
            arguments
                .expires
                .iter()
                .map(|date| format!("expires = {date}")),
        );
        lines.push(format!("drill = {}", quoted(&drill.to_string())));
        lines.join("\n") + "\n"
    };
    let entries: Vec<String> = found.iter().map(entry).collect();
    entries.join("\n")
}

/// Asks on the terminal whether the entries are to be written.
fn agreed(entries: usize, path: &Path) -> Result<bool, Stop> {
    if !io::stdin().is_terminal() {
        return Err(
            Stop::usage("`accept` asks before it writes, and stdin is no terminal")
                .hint("`--yes` writes without asking"),
        );
    }
    let question = format!(
        "write {} to {}? [y/N] ",
        entries_word(entries),
        path.display()
    );
    let mut stderr = io::stderr().lock();
    drop(
        stderr
            .write_all(quoted(&question).as_bytes())
            .and_then(|()| stderr.flush()),
    );
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.map_err(|error| Stop::usage(format!("the answer cannot be read: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn entries_word(count: usize) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

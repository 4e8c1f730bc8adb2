//! Alert rules over what was scraped in drills: reads a rule file, has Prometheus' own engine evaluate it, and puts what
//! the alerts say into recordings.
//!
//! What the engine is given and what its answer means is the crate `alerts`; this starts `promtool`. Start at
//! [`evaluate`].

mod error;
mod promtool;

use std::{collections::BTreeMap, num::NonZeroUsize, path::Path, sync::Arc, thread};

use alerts::{
    Firing, History, Instants, RuleFile, Statement, Syntax, TestCase, TestFile, Unnamed, statements,
};
use files::{FileError, Problem};
use observe::{AlertRows, Call, Descriptor, MonitorTick, Prometheus, Recording, Span, Tick};
use reports::counted;

use crate::near;

pub use self::{
    error::{EvaluationError, PromtoolError},
    promtool::PROMTOOL,
};

/// How many drills are evaluated by one start of promtool. Chosen: the start (50 ms) is small beside so many.
const BATCH: usize = 32;

/// How many names of alerts a text lists. Chosen: a line.
const NAMES_MAX: usize = 8;

/// The phases of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phases {
    /// The one that the descriptor states.
    Stated,
    /// So many, spread over the interval.
    Spread(u64),
}

/// What fired in one phase: for each interval of groups, when they were evaluated, and which alerts fired.
pub type Evaluated = Vec<(Instants, Vec<Firing>)>;

/// Reads a rule file. `file` is the name that errors carry.
///
/// # Errors
/// If the text is no rule file, or one that cannot be evaluated here, with the place.
pub fn read(file: &str, text: &str, prometheus: &Prometheus) -> Result<RuleFile, FileError> {
    let every = Some(prometheus.evaluation_interval);
    files::read(file, text, |rules: &RuleFile| rules.problems(every))
}

/// Every mistake of a text that is to be a rule file, with its place; none if [`read`] reads it and promtool refuses none
/// of its rules. Groups that state no interval are evaluated once in `every`, if it is known. With the mistakes, why
/// promtool could not be asked about the expressions, if it could not.
#[must_use]
pub fn mistakes(
    file: &str,
    text: &str,
    every: Option<Span>,
) -> (Vec<FileError>, Option<EvaluationError>) {
    let mut unasked = None;
    let mistakes = files::mistakes(file, text, |rules: &RuleFile| {
        let mut problems = rules.problems(every);
        match refused(rules) {
            Ok(refused) => problems.extend(refused),
            Err(why) => unasked = Some(why),
        }
        problems
    });
    (mistakes, unasked)
}

/// What promtool refuses of the rules of a file, each by itself.
fn refused(rules: &RuleFile) -> Result<Vec<Problem>, EvaluationError> {
    let syntax = Syntax::of(rules);
    if syntax.is_empty() {
        return Ok(Vec::new());
    }
    let files = [("rules.json", &syntax.text())];
    let answer = promtool::run(&["check", "rules", "rules.json"], &files)?;
    let problems = match answer.is_success {
        true => Ok(Vec::new()),
        false => syntax.problems(&answer.said),
    };
    problems.map_err(|what| EvaluationError::Answer {
        command: "check rules",
        what,
    })
}

/// The rules of a descriptor that speaks by them.
///
/// # Errors
/// If it has none, or they cannot be read or evaluated.
pub fn rules_of(descriptor: &Descriptor) -> Result<(RuleFile, &Prometheus), EvaluationError> {
    let Some(prometheus) = &descriptor.prometheus else {
        let monitor = descriptor.name.clone();
        return Err(EvaluationError::NoRules { monitor });
    };
    let rules = read(&prometheus.rules, &prometheus.rules_text, prometheus);
    Ok((rules?, prometheus))
}

/// That rows of a descriptor name alerts which its rules do not have: nothing would ever be said by them.
pub(crate) fn unknown(rows: &AlertRows, prometheus: &Prometheus, rules: &RuleFile) -> Vec<Problem> {
    let known = names(rules);
    let file = Path::new(&prometheus.rules).file_name();
    let file = file.map_or_else(String::new, |name| name.display().to_string());
    let unknown = rows.names().filter(|name| !known.contains(name));
    let problems = unknown.map(|name| {
        let near = near::did_you_mean(&near::names(name, &known));
        let near = near.map_or_else(String::new, |near| format!("{near} "));
        let what = format!("`{file}` has no alert `{name}`");
        let hint = format!("{near}its alerts are {}", listed(&known));
        Problem::at(["alerts", name], what, hint)
    });
    problems.collect()
}

/// What is to be said of alerts of a descriptor's rules to which it gives no meaning; `None` if there are none, or the rules
/// cannot be read.
#[must_use]
pub fn without_meaning(descriptor: &Descriptor) -> Option<String> {
    let (rules, prometheus) = rules_of(descriptor).ok()?;
    let mut left = names(&rules);
    left.retain(|name| !descriptor.alerts.means(name));
    let verb = match left.len() {
        0 => return None,
        1 => "is",
        _ => "are",
    };
    Some(format!(
        "`alerts` has no row for {} of `{}`, which {verb} not judged: {}",
        counted(left.len() as u64, "alert"),
        prometheus.rules,
        listed(&left)
    ))
}

/// The names of the alerts of a file, each once, in its order.
fn names(rules: &RuleFile) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let of_rules = rules.alerts().filter_map(|(_, rule)| rule.alert.as_deref());
    for name in of_rules {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The first few of these names.
fn listed(names: &[&str]) -> String {
    let (first, more) = names.split_at(names.len().min(NAMES_MAX));
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    near::quoted(first).join(", ") + &more
}

/// Evaluates a descriptor's rules over what was scraped in a drill, and adds what the alerts say to its recording.
///
/// # Errors
/// If promtool cannot be started, or does not answer every question.
pub(crate) fn observe_alerts(
    descriptor: &Descriptor,
    recording: &mut Recording,
    tick_ns: u64,
) -> Result<(), EvaluationError> {
    let (rules, prometheus) = rules_of(descriptor)?;
    let drill = Scraped::of(recording, prometheus, tick_ns);
    let mut all = evaluate(&rules, prometheus, &[drill], Phases::Stated)?;
    let evaluated = all.pop().and_then(|mut phases| phases.pop());
    say(descriptor, recording, &evaluated.unwrap_or_default());
    Ok(())
}

/// Adds what alerts say to the recording of a drill, each statement in the first tick that is not before its evaluation.
/// Returns the alerts that fired and that the descriptor gives no meaning.
pub fn say(descriptor: &Descriptor, recording: &mut Recording, evaluated: &Evaluated) -> Unnamed {
    let (said, unnamed) = statements(&descriptor.alerts, evaluated);
    let Some(prometheus) = &descriptor.prometheus else {
        return unnamed;
    };
    let nodes: BTreeMap<String, Arc<str>> = recording
        .ticks
        .iter()
        .flat_map(|tick| tick.monitors.keys())
        .map(|node| (prometheus.instance_of(node), Arc::clone(node)))
        .collect();
    let mut of_tick: BTreeMap<(usize, Arc<str>), Vec<Statement>> = BTreeMap::new();
    for statement in said {
        let at = recording
            .ticks
            .partition_point(|tick| tick.at_ns < statement.at_ns);
        let named = statement.instance.as_ref().and_then(|name| nodes.get(name));
        // An alert that has lost the label is about all nodes.
        let meant: Vec<&Arc<str>> =
            named.map_or_else(|| nodes.values().collect(), |node| vec![node]);
        for node in meant {
            let key = (at, Arc::clone(node));
            of_tick.entry(key).or_default().push(statement.clone());
        }
    }
    for ((at, node), statements) in of_tick {
        let Some(tick) = recording.ticks.get_mut(at) else {
            continue;
        };
        let mut monitor: MonitorTick = tick
            .monitors
            .get(&node)
            .map_or_else(MonitorTick::default, |it| (**it).clone());
        let calls = statements.into_iter().map(|statement| Call {
            observations: vec![statement.observation],
            fields: Vec::new(),
            accepted: true,
            answer: "evaluated".to_owned(),
        });
        monitor.calls.extend(calls);
        tick.insert(node, monitor.into());
    }
    share(&mut recording.ticks);
    unnamed
}

/// Ticks whose monitors are the same share them again.
fn share(ticks: &mut [Tick]) {
    for last in 2..=ticks.len() {
        Tick::share_last(&mut ticks[..last]);
    }
}

/// What was scraped in a drill.
#[derive(Clone, Debug, PartialEq)]
pub struct Scraped {
    history: History,
    until_ns: u64,
}

impl Scraped {
    /// What was scraped in a drill whose ticks last `tick_ns`.
    #[must_use]
    pub fn of(recording: &Recording, prometheus: &Prometheus, tick_ns: u64) -> Self {
        Self {
            history: History::of(recording, prometheus, tick_ns),
            until_ns: recording.ticks.last().map_or(0, |tick| tick.at_ns),
        }
    }
}

/// A test file for promtool with what was scraped in a drill and what fires by it; `head` is its first line, `rules_at`
/// the path of the rules as the file names it.
///
/// # Errors
/// If the groups have several intervals, which promtool does not know, or the rules cannot be evaluated.
pub fn export(
    head: &str,
    rules_at: &str,
    descriptor: &Descriptor,
    drill: &Scraped,
) -> Result<String, EvaluationError> {
    let (rules, prometheus) = rules_of(descriptor)?;
    if rules.intervals(prometheus.evaluation_interval).len() > 1 {
        return Err(EvaluationError::SeveralIntervals {
            rules: prometheus.rules.clone(),
        });
    }
    let all = evaluate(
        &rules,
        prometheus,
        std::slice::from_ref(drill),
        Phases::Stated,
    )?;
    let Some((instants, firings)) = all.first().and_then(|phases| phases.first()?.first()) else {
        return Err(EvaluationError::Nothing);
    };
    let what = (&drill.history, *instants, firings.as_slice());
    let labels = &prometheus.external_labels;
    Ok(alerts::export((head, rules_at), &rules, labels, what))
}

/// Evaluates rules over drills: by drill and phase, what fired.
///
/// # Errors
/// If promtool cannot be started, or does not answer every question.
pub fn evaluate(
    rules: &RuleFile,
    prometheus: &Prometheus,
    drills: &[Scraped],
    phases: Phases,
) -> Result<Vec<Vec<Evaluated>>, EvaluationError> {
    let intervals = rules.intervals(prometheus.evaluation_interval);
    let jobs: Vec<(u64, &[Scraped])> = intervals
        .iter()
        .flat_map(|interval| drills.chunks(BATCH).map(|batch| (*interval, batch)))
        .collect();
    let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut answers: Vec<Vec<Evaluated>> = Vec::new();
    for round in jobs.chunks(workers) {
        let came: Vec<Result<Vec<Evaluated>, EvaluationError>> = thread::scope(|scope| {
            let started: Vec<_> = round
                .iter()
                .map(|job| scope.spawn(move || batch(rules, prometheus, *job, phases)))
                .collect();
            let panicked = |_| EvaluationError::Panicked;
            let joined = started.into_iter();
            joined
                .map(|worker| worker.join().map_err(panicked).flatten())
                .collect()
        });
        for answer in came {
            answers.push(answer?);
        }
    }
    let count = match phases {
        Phases::Stated => 1,
        Phases::Spread(count) => usize::try_from(count).unwrap_or(usize::MAX),
    };
    let batches = drills.len().div_ceil(BATCH);
    let of_drill = |drill: usize| {
        let of_phase = |phase: usize| {
            let mut all = Evaluated::new();
            for interval in 0..intervals.len() {
                let batch = &answers[interval * batches + drill / BATCH];
                all.extend(batch[(drill % BATCH) * count + phase].iter().cloned());
            }
            all
        };
        (0..count).map(of_phase).collect()
    };
    Ok((0..drills.len()).map(of_drill).collect())
}

/// Evaluates the groups of one interval over some drills: by drill, then phase.
fn batch(
    rules: &RuleFile,
    prometheus: &Prometheus,
    (interval_ns, drills): (u64, &[Scraped]),
    phases: Phases,
) -> Result<Vec<Evaluated>, EvaluationError> {
    let mut cases = Vec::new();
    for drill in drills {
        let instants: Vec<Instants> = match phases {
            Phases::Stated => vec![Instants {
                interval_ns,
                phase_ns: prometheus.evaluation_phase.as_ns() % interval_ns,
                until_ns: drill.until_ns,
            }],
            Phases::Spread(count) => (0..count)
                .map(|nth| Instants::with_phase(interval_ns, (nth, count), drill.until_ns))
                .collect(),
        };
        let history = &drill.history;
        cases.extend(
            instants
                .into_iter()
                .map(|instants| TestCase { history, instants }),
        );
    }
    let every = prometheus.evaluation_interval;
    let labels = &prometheus.external_labels;
    let file = TestFile::new((rules, interval_ns, every), labels, "rules.json", &cases);
    let fired = file.firings(&answer(&file)?);
    let fired = fired.map_err(|what| EvaluationError::Answer {
        command: "test rules",
        what,
    })?;
    let evaluated = cases.iter().zip(fired);
    Ok(evaluated
        .map(|(case, fired)| vec![(case.instants, fired)])
        .collect())
}

/// What promtool answers to a file. The exit code is 1 by design: nothing is expected of what is asked.
fn answer(file: &TestFile) -> Result<String, PromtoolError> {
    let files = [("rules.json", &file.rules), ("tests.json", &file.tests)];
    Ok(promtool::run(&["test", "rules", "tests.json"], &files)?.said)
}

#[cfg(test)]
mod tests;

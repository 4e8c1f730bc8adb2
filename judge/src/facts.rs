//! Checks expectations that are not about one event: exits, log lines, numbers, the state file,
//! silence.

use std::collections::BTreeMap;

use platforms::NodeName;
use scenarios::{About, Expectation, FileRef, MetricIs, StateFileIs, Times, What};
use terms::ReportVerdict;

use director::STATE_FILE;
use observe::{
    Answers, Broken, ClockKind, Exit, Messages, MonitorTick, Pace, Recording, Series, Vocabulary,
};

use crate::{
    cluster_facts,
    consequences::Consequences,
    demands::is_meant,
    fits::{JudgeContext, like},
    links, loads,
    owed::Rows,
    reasons,
    reported_event::ReportedEvent,
    trace::ended,
};

/// The result of an expectation.
pub(crate) enum Outcome {
    /// It holds.
    Holds,
    /// It does not hold: what was expected, what came, and the tick in which it went wrong, if
    /// there is one.
    Fails {
        expected: String,
        came: Vec<String>,
        at: Option<u64>,
    },
    /// It does not apply to this monitor, for this reason.
    NotJudged(String),
}

impl Outcome {
    fn not_judged(reason: &str) -> Self {
        Self::NotJudged(reason.to_owned())
    }

    /// The same result, with the tick in which it went wrong.
    pub(super) fn wrong_in(self, tick: Option<u64>) -> Self {
        match self {
            Self::Fails { expected, came, .. } => Self::Fails {
                expected,
                came,
                at: tick,
            },
            other => other,
        }
    }
}

/// Checks an expectation that is not about one event, on a node; `None` if it is about events.
pub(crate) fn standing(
    expectation: &Expectation,
    node: &NodeName,
    context: &JudgeContext<'_>,
    recording: &Recording,
    reported: &[(ReportedEvent<'_>, bool)],
    made: &Consequences,
) -> Option<Outcome> {
    if !is_meant(expectation, node) {
        return None;
    }
    let window = expectation.window;
    let ticks = || {
        (0..)
            .zip(&recording.ticks)
            .filter(|(tick, _)| (window.from..=window.to).contains(tick))
    };
    let instances =
        || ticks().filter_map(|(tick, all)| Some((tick, &**all.monitors.get(node.as_str())?)));
    let texts = &context.descriptor.texts;
    let own_texts = texts.events == Messages::Own;
    let own_clock = context.descriptor.clock == ClockKind::Own;
    let own_state = context.descriptor.state_file == Vocabulary::Own;
    let is_of_calls = matches!(
        expectation.what,
        What::Calls { .. }
            | What::Condition(_)
            | What::Cordoned(_)
            | What::Uncordoned(_)
            | What::Rule(_)
            | What::RulesSilent
    );
    if is_of_calls && !recording.protocol.has_connector() {
        return Some(Outcome::not_judged(reasons::NO_CONNECTOR));
    }
    Some(match &expectation.what {
        What::Say { .. } | What::FollowEdges { .. } | What::Baseline { .. } => return None,
        What::Nothing {
            reported: attempts, ..
        } => nothing(
            &expectation.what,
            *attempts,
            context,
            node,
            window,
            reported,
        ),
        What::Exit { .. } if context.descriptor.pace() == Pace::Runs => {
            Outcome::not_judged(reasons::BETWEEN_RUNS)
        }
        What::Exit { code } => exit(*code, instances()),
        What::Log { contains } | What::NoLog { contains } if !texts.logs.has(contains) => {
            Outcome::not_judged(reasons::LOG_LINES)
        }
        What::Log { contains } => {
            let found = lines(instances()).any(|line| holds(contains, line));
            check(
                found,
                || format!("a log line with \"{contains}\""),
                || tail(lines(instances())),
            )
        }
        What::NoLog { contains } => {
            let found: Vec<String> = lines(instances())
                .filter(|line| holds(contains, line))
                .map(str::to_owned)
                .collect();
            check(
                found.is_empty(),
                || format!("no log line with \"{contains}\""),
                || found,
            )
        }
        What::Polls(count) => {
            let polls: u64 = instances()
                .map(|(_, instance)| u64::from(instance.polls))
                .sum();
            check(
                polls == *count,
                || reports::counted(*count, "poll"),
                || vec![reports::counted(polls, "poll")],
            )
        }
        What::Calls { count } => {
            let calls = instances()
                .map(|(_, instance)| instance.calls.len() as u64)
                .sum::<u64>();
            check(
                calls == *count,
                || reports::counted(*count, "call"),
                || vec![reports::counted(calls, "call")],
            )
        }
        What::StateFile(StateFileIs::Valid | StateFileIs::Holds { .. }) if own_state => {
            Outcome::not_judged(reasons::STATE_FILE)
        }
        What::StateFile(is) => state_file(is, node, window.from, window.to, recording),
        What::Reads { .. } if own_texts => Outcome::not_judged(reasons::READS),
        What::Reads { file, times } => reads(file, *times, context, node, instances()),
        What::Metric { name, .. } if !has_metric(context, name) => {
            Outcome::not_judged(reasons::METRICS)
        }
        What::Healthz { .. } if context.descriptor.healthz.is_none() => {
            Outcome::not_judged(reasons::HEALTHZ)
        }
        What::Metric { name, labels, is } => {
            let answered = answers(node, window.to, recording);
            let page = context.descriptor.metrics.as_ref();
            metric(
                name,
                labels,
                *is,
                answered.and_then(|answered| answered.metrics.as_deref()),
                page.is_some_and(|page| page.lazy),
            )
        }
        What::Healthz { status } => {
            let answered =
                answers(node, window.to, recording).and_then(|answered| answered.healthz);
            check(
                answered == Some(*status),
                || format!("{status} from `/healthz`"),
                || {
                    vec![
                        answered.map_or_else(
                            || "no answer".to_owned(),
                            |answered| answered.to_string(),
                        ),
                    ]
                },
            )
        }
        What::Link { slot, here, there } => {
            links::standing(slot, here, there, window, context.truth)
        }
        What::Lnet(is) => loads::lnet(is, window, context.truth),
        What::Count(is) => loads::count(is, window, context.truth),
        What::Workload(is) => loads::workload(is, window, context.truth),
        What::Verdict {
            workload,
            verdict,
            lead,
        } => {
            let found = loads::verdict_on(
                workload,
                expectation.node.as_ref(),
                context.story,
                context.truth,
                recording,
            );
            // One that promises otherwise than the documents may do better than their monitor.
            let agrees = found.is_some_and(|found| found.verdict == ReportVerdict::Agreement);
            if agrees
                && *verdict != ReportVerdict::Agreement
                && !Rows::of(context).are_the_documents()
            {
                return Some(Outcome::Holds);
            }
            loads::verdict(workload, *verdict, *lead, found)
        }
        What::Condition(is) => cluster_facts::condition(is, node, window, context, made),
        What::Cordoned(is) => cluster_facts::cordoned(*is, node, window, made),
        What::Uncordoned(is) => cluster_facts::uncordoned(*is, node, window, made),
        // Rules depend on texts and on differences of timestamps.
        What::Rule(_) | What::RulesSilent if own_texts => Outcome::not_judged(reasons::MESSAGES),
        What::Rule(_) | What::RulesSilent if own_clock => Outcome::not_judged(reasons::TIMESTAMPS),
        What::Rule(is) => cluster_facts::rule(is, expectation.node.as_ref(), window, context, made),
        What::RulesSilent => cluster_facts::rules_silent(window, made),
        What::StuckInKernel => {
            let stuck = matches!(recording.broken, Some(Broken::StuckInKernel { .. }));
            check(
                stuck,
                || "a monitor that is stuck in the kernel".to_owned(),
                || vec!["it could be ended".to_owned()],
            )
        }
    })
}

fn has_metric(context: &JudgeContext<'_>, name: &str) -> bool {
    let page = context.descriptor.metrics.as_ref();
    page.is_some_and(|page| page.has(name))
}

pub(super) fn check(
    holds: bool,
    expected: impl FnOnce() -> String,
    came: impl FnOnce() -> Vec<String>,
) -> Outcome {
    if holds {
        Outcome::Holds
    } else {
        Outcome::Fails {
            expected: expected(),
            came: came(),
            at: None,
        }
    }
}

/// Silence: no attempt about these subjects in the window, other than those claimed by
/// expectations. Accepted events are checked elsewhere, because each must be claimed; this checks
/// refused calls.
fn nothing(
    what: &What,
    attempts: bool,
    context: &JudgeContext<'_>,
    node: &NodeName,
    window: scenarios::Window,
    reported: &[(ReportedEvent<'_>, bool)],
) -> Outcome {
    let heard: Vec<String> = reported
        .iter()
        .filter(|(reported, claimed)| {
            !claimed
                && reported.node == node
                && (window.from..=window.to).contains(&reported.tick)
                && (attempts && !reported.accepted)
                && is_silenced(what, context, reported)
        })
        .map(|(reported, _)| reported.line())
        .collect();
    check(
        heard.is_empty(),
        || "nothing, not even an attempt".to_owned(),
        || heard,
    )
}

/// Whether an event is one of those that a line wants silence about, whenever it comes.
pub(crate) fn is_silenced(
    what: &What,
    context: &JudgeContext<'_>,
    reported: &ReportedEvent<'_>,
) -> bool {
    let What::Nothing { about, counter, .. } = what else {
        return false;
    };
    let (node, tick, event) = (reported.node, reported.tick, reported.event);
    let is_meant = |about: &About| context.names_subject(about, node, tick, event);
    let of_counter = |counter: &String| event.codes == [counter.as_str()];
    (about.is_empty() || about.iter().any(is_meant)) && counter.as_ref().is_none_or(of_counter)
}

fn exit<'a>(code: i32, instances: impl Iterator<Item = (u64, &'a MonitorTick)>) -> Outcome {
    let exits: Vec<(u64, Exit)> = instances
        .flat_map(|(tick, instance)| instance.exits.iter().map(move |exit| (tick, *exit)))
        .collect();
    let found = exits.iter().any(|(_, exit)| *exit == Exit::Code(code));
    let rendered = |(tick, exit): &(u64, Exit)| format!("poll {tick}: {}", ended(*exit));
    check(
        found,
        || format!("exit code {code}"),
        || exits.iter().map(rendered).collect(),
    )
}

fn lines<'a>(
    instances: impl Iterator<Item = (u64, &'a MonitorTick)>,
) -> impl Iterator<Item = &'a str> {
    instances.flat_map(|(_, instance)| instance.log.iter().map(String::as_str))
}

/// Whether a line contains a text, in which `…` matches anything.
fn holds(contains: &str, line: &str) -> bool {
    like(&format!("…{contains}…"), line)
}

/// The last few lines.
fn tail<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    const LAST: usize = 8;
    let lines: Vec<&str> = lines.collect();
    lines[lines.len().saturating_sub(LAST)..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
}

fn state_file(
    is: &StateFileIs,
    node: &NodeName,
    from: u64,
    to: u64,
    recording: &Recording,
) -> Outcome {
    let at = |tick: u64| {
        let tick = recording.ticks.get(usize::try_from(tick).ok()?)?;
        let file = tick.monitors.get(node.as_str())?.state_file.as_ref();
        file.map(|file| file.bytes())
    };
    let last = (recording.ticks.len() as u64).saturating_sub(1);
    let end = at(to.min(last));
    let end = end.as_deref();
    let rendered = || {
        vec![end.map_or_else(
            || "no state file".to_owned(),
            |bytes| format!("the state file is {}", String::from_utf8_lossy(bytes)),
        )]
    };
    match is {
        StateFileIs::Unchanged => {
            let start = from.checked_sub(1).and_then(at);
            let start = start.as_deref();
            check(
                start == end,
                || "an unchanged state file".to_owned(),
                || {
                    let before = start.map_or_else(|| "absent".into(), String::from_utf8_lossy);
                    let mut came = rendered();
                    came.push(format!("before: {before}"));
                    came
                },
            )
        }
        StateFileIs::Absent => check(end.is_none(), || "no state file".to_owned(), rendered),
        StateFileIs::Valid => {
            let valid =
                end.is_some_and(|bytes| serde_json::from_slice::<serde_json::Value>(bytes).is_ok());
            check(valid, || "a state file that is JSON".to_owned(), rendered)
        }
        StateFileIs::Holds { member, equals } => {
            let json =
                end.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(bytes).ok());
            let value = json.as_ref().and_then(|json| member_of(json, member));
            let wanted = serde_json::from_str::<serde_json::Value>(equals).ok();
            check(
                value.is_some() && value == wanted.as_ref(),
                || format!("a state file with `{member}` equal to {equals}"),
                rendered,
            )
        }
    }
}

/// The monitor's answers at the end of a tick.
fn answers<'a>(node: &NodeName, tick: u64, recording: &'a Recording) -> Option<&'a Answers> {
    let tick = recording.ticks.get(usize::try_from(tick).ok()?)?;
    Some(&tick.monitors.get(node.as_str())?.answers)
}

/// Checks a metric: the sum of its values with these labels, or that there is none. `none_is_zero`: it has no value
/// before its first change.
fn metric(
    name: &str,
    labels: &BTreeMap<String, String>,
    is: MetricIs,
    found: Option<&[Series]>,
    none_is_zero: bool,
) -> Outcome {
    let has_name = |series: &&Series| series.name == name;
    let has_labels = |series: &&Series| {
        let mut wanted = labels.iter();
        wanted.all(|(name, text)| series.labels.get(name) == Some(text))
    };
    let values: Vec<f64> = found
        .into_iter()
        .flatten()
        .filter(has_name)
        .filter(has_labels)
        .map(|series| series.value)
        .collect();
    let sum: f64 = values.iter().sum();
    let (holds, expected) = match is {
        MetricIs::Absent => (found.is_some() && values.is_empty(), "no value".to_owned()),
        MetricIs::Within { least, most } => {
            let is_least = sum >= least as f64;
            let is_most = most == u64::MAX || sum <= most as f64;
            let bounds = match (least, most) {
                (least, most) if least == most => least.to_string(),
                (least, u64::MAX) => format!("at least {least}"),
                (least, most) => format!("{least} to {most}"),
            };
            let is_there = !values.is_empty() || (none_is_zero && found.is_some());
            (is_there && is_least && is_most, bounds)
        }
    };
    let wanted: Vec<String> = labels
        .iter()
        .map(|(name, text)| format!("{name}={}", serde_json::Value::from(&**text)))
        .collect();
    check(
        holds,
        || format!("{name}{{{}}}: {expected}", wanted.join(",")),
        || match found {
            None => vec!["no answer from `/metrics`".to_owned()],
            Some(found) => {
                let near: Vec<String> = found.iter().filter(has_name).map(Series::line).collect();
                if near.is_empty() {
                    vec![format!("no value of {name}")]
                } else {
                    near
                }
            }
        },
    )
}

/// A member of a JSON value by its dotted path; numbers index lists.
fn member_of<'a>(json: &'a serde_json::Value, path: &str) -> Option<&'a serde_json::Value> {
    path.split('.').try_fold(json, |at, part| match at {
        serde_json::Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        at => at.get(part),
    })
}

fn reads<'a>(
    file: &FileRef,
    times: Times,
    context: &JudgeContext<'_>,
    node: &NodeName,
    instances: impl Iterator<Item = (u64, &'a MonitorTick)>,
) -> Outcome {
    let count = count_reads(file, context, node, instances);
    let (least, most) = (times.at_least as usize, times.at_most as usize);
    check(
        (least..=most).contains(&count),
        || format!("{least} to {most} reads of that file"),
        || vec![format!("{count} reads")],
    )
}

/// How often a file is read in these ticks.
pub(crate) fn count_reads<'a>(
    file: &FileRef,
    context: &JudgeContext<'_>,
    node: &NodeName,
    instances: impl Iterator<Item = (u64, &'a MonitorTick)>,
) -> usize {
    let mut count = 0;
    for (tick, instance) in instances {
        let patterns = patterns(file, context, node, tick);
        count += instance
            .reads
            .iter()
            .filter(|line| {
                let path = line
                    .split(' ')
                    .nth(1)
                    .unwrap_or_default()
                    .trim_end_matches(':');
                patterns.iter().any(|pattern| pattern.matches(path))
            })
            .count();
    }
    count
}

/// The paths that a file has in a tick's trace.
fn patterns(
    file: &FileRef,
    context: &JudgeContext<'_>,
    node: &NodeName,
    tick: u64,
) -> Vec<simfs::Pattern> {
    use platforms::CLASS_INFINIBAND;
    let truth = usize::try_from(tick)
        .ok()
        .and_then(|tick| context.truth.ticks.get(tick)?.nodes.get(node));
    let named = |pci: &platforms::PciAddress, below: String| -> Vec<String> {
        let views = truth
            .into_iter()
            .flat_map(|truth| [&truth.views, &truth.after]);
        let names = views.filter_map(|views| Some(views.0.get(pci)?.name.clone()));
        let mut paths: Vec<String> = names
            .map(|name| {
                format!("{CLASS_INFINIBAND}/{name}/{below}")
                    .trim_end_matches('/')
                    .to_owned()
            })
            .collect();
        paths.dedup();
        paths
    };
    let paths = match file {
        FileRef::Path(path) => vec![path.clone()],
        FileRef::Port(slot, below) => named(&slot.pci, format!("ports/{}/{below}", slot.port)),
        FileRef::Device(_, pci, below) => named(pci, below.clone()),
        FileRef::StateFile => vec![format!("{STATE_FILE}*")],
    };
    paths.iter().map(|path| simfs::Pattern::new(path)).collect()
}

#[cfg(test)]
pub(crate) mod tests;

//! Whether the lines of a scenario assert something: each expectation is made false in every way that its kind has,
//! and the judge must say so, about this line.
//!
//! A drill is played once. What is expected of it does not change what happens in it, so that the altered
//! expectation is judged by the same recording; silence is made false in the recording, by what it forbids. Start at
//! [`altered`].

use director::Truth;
use observe::{Descriptor, Recording};
use reports::{Finding, FindingKind, StoryLine};
use scenarios::{Expectation, Story, What};

use self::change::{Alteration, AlteredSubject, Change};
use crate::{Judgement, facts, fits::JudgeContext, judge, line_of};

pub(crate) mod change;
mod event;
mod excuse;

/// An alteration of an expectation, and whether the judge noticed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Altered {
    /// The line with the expectation.
    pub line: StoryLine,
    /// The kind of the expectation in words, such as `event`.
    pub kind: &'static str,
    /// The alteration in words, such as `another severity`.
    pub alteration: &'static str,
    /// What came of it.
    pub bite: Bite,
}

/// Whether the judge noticed that an expectation was false.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bite {
    /// The drill is red, about this line.
    Red,
    /// The drill stays green, because the altered line is as true as the line itself, for this reason.
    Equivalent(&'static str),
    /// The line is not judged for this monitor, for this reason.
    NotJudged(String),
    /// The drill stays green.
    Green,
}

/// Alters every expectation of a story in every way that its kind has, and judges each alteration by the recording.
///
/// # Errors
/// The judgement of the story as it is, if that is not green: what was red before shows nothing.
pub fn altered(
    story: &Story,
    truth: &Truth,
    recording: &Recording,
    descriptor: &Descriptor,
) -> Result<Vec<Altered>, Box<Judgement>> {
    let judged = |story: &Story, recording: &Recording| judge(story, truth, recording, descriptor);
    let as_it_is = judged(story, recording);
    if !as_it_is.findings.is_empty() {
        return Err(Box::new(as_it_is));
    }
    let mut all = Vec::new();
    let mut changed = story.clone();
    for (at, expectation) in story.expectations.iter().enumerate() {
        let line = line_of(expectation);
        let subject = AlteredSubject {
            expectation,
            context: JudgeContext {
                story,
                truth,
                descriptor,
            },
            recording,
        };
        let left_out = as_it_is.judged.left_out.iter();
        let reason = left_out
            .filter(|left_out| left_out.line == line)
            .map(|left_out| left_out.reason.clone())
            .next();
        let changes = changes(&subject);
        if changes.is_empty() {
            all.push(Altered {
                line: line.clone(),
                kind: kind(&expectation.what),
                alteration: "made false",
                bite: Bite::Equivalent("it holds whatever happens"),
            });
        }
        for (alteration, change) in changes {
            let came = match applied(change, story, at) {
                Err(reason) => Bite::Equivalent(reason),
                Ok((expectations, other)) => {
                    changed.expectations = expectations;
                    let judgement = judged(&changed, other.as_deref().unwrap_or(recording));
                    if judgement
                        .findings
                        .iter()
                        .any(|of| is_about(of, &subject, &line))
                    {
                        Bite::Red
                    } else if let Some(reason) = &reason {
                        Bite::NotJudged(reason.clone())
                    } else {
                        excuse::of(&subject, &changed).map_or(Bite::Green, Bite::Equivalent)
                    }
                }
            };
            all.push(Altered {
                line: line.clone(),
                kind: kind(&expectation.what),
                alteration,
                bite: came,
            });
        }
    }
    Ok(all)
}

/// The expectations with a change of one, and the recording that they are judged by, if another.
///
/// # Errors
/// Why there is none that makes it false.
fn applied(
    change: Change,
    story: &Story,
    at: usize,
) -> Result<(Vec<Expectation>, Option<Box<Recording>>), &'static str> {
    let own = &story.expectations[at];
    Ok(match change {
        Change::Line(other) => (replaced(story, at, &[*other]), None),
        Change::Less(other) => {
            let others: Vec<Expectation> = other.into_iter().map(|it| *it).collect();
            (replaced(story, at, &others), None)
        }
        Change::Twice => (replaced(story, at, &[own.clone(), own.clone()]), None),
        Change::Recording(other) => (alone(story, at), Some(other)),
        Change::Equivalent(reason) => return Err(reason),
    })
}

/// Whether a finding is about the line: it names it, or, where the line is about events, an event came that no line
/// expects any more.
fn is_about(finding: &Finding, subject: &AlteredSubject<'_>, line: &StoryLine) -> bool {
    let of_events = matches!(
        subject.expectation.what,
        What::Say { .. } | What::FollowEdges { .. } | What::Baseline { .. }
    );
    let is_stuck = matches!(subject.expectation.what, What::StuckInKernel);
    finding.line.as_ref() == Some(line)
        || of_events && finding.kind == FindingKind::Unexpected
        || is_stuck
}

/// The expectations with others in the place of one.
fn replaced(story: &Story, at: usize, others: &[Expectation]) -> Vec<Expectation> {
    let all = &story.expectations;
    [&all[..at], others, &all[at + 1..]].concat()
}

/// The expectations without the other ones for silence, which would be named instead of this one.
fn alone(story: &Story, at: usize) -> Vec<Expectation> {
    let of_silence = |what: &What| matches!(what, What::Nothing { .. });
    let all = story.expectations.iter().enumerate();
    all.filter(|(other, expectation)| *other == at || !of_silence(&expectation.what))
        .map(|(_, expectation)| expectation.clone())
        .collect()
}

/// How an expectation can be made false, by its kind.
fn changes(subject: &AlteredSubject<'_>) -> Vec<Alteration> {
    let what = &subject.expectation.what;
    match facts::fact(what) {
        Some(fact) => fact.falsified(subject),
        None => event::falsified(subject),
    }
}

/// The kind of an expectation, in words.
fn kind(what: &What) -> &'static str {
    match what {
        What::FollowEdges { .. } => "edges",
        What::Baseline { .. } => "first poll",
        what => facts::fact(what).map_or("event", |fact| fact.kind().word),
    }
}

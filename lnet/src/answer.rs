//! What the first lines about a request answer: which timer ran out first, which interface was blamed, what was lost and
//! where, and which other path was tried, or why none was.
//!
//! Text and JSON are made from this one record. Start at [`Traces::answer`].

use std::{collections::BTreeSet, fmt};

use simfs::SimTime;

use super::{
    message::MessageId,
    nid::Nid,
    trace::{NoResend, TraceEntry, Traced},
    trace_text::{Traces, choice_of, event, path},
    workload_event::What,
};

/// The answers about a request, up to an instant.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The first timer that ran out: when it did, and in words.
    pub first_timer: Option<(SimTime, String)>,
    /// Its messages that had no path at their first try. They never reach a driver: no timer runs for them, and no interface
    /// is blamed.
    pub unsent: BTreeSet<MessageId>,
    /// The interfaces that a failure would have cost health which they no longer had.
    pub at_zero: BTreeSet<Nid>,
    /// What is told of single entries: who was blamed, and then the rest in order.
    pub lines: Vec<AnswerLine<'a>>,
}

/// What is told of an entry.
#[derive(Clone, Debug)]
pub struct AnswerLine<'a> {
    /// The question that it answers.
    pub part: AnswerPart,
    /// The entry.
    pub entry: &'a TraceEntry,
    /// It in words, without the time.
    pub text: String,
    /// The reason in it, of a message that is lost and of a path that is not tried.
    pub reason: Option<String>,
}

/// The questions that entries answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerPart {
    /// Which interface lost health.
    Blamed,
    /// Which other path was tried.
    SentAgain,
    /// What was lost.
    Lost,
    /// Why no other path was tried.
    NoOtherPath,
}

impl AnswerPart {
    /// All, in the order in which they are asked.
    pub const ALL: [Self; 4] = [Self::Blamed, Self::SentAgain, Self::Lost, Self::NoOtherPath];
}

impl fmt::Display for AnswerPart {
    /// As at the beginning of a line, `no other path`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blamed => "blamed",
            Self::SentAgain => "sent again",
            Self::Lost => "lost",
            Self::NoOtherPath => "no other path",
        })
    }
}

impl<'a> Traces<'a> {
    /// The answers about a request and its answers.
    #[must_use]
    pub fn answer(&self, request: MessageId) -> Answer<'a> {
        let entries = self.of_request(request);
        let unsent = entries.iter().filter_map(|entry| {
            let choice = choice_of(entry)?;
            (choice.path.is_err() && choice.attempt == 1).then_some(choice.message)
        });
        let at_zero = entries.iter().filter_map(|entry| match &entry.what {
            Traced::AtZero { ni, .. } => Some(ni.clone()),
            _ => None,
        });
        let blamed = entries.iter().filter_map(|entry| blamed(entry));
        let rest = entries.iter().filter_map(|entry| of_message(entry));
        Answer {
            first_timer: self.first_timer(request),
            unsent: unsent.collect(),
            at_zero: at_zero.collect(),
            lines: blamed.chain(rest).collect(),
        }
    }
}

/// An interface that lost health.
fn blamed(entry: &TraceEntry) -> Option<AnswerLine<'_>> {
    match &entry.what {
        Traced::Event(What::Health { before, after, .. }) if after < before => Some(AnswerLine {
            part: AnswerPart::Blamed,
            entry,
            text: event(entry)?,
            reason: None,
        }),
        _ => None,
    }
}

/// A message that was lost, or sent again, or was not.
fn of_message(entry: &TraceEntry) -> Option<AnswerLine<'_>> {
    let (part, text, reason) = match &entry.what {
        Traced::NoResend { message, why } => (
            AnswerPart::NoOtherPath,
            format!("message {message}: {why}"),
            Some(why.to_string()),
        ),
        Traced::Overdue { request, .. } => {
            let why = NoResend::Unanswered;
            let text = format!("request {request} {why}");
            (AnswerPart::NoOtherPath, text, Some(why.to_string()))
        }
        Traced::Choice(choice) => {
            let (message, attempt) = (choice.message, choice.attempt);
            match &choice.path {
                Err(why) => {
                    let to = &choice.destination;
                    let text = format!(
                        "message {message}, try {attempt} to {to}: {why}, and LNet does not resend what has no path"
                    );
                    (AnswerPart::NoOtherPath, text, Some(why.to_string()))
                }
                Ok(_) if attempt > 1 => {
                    let text = format!("message {message}, try {attempt} {}", path(choice));
                    (AnswerPart::SentAgain, text, None)
                }
                Ok(_) => return None,
            }
        }
        Traced::Loss { message, why } => (
            AnswerPart::Lost,
            format!("message {message} on {}: {why}", entry.node),
            Some(why.to_string()),
        ),
        _ => return None,
    };
    Some(AnswerLine {
        part,
        entry,
        text,
        reason,
    })
}

impl fmt::Display for Answer<'_> {
    /// A line for each answer, indented by two spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unsent = |f: &mut fmt::Formatter<'_>| {
            let mut unsent = self.unsent.iter();
            unsent.try_for_each(|message| write!(f, ", message {message} was not sent"))
        };
        f.write_str("  first timer to run out: ")?;
        match &self.first_timer {
            Some((_, timer)) => f.write_str(timer)?,
            None => {
                f.write_str("none")?;
                unsent(f)?;
            }
        }
        f.write_str("\n")?;
        let is_blame = |line: &&AnswerLine<'_>| line.part == AnswerPart::Blamed;
        if self.lines.iter().any(|line| is_blame(&line)) {
            for line in self.lines.iter().filter(is_blame) {
                writeln!(f, "  {}: at {}, {}", line.part, line.entry.at, line.text)?;
            }
            for ni in &self.at_zero {
                writeln!(f, "  blamed in vain: {ni} has no health to lose")?;
            }
        } else {
            f.write_str("  blamed: no interface")?;
            for ni in &self.at_zero {
                write!(f, ", {ni} has no health to lose")?;
            }
            unsent(f)?;
            f.write_str("\n")?;
        }
        for line in self.lines.iter().filter(|line| !is_blame(line)) {
            writeln!(f, "  {}: {}", line.part, line.text)?;
        }
        Ok(())
    }
}

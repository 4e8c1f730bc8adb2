//! The nature of the reports: style and granularity. Start at [`fit`].

use observe::{
    Descriptor,
    promises::{Granularity, Kind, Named, Names, PromisedSubject, Style},
};

use crate::{
    answers::{Answer, answers},
    drill::Drill,
    evidence::Evidence,
    fitted::Fitted,
    words,
};

/// How often a report must be repeated while its fault stands, to state what is. Chosen.
const REPEATED: usize = 3;

/// Finds style and granularity.
pub(crate) fn fit(descriptor: &Descriptor, drills: &[Drill<'_>], fitted: &mut Fitted) {
    let kind = Kind::from(Named::Polling);
    let asked = drills.iter().filter(|drill| drill.asks("polling"));
    let all: Vec<Answer> = asked
        .flat_map(|drill| answers(descriptor, drill, &kind))
        .collect();
    let reported: Vec<&Answer> = all.iter().filter(|it| it.report.is_some()).collect();
    if let Some(longest) = reported.iter().max_by_key(|it| (it.lasted(), it.repeats)) {
        style(longest, fitted);
        granularity(&reported, longest, fitted);
    }
}

fn style(longest: &Answer, fitted: &mut Fitted) {
    let is_level = longest.repeats >= REPEATED;
    fitted.promises.style = Some(match is_level {
        true => Style::Level,
        false => Style::Edge,
    });
    let lasted = words::polls(longest.lasted());
    let came = match longest.repeats {
        0 => format!("a fault of {lasted} was reported once"),
        repeats => format!("a fault of {lasted} was reported again {repeats} times"),
    };
    note(longest, came, "style", fitted);
}

fn granularity(reported: &[&Answer], longest: &Answer, fitted: &mut Fitted) {
    let named = reported
        .iter()
        .filter_map(|it| Some(it.report.as_ref()?.subject));
    let coarsest = named.max().unwrap_or(PromisedSubject::Port);
    fitted.promises.granularity = Some(match coarsest {
        PromisedSubject::Port => Granularity::Port,
        PromisedSubject::Device | PromisedSubject::Card => Granularity::Device,
        PromisedSubject::Node => Granularity::Node,
    });
    fitted.promises.names = Some(Names::First);
    let line = longest.report.as_ref().map(|report| report.line.clone());
    note(longest, line.unwrap_or_default(), "granularity", fitted);
}

fn note(answer: &Answer, came: String, key: &'static str, fitted: &mut Fitted) {
    let evidence = Evidence {
        drill: answer.drill.clone(),
        poll: answer.report.as_ref().map(|report| report.poll),
        came,
    };
    fitted.keys.entry(key).or_default().push(evidence);
}

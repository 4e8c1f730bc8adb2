//! The nature of the reports: style and granularity. Start at [`fit`].

use observe::{
    Descriptor,
    promises::{Granularity, Kind, Named, Names, PromisedSubject, Row, Style},
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

/// Takes out of rows what decides about single events only, where style or granularity make reports alarms: whom they name,
/// and in the rows of episodes how severe they are and when they begin and end.
pub(crate) fn leave_out_of_alarms(fitted: &mut Fitted) {
    if !fitted.promises.has_alarms() {
        return;
    }
    let found = fitted.rows.iter_mut();
    let found = found.filter_map(|(kind, found)| Some((kind, found.row.as_mut()?)));
    let promised = fitted.promises.rows.iter_mut();
    found
        .chain(promised)
        .for_each(|(kind, row)| leave_out_of_row(kind, row));
}

fn leave_out_of_row(kind: &Kind, row: &mut Row) {
    let Row::Says(says) = row else { return };
    says.subject = None;
    let stays = |key| !kind.is_of_single_events(key);
    says.verdict = says.verdict.take().filter(|_| stays("verdict"));
    says.after = says.after.take().filter(|_| stays("after"));
    says.within = says.within.take().filter(|_| stays("within"));
    says.clears = says.clears.take().filter(|_| stays("clears"));
    says.restates = says.restates.take().filter(|_| stays("restates"));
    [&mut says.infiniband, &mut says.ethernet]
        .into_iter()
        .flatten()
        .for_each(|row| leave_out_of_row(kind, row));
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

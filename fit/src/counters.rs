//! Rows of counters: one for all if each is reported as the documents' table says, else one for each that was asked
//! about. Start at [`fit`].

use observe::{
    Descriptor, Promises,
    promises::{ANY_COUNTER, Clears, Kind, Lasting, Row, Says, documents_row},
};

use judge::{judge, stood};

use crate::{
    answers::{Answer, answers},
    drill::Drill,
    evidence::{Evidence, Mark},
    fitted::{Fitted, FittedRow, promising},
};

/// Finds the rows of counters.
pub(crate) fn fit(descriptor: &Descriptor, drills: &[Drill<'_>], fitted: &mut Fitted) {
    let any = Kind::Counter(ANY_COUNTER.to_owned());
    let asked: Vec<&Drill<'_>> = drills
        .iter()
        .filter(|drill| drill.asks("counter.*"))
        .collect();
    let names = |drill: &&Drill<'_>| {
        let faults = stood(drill.story, drill.truth, drill.recording, descriptor);
        let counters = faults
            .into_iter()
            .filter(|it| matches!(it.kind, Kind::Counter(_)));
        counters.map(|it| it.kind).collect::<Vec<_>>()
    };
    let mut kinds: Vec<Kind> = asked.iter().flat_map(names).collect();
    kinds.sort();
    kinds.dedup();
    let all: Vec<(Kind, Vec<Answer>)> = kinds
        .into_iter()
        .map(|kind| {
            let of_it = asked
                .iter()
                .flat_map(|drill| answers(descriptor, drill, &kind));
            let of_it = of_it.collect();
            (kind, of_it)
        })
        .collect();
    if all.is_empty() {
        return;
    }
    let evidence = |answers: &[Answer]| -> Vec<Evidence> {
        let line = |it: &Answer| Evidence {
            drill: it.drill.clone(),
            poll: it.report.as_ref().map(|report| report.poll),
            came: match (&it.report, it.clear) {
                (None, _) => format!("{} grew: nothing", it.stood.kind),
                (Some(report), Some(_)) => format!("{} and taken back", report.line),
                (Some(report), None) => format!("{} and never taken back", report.line),
            },
        };
        answers.iter().map(line).collect()
    };
    let everything: Vec<Answer> = all
        .iter()
        .flat_map(|(_, answers)| answers.clone())
        .collect();
    if everything.iter().all(|it| it.report.is_none()) {
        let drill = asked.first().map(|drill| drill.name()).unwrap_or_default();
        let came = format!("{} counters grew: nothing", all.len());
        let found = FittedRow {
            row: Some(Row::Silent),
            mark: Mark::Weaker,
            evidence: vec![Evidence {
                drill,
                poll: None,
                came,
            }],
        };
        return fitted.add(any, found);
    }
    let documents = documents_row(&any);
    let with_documents = Promises {
        rows: fitted
            .promises
            .rows
            .clone()
            .into_iter()
            .chain([(any.clone(), documents.clone())])
            .collect(),
        ..fitted.promises.clone()
    };
    let by_table = promising(descriptor, with_documents);
    let is_by_table = |drill: &&Drill<'_>| {
        judge(drill.story, drill.truth, drill.recording, &by_table)
            .findings
            .is_empty()
    };
    if asked.iter().all(is_by_table) {
        let found = FittedRow {
            row: Some(documents),
            mark: Mark::Observed,
            evidence: evidence(&everything),
        };
        return fitted.add(any, found);
    }
    for (kind, answers) in all {
        let reported: Vec<&Answer> = answers.iter().filter(|it| it.report.is_some()).collect();
        let verdict = reported
            .iter()
            .filter_map(|it| Some(it.report.as_ref()?.verdict))
            .max();
        let after = reported
            .iter()
            .filter_map(|it| Some(it.report.as_ref()?.after))
            .min();
        let never = reported.iter().any(|it| it.clear.is_none());
        let row = match verdict {
            None => Row::Silent,
            Some(verdict) => Row::Says(Box::new(Says {
                verdict: Some(verdict),
                after: after.map(|polls| Lasting::Polls(u32::try_from(polls).unwrap_or(u32::MAX))),
                clears: Some(Clears::Healed(None)),
                ..Says::default()
            })),
        };
        let mark = match (&row, never) {
            (_, true) => Mark::Suspect,
            (Row::Silent, _) => Mark::Weaker,
            _ => Mark::Observed,
        };
        let found = FittedRow {
            row: Some(row),
            mark,
            evidence: evidence(&answers),
        };
        fitted.add(kind, found);
    }
}

//! What a monitor promises less of than the documents ask, and what that hides. Start at [`Promises::conceded`].

use std::{fmt, time::Duration};

use super::{
    Clears, Kind, Lasting, Meanwhile, PromisedSubject, Promises, Restates, Row, Says, Verdict,
    documents_row,
};

/// A row that is weaker than that of the documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concession {
    /// The kind of the row.
    pub kind: Kind,
    /// What it hides, such as `reported 2 polls later`.
    pub hides: String,
    /// A scenario that shows it if the row is left out.
    pub scenario: &'static str,
}

impl fmt::Display for Concession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            hides,
            scenario,
        } = self;
        write!(f, "{kind}: {hides}; `{scenario}` shows it")
    }
}

impl Promises {
    /// The rows that are weaker than the documents', in the order of the kinds. A kind without a row is not among them: it is
    /// not judged, which a run counts.
    #[must_use]
    pub fn conceded(&self) -> Vec<Concession> {
        let of = |(kind, row): (&Kind, &Row)| {
            let hides = hidden(&documents_row(kind), row);
            let is_weaker = !hides.is_empty();
            is_weaker.then(|| Concession {
                kind: kind.clone(),
                hides: hides.join(", "),
                scenario: kind.scenario(),
            })
        };
        self.rows.iter().filter_map(of).collect()
    }
}

/// What a row hides that the documents ask for.
fn hidden(documents: &Row, own: &Row) -> Vec<String> {
    match (documents, own) {
        (Row::Silent, _) | (Row::Usual | Row::Says(_), Row::Usual) => Vec::new(),
        (Row::Usual | Row::Says(_), Row::Silent) => vec!["not reported".to_owned()],
        (Row::Usual, Row::Says(says)) => hidden_by(&Says::default(), says),
        (Row::Says(asked), Row::Says(says)) => hidden_by(asked, says),
    }
}

fn hidden_by(asked: &Says, says: &Says) -> Vec<String> {
    let second = Duration::from_secs(1);
    let ticks = |lasting: Option<Lasting>| lasting.map_or(0, |lasting| lasting.ticks(second));
    let mut hides = Vec::new();
    if let Some(after) = says.after
        && ticks(says.after) > ticks(asked.after)
    {
        hides.push(format!("reported only after it stood for {after}"));
    }
    if let Some(within) = says.within
        && within != Lasting::NOTHING
    {
        hides.push(format!("reported up to {within} late"));
    }
    if (asked.verdict, says.verdict) == (Some(Verdict::Fatal), Some(Verdict::NonFatal)) {
        hides.push("nonfatal where the documents ask for fatal".to_owned());
    }
    let whom = says.subject.and_then(|subject| match subject {
        PromisedSubject::Port => None,
        PromisedSubject::Device => Some("the device is named, and not the port"),
        PromisedSubject::Card => Some("the card is named, and not the port"),
        PromisedSubject::Node => Some("the node is named, and not the port"),
    });
    hides.extend(whom.map(str::to_owned));
    match says.clears {
        None | Some(Clears::Healed(None)) => {}
        Some(Clears::Healed(Some(within))) => {
            hides.push(format!("taken back up to {within} late"));
        }
        Some(Clears::ByCheck) => hides.push("taken back for all of its check at once".to_owned()),
        Some(Clears::ByOperator) => hides.push("not taken back by the monitor".to_owned()),
        Some(Clears::Never) => hides.push("never taken back".to_owned()),
    }
    if matches!(says.restates, Some(Restates::Nothing | Restates::Evidence))
        && says.restates != asked.restates
    {
        hides.push("what still stands is not told again".to_owned());
    }
    if says.class_folder == Some(Meanwhile::Silent) {
        hides.push("silent while the class folder is missing".to_owned());
    }
    if says.healthy == Some(Meanwhile::Silent) {
        hides.push("not said that what was added is healthy".to_owned());
    }
    let layers = [
        ("InfiniBand", &asked.infiniband, &says.infiniband),
        ("Ethernet", &asked.ethernet, &says.ethernet),
    ];
    for (layer, asked_there, own) in layers {
        let Some(own) = own else { continue };
        let whole = || Row::Says(Box::new(asked.clone()));
        let asked_there = asked_there.clone().unwrap_or_else(whole);
        let there = hidden(&asked_there, own).into_iter();
        hides.extend(there.map(|what| format!("{what} on {layer}")));
    }
    hides
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conceded(kind: &str, row: Row) -> Vec<String> {
        let kind = Kind::parse(kind).expect("it is a kind");
        let promises = Promises {
            rows: [(kind, row)].into(),
            ..Promises::default()
        };
        promises
            .conceded()
            .into_iter()
            .map(|it| format!("{}: {} ({})", it.kind, it.hides, it.scenario))
            .collect()
    }

    #[test]
    fn a_row_that_asks_for_less_says_what_it_hides() {
        let late = Says {
            after: Some(Lasting::Polls(2)),
            clears: Some(Clears::Never),
            ..Says::default()
        };
        let told = conceded("gone_device", Row::Says(Box::new(late)));
        let expected = "gone_device: reported only after it stood for 2 polls, never taken back (device/vanishes-and-returns)";
        assert_eq!(told, [expected]);
        let told = conceded("card", Row::Silent);
        assert_eq!(told, ["card: not reported (card/one-card-down-at-start)"]);
    }

    #[test]
    fn the_documents_rows_hide_nothing_of_what_they_ask() {
        for (word, ..) in Kind::words() {
            let kind = Kind::parse(word).expect("it is a kind");
            assert_eq!(
                conceded(word, documents_row(&kind)),
                <[String; 0]>::default()
            );
        }
        assert_eq!(conceded("slow", Row::Silent), <[String; 0]>::default());
    }
}

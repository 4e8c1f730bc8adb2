//! What a monitor promises less of than the documents ask, and what that hides. Start at [`Promises::conceded`].

use std::{fmt, time::Duration};

use super::{
    ANY_COUNTER, Clears, Kind, Lasting, Levels, Meanwhile, PromisedSubject, Promises, Restates,
    Row, Says, Verdict, WhileUnreadable, documents_row,
};

/// A row that is weaker than that of the documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concession {
    /// The kind of the row.
    pub kind: Kind,
    /// What it hides in few words, such as `later`.
    pub in_short: String,
    /// What it hides, such as `reported up to 2 polls late`.
    pub hides: String,
    /// A scenario that shows it where the documents' rows hold.
    pub scenario: &'static str,
}

impl fmt::Display for Concession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            hides,
            scenario,
            ..
        } = self;
        write!(f, "{kind}: {hides}; `{scenario}` shows it")
    }
}

/// Something that a row hides.
struct Hidden {
    in_short: &'static str,
    what: String,
    /// A scenario that shows it, if the kind's own does not.
    scenario: Option<&'static str>,
}

impl Hidden {
    fn new(in_short: &'static str, what: impl Into<String>) -> Self {
        Self {
            in_short,
            what: what.into(),
            scenario: None,
        }
    }

    fn shown_by(self, scenario: &'static str) -> Self {
        Self {
            scenario: Some(scenario),
            ..self
        }
    }
}

impl Promises {
    /// The rows that are weaker than the documents', in the order of the kinds. A kind without a row is not among them: it is
    /// not judged, which a run counts.
    #[must_use]
    pub fn conceded(&self) -> Vec<Concession> {
        let of = |(kind, row): (&Kind, &Row)| {
            let hidden = hidden(&documents_row(kind), row);
            let first = hidden.first()?;
            let scenario = first.scenario.unwrap_or(kind.scenario());
            let mut in_short: Vec<&str> = hidden.iter().map(|it| it.in_short).collect();
            in_short.dedup();
            let hides: Vec<&str> = hidden.iter().map(|it| it.what.as_str()).collect();
            Some(Concession {
                kind: kind.clone(),
                in_short: in_short.join(", "),
                hides: hides.join(", "),
                scenario,
            })
        };
        self.rows.iter().filter_map(of).collect()
    }

    /// These promises with the documents' row for every kind, also for one that has none. Style, granularity, scope and wire
    /// stay.
    #[must_use]
    pub fn by_documents(&self) -> Self {
        let named = Kind::words().filter_map(|(word, ..)| Kind::parse(word));
        let kinds = named.chain([Kind::Counter(ANY_COUNTER.to_owned())]);
        let rows = kinds.map(|kind| {
            let row = documents_row(&kind);
            (kind, row)
        });
        Self {
            rows: rows.collect(),
            ..self.clone()
        }
    }
}

/// What a row hides that the documents ask for.
fn hidden(documents: &Row, own: &Row) -> Vec<Hidden> {
    match (documents, own) {
        (Row::Silent, _) | (Row::Usual | Row::Says(_), Row::Usual) => Vec::new(),
        (Row::Usual | Row::Says(_), Row::Silent) => vec![Hidden::new("silent", "not reported")],
        (Row::Usual, Row::Says(says)) => hidden_by(&Says::default(), says),
        (Row::Says(asked), Row::Says(says)) => hidden_by(asked, says),
    }
}

fn hidden_by(asked: &Says, says: &Says) -> Vec<Hidden> {
    let mut hides = late(asked, says);
    if (asked.verdict, says.verdict) == (Some(Verdict::Fatal), Some(Verdict::NonFatal)) {
        let what = "nonfatal where the documents ask for fatal";
        hides.push(Hidden::new("milder", what));
    }
    let whom = says.subject.and_then(|subject| match subject {
        PromisedSubject::Port => None,
        PromisedSubject::Device => Some("the device is named, and not the port"),
        PromisedSubject::Card => Some("the card is named, and not the port"),
        PromisedSubject::Node => Some("the node is named, and not the port"),
    });
    hides.extend(whom.map(|whom| Hidden::new("not by port", whom)));
    hides.extend(cleared(says));
    if matches!(says.restates, Some(Restates::Nothing | Restates::Evidence))
        && says.restates != asked.restates
    {
        let told = Hidden::new("not told again", "what still stands is not told again");
        // There the peers are no evidence.
        hides.push(told.shown_by("reboot/still-broken-without-peers"));
    }
    if says.class_folder == Some(Meanwhile::Silent) {
        let what = "silent while the class folder is missing";
        let silent = Hidden::new("silent without class folder", what);
        hides.push(silent.shown_by("device/driver-reload-with-names-swapped"));
    }
    if says.healthy == Some(Meanwhile::Silent) {
        let what = "not said that what was added is healthy";
        hides.push(Hidden::new("silent if healthy", what));
    }
    if asked.when.is_some() && says.unreadable == Some(WhileUnreadable::Waits) {
        let what = "not compared while a device cannot be read";
        let waits = Hidden::new("not while unreadable", what);
        hides.push(waits.shown_by("card/an-unreadable-card-is-not-counted"));
    }
    if says.levels == Some(Levels::Any) {
        let what = "metadata with a level that nobody knows are not refused";
        let any = Hidden::new("any level", what);
        hides.push(any.shown_by("start/unknown-topology-level"));
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
        hides.extend(there.map(|it| Hidden {
            what: format!("{} on {layer}", it.what),
            ..it
        }));
    }
    hides
}

/// What a row hides by coming late.
fn late(asked: &Says, says: &Says) -> Vec<Hidden> {
    let second = Duration::from_secs(1);
    let ticks = |lasting: Option<Lasting>| lasting.map_or(0, |lasting| lasting.ticks(second));
    let mut hides = Vec::new();
    if let Some(after) = says.after
        && ticks(says.after) > ticks(asked.after)
    {
        let what = format!("reported only after it stood for {after}");
        hides.push(Hidden::new("later", what));
    }
    if let Some(within) = says.within
        && within != Lasting::NOTHING
    {
        hides.push(Hidden::new(
            "later",
            format!("reported up to {within} late"),
        ));
    }
    hides
}

/// What a row hides of the end of a fault.
fn cleared(says: &Says) -> Option<Hidden> {
    match says.clears {
        None | Some(Clears::Healed(None)) => None,
        Some(Clears::Healed(Some(within))) => {
            let what = format!("taken back up to {within} late");
            Some(Hidden::new("cleared later", what))
        }
        Some(Clears::ByCheck) => {
            let what = "taken back for all of its check at once";
            Some(Hidden::new("cleared by check", what))
        }
        Some(Clears::ByOperator) => {
            Some(Hidden::new("not cleared", "not taken back by the monitor"))
        }
        Some(Clears::Never) => Some(Hidden::new("never cleared", "never taken back")),
    }
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
        let waits = Says {
            unreadable: Some(WhileUnreadable::Waits),
            ..Says::default()
        };
        let told = conceded("card", Row::Says(Box::new(waits.clone())));
        let expected = "card: not compared while a device cannot be read (card/an-unreadable-card-is-not-counted)";
        assert_eq!(told, [expected]);
        let none: [String; 0] = [];
        assert_eq!(conceded("reboot", Row::Says(Box::new(waits))), none);
    }

    #[test]
    fn what_a_row_hides_has_a_short_word_once() {
        let late = Says {
            after: Some(Lasting::Polls(2)),
            within: Some(Lasting::Polls(1)),
            verdict: Some(Verdict::NonFatal),
            ..Says::default()
        };
        let promises = Promises {
            rows: [(
                Kind::Named(super::super::Named::Polling),
                Row::Says(Box::new(late)),
            )]
            .into(),
            ..Promises::default()
        };
        assert_eq!(promises.conceded()[0].in_short, "later, milder");
    }

    #[test]
    fn by_the_documents_every_kind_has_a_row_and_none_is_weaker() {
        let promises = Promises {
            rows: [(Kind::Named(super::super::Named::Polling), Row::Silent)].into(),
            lost_publish: Some(crate::promises::LostPublish::Lost),
            ..Promises::default()
        };
        assert_eq!(promises.conceded().len(), 1);
        let by_documents = promises.by_documents();
        assert_eq!(by_documents.conceded(), []);
        assert_eq!(by_documents.rows.len(), Kind::words().count() + 1);
        assert_eq!(by_documents.lost_publish, promises.lost_publish);
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

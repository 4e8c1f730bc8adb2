//! What a monitor promises less of than the documents ask, and what that hides. Start at [`Promises::conceded`].

use std::{fmt, time::Duration};

use terms::Severity;

use super::{
    ANY_COUNTER, Clears, Kind, Lasting, Levels, Meanwhile, Named, PromisedSubject, Promises,
    Restates, Row, Says, WhileUnreadable, documents_row,
};

/// A kind about which less is promised than the documents ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concession {
    /// The kind.
    pub kind: Kind,
    /// Whether a row says so. A kind without one is not judged at all.
    pub has_row: bool,
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
    /// The rows that are weaker than the documents', in the order of the kinds, and then the kinds without a row, of which
    /// nothing is judged. Nothing is conceded by promises without any row: they are judged by the laws alone.
    #[must_use]
    pub fn conceded(&self) -> Vec<Concession> {
        let of = |(kind, row): (&Kind, &Row)| {
            let hidden = hidden(kind, &documents_row(kind), row);
            let first = hidden.first()?;
            let scenario = first.scenario.unwrap_or(kind.scenario());
            let mut in_short: Vec<&str> = hidden.iter().map(|it| it.in_short).collect();
            in_short.dedup();
            let hides: Vec<&str> = hidden.iter().map(|it| it.what.as_str()).collect();
            Some(Concession {
                kind: kind.clone(),
                has_row: true,
                in_short: in_short.join(", "),
                hides: hides.join(", "),
                scenario,
            })
        };
        let without = all_kinds().filter(|kind| {
            let asks = documents_row(kind) != Row::Silent;
            asks && !self.is_empty() && self.row(kind, None).is_none()
        });
        let without = without.map(|kind| Concession {
            has_row: false,
            in_short: "not judged".to_owned(),
            hides: "no row, so that nothing is judged".to_owned(),
            scenario: kind.scenario(),
            kind,
        });
        self.rows.iter().filter_map(of).chain(without).collect()
    }

    /// These promises with the documents' row for every kind, also for one that has none. Style, granularity, scope and wire
    /// stay.
    #[must_use]
    pub fn by_documents(&self) -> Self {
        let rows = all_kinds().map(|kind| {
            let row = documents_row(&kind);
            (kind, row)
        });
        Self {
            rows: rows.collect(),
            ..self.clone()
        }
    }
}

/// Every kind with a name of its own, and the counters together.
fn all_kinds() -> impl Iterator<Item = Kind> {
    let named = Kind::words().filter_map(|(word, ..)| Kind::parse(word));
    named.chain([Kind::Counter(ANY_COUNTER.to_owned())])
}

/// What a row hides that the documents ask for.
fn hidden(kind: &Kind, documents: &Row, own: &Row) -> Vec<Hidden> {
    match (documents, own) {
        (Row::Silent, _) | (Row::Usual | Row::Says(_), Row::Usual) => Vec::new(),
        // It sees none.
        (Row::Says(_), Row::Silent) if *kind == Named::Reboot.into() => {
            let what = "no reboot is seen, so that nothing that follows from one is judged";
            vec![Hidden::new("not judged", what)]
        }
        (Row::Usual | Row::Says(_), Row::Silent) => vec![Hidden::new("silent", "not reported")],
        (Row::Usual, Row::Says(says)) => hidden_by(kind, &Says::default(), says),
        (Row::Says(asked), Row::Says(says)) => hidden_by(kind, asked, says),
    }
}

fn hidden_by(kind: &Kind, asked: &Says, says: &Says) -> Vec<Hidden> {
    let mut hides = late(kind, asked, says);
    if (asked.verdict, says.verdict) == (Some(Severity::Fatal), Some(Severity::NonFatal)) {
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
        let there = hidden(kind, &asked_there, own).into_iter();
        // The kind's own has InfiniBand ports only.
        let of_ethernet = *kind == Named::Persists.into() && layer == "Ethernet";
        let shows = of_ethernet.then_some("port/active-but-disabled");
        hides.extend(there.map(|it| Hidden {
            what: format!("{} on {layer}", it.what),
            scenario: it.scenario.or(shows),
            ..it
        }));
    }
    hides
}

/// What a row hides by coming late.
fn late(kind: &Kind, asked: &Says, says: &Says) -> Vec<Hidden> {
    let second = Duration::from_secs(1);
    let ticks = |lasting: Option<Lasting>| lasting.map_or(0, |lasting| lasting.ticks(second));
    let mut hides = Vec::new();
    if let Some(after) = says.after
        && ticks(says.after) > ticks(asked.after)
    {
        let what = format!("reported only after it stood for {after}");
        let later = Hidden::new("later", what);
        // What is on its way up is waited for.
        let of_first_poll = *kind == Named::FirstPoll.into();
        let shows = of_first_poll.then_some("card/waits-for-training");
        hides.push(Hidden {
            scenario: shows,
            ..later
        });
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
        let conceded = promises.conceded().into_iter();
        conceded
            .filter(|it| it.has_row)
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
        let told = conceded("reboot", Row::Silent);
        let expected = "reboot: no reboot is seen, so that nothing that follows from one is judged (reboot/still-broken-after-reboot)";
        assert_eq!(told, [expected]);
    }

    #[test]
    fn what_a_row_hides_has_a_short_word_once() {
        let late = Says {
            after: Some(Lasting::Polls(2)),
            within: Some(Lasting::Polls(1)),
            verdict: Some(Severity::NonFatal),
            ..Says::default()
        };
        let promises = Promises {
            rows: [(Kind::Named(Named::Polling), Row::Says(Box::new(late)))].into(),
            ..Promises::default()
        };
        assert_eq!(promises.conceded()[0].in_short, "later, milder");
    }

    #[test]
    fn by_the_documents_every_kind_has_a_row_and_none_is_weaker() {
        let promises = Promises {
            rows: [(Kind::Named(Named::Polling), Row::Silent)].into(),
            lost_publish: Some(crate::promises::LostPublish::Lost),
            ..Promises::default()
        };
        let with_row = promises.conceded().into_iter().filter(|it| it.has_row);
        assert_eq!(with_row.count(), 1);
        let by_documents = promises.by_documents();
        assert_eq!(by_documents.conceded(), []);
        assert_eq!(by_documents.rows.len(), Kind::words().count() + 1);
        assert_eq!(by_documents.lost_publish, promises.lost_publish);
    }

    #[test]
    fn a_scenario_is_named_that_shows_what_is_hidden() {
        let silent = |layer: fn(Row) -> Says| Row::Says(Box::new(layer(Row::Silent)));
        let of_ethernet = silent(|row| Says {
            ethernet: Some(row),
            ..Says::default()
        });
        assert_eq!(
            conceded("persists", of_ethernet),
            ["persists: not reported on Ethernet (port/active-but-disabled)"]
        );
        let of_infiniband = silent(|row| Says {
            infiniband: Some(row),
            ..Says::default()
        });
        assert_eq!(
            conceded("persists", of_infiniband),
            ["persists: not reported on InfiniBand (port/link-error-recovery-persists)"]
        );
        assert_eq!(
            conceded("first_poll", Row::Silent),
            ["first_poll: not reported (card/one-card-down-at-start)"]
        );
        let patient = Says {
            after: Some(Lasting::Polls(99)),
            ..Says::default()
        };
        assert_eq!(
            conceded("first_poll", Row::Says(Box::new(patient))),
            ["first_poll: reported only after it stood for 99 polls (card/waits-for-training)"]
        );
    }

    /// A kind without a row hides all of its faults; one that the documents leave silent hides none.
    #[test]
    fn a_kind_without_a_row_is_conceded_after_the_rows() {
        let promises = Promises {
            rows: [(Kind::Named(Named::Polling), Row::Silent)].into(),
            ..Promises::default()
        };
        let conceded = promises.conceded();
        assert_eq!(
            (conceded[0].kind.to_string().as_str(), conceded[0].has_row),
            ("polling", true)
        );
        let without: Vec<String> = conceded[1..].iter().map(|it| it.kind.to_string()).collect();
        assert!(conceded[1..].iter().all(|it| !it.has_row));
        // All but `polling` and `slow`, and the counters.
        assert_eq!(without.len(), Kind::words().count() - 2 + 1);
        assert!(!without.contains(&"slow".to_owned()), "{without:?}");
        assert_eq!(without.last().map(String::as_str), Some("counter.*"));
        assert_eq!(Promises::default().conceded(), []);
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

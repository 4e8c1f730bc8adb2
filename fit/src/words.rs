//! Promises in the words of a descriptor. Start at [`row`].

use observe::promises::{
    Back, Clears, Compared, Garbled, KnownBy, Lasting, Levels, Meanwhile, OverRestart,
    PromisedSubject, Restates, Row, Says, WhileUnreadable,
};

/// A row as the value of its key.
pub(crate) fn row(row: &Row) -> String {
    match row {
        Row::Silent => "silent".to_owned(),
        Row::Usual => "usual".to_owned(),
        Row::Says(says) => says_words(says),
    }
}

fn says_words(says: &Says) -> String {
    let fields = [
        ("verdict", says.verdict.map(|it| it.to_string())),
        ("subject", says.subject.map(|it| subject(it).to_owned())),
        ("when", says.when.map(|it| compared(it).to_owned())),
        ("after", says.after.map(lasting)),
        ("within", says.within.map(lasting)),
        ("clears", says.clears.map(clears)),
        ("restates", says.restates.map(|it| restates(it).to_owned())),
        ("ports", says.ports.map(|it| meanwhile(it).to_owned())),
        ("back", says.back.map(|it| back(it).to_owned())),
        (
            "class_folder",
            says.class_folder.map(|it| meanwhile(it).to_owned()),
        ),
        ("garbled", says.garbled.map(|it| garbled(it).to_owned())),
        (
            "unreadable",
            says.unreadable.map(|it| unreadable(it).to_owned()),
        ),
        ("levels", says.levels.map(|it| levels(it).to_owned())),
        ("known_by", says.known_by.map(|it| known_by(it).to_owned())),
        ("healthy", says.healthy.map(|it| meanwhile(it).to_owned())),
        (
            "over_restart",
            says.over_restart.map(|it| over_restart(it).to_owned()),
        ),
        ("infiniband", says.infiniband.as_ref().map(row)),
        ("ethernet", says.ethernet.as_ref().map(row)),
    ];
    let fields: Vec<String> = fields
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key}: {}", value?)))
        .collect();
    match fields.is_empty() {
        true => "{}".to_owned(),
        false => format!("{{ {} }}", fields.join(", ")),
    }
}

fn subject(subject: PromisedSubject) -> &'static str {
    match subject {
        PromisedSubject::Port => "port",
        PromisedSubject::Device => "device",
        PromisedSubject::Card => "card",
        PromisedSubject::Node => "node",
    }
}

fn compared(compared: Compared) -> &'static str {
    match compared {
        Compared::FirstPoll => "first_poll",
        Compared::EveryPoll => "every_poll",
    }
}

fn clears(clears: Clears) -> String {
    match clears {
        Clears::Healed(None) => "healed".to_owned(),
        Clears::Healed(Some(within)) => format!("{{ within: {} }}", lasting(within)),
        Clears::ByCheck => "by_check".to_owned(),
        Clears::ByOperator => "by_operator".to_owned(),
        Clears::Never => "never".to_owned(),
    }
}

fn restates(restates: Restates) -> &'static str {
    match restates {
        Restates::All => "all",
        Restates::Evidence => "evidence",
        Restates::Nothing => "nothing",
    }
}

fn meanwhile(meanwhile: Meanwhile) -> &'static str {
    match meanwhile {
        Meanwhile::Silent => "silent",
        Meanwhile::Reported => "reported",
    }
}

fn back(back: Back) -> &'static str {
    match back {
        Back::Whole => "whole",
        Back::AnyPort => "any_port",
    }
}

fn garbled(garbled: Garbled) -> &'static str {
    match garbled {
        Garbled::Unreadable => "unreadable",
        Garbled::State => "state",
    }
}

fn unreadable(unreadable: WhileUnreadable) -> &'static str {
    match unreadable {
        WhileUnreadable::Waits => "waits",
        WhileUnreadable::Missing => "missing",
    }
}

fn levels(levels: Levels) -> &'static str {
    match levels {
        Levels::Known => "known",
        Levels::Any => "any",
    }
}

fn known_by(known_by: KnownBy) -> &'static str {
    match known_by {
        KnownBy::Place => "place",
        KnownBy::Name => "name",
    }
}

fn over_restart(over_restart: OverRestart) -> &'static str {
    match over_restart {
        OverRestart::LastRead => "last_read",
        OverRestart::LastWritten => "last_written",
    }
}

/// So many polls.
pub(crate) fn polls(polls: u64) -> String {
    match polls {
        1 => "1 poll".to_owned(),
        polls => format!("{polls} polls"),
    }
}

/// A length of time, as a descriptor has it.
fn lasting(lasting: Lasting) -> String {
    match lasting {
        Lasting::Polls(_) => lasting.to_string(),
        Lasting::Time(span) if span.0.subsec_millis() == 0 => format!("{}s", span.0.as_secs()),
        Lasting::Time(span) => format!("{}ms", span.0.as_millis()),
    }
}

//! Checks a descriptor with the alert rules that it names: what is right is read once for all that is to be said of it. Start
//! at [`look`].

use std::path::Path;

use observe::{Descriptor, Span};

use super::mistake::Mistake;
use crate::{
    alert_rules::{self, EvaluationError},
    descriptors,
    read_files::{Library, ReadError, monitor_in, text_of},
};

/// What is to be said of a descriptor.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) mistakes: Vec<Mistake>,
    /// Why the expressions of its alert rules could not be looked at.
    pub(super) unlooked: Option<EvaluationError>,
    /// That no platform has a card of its vendors.
    pub(super) nobody: Option<String>,
    /// To which alerts it gives no meaning.
    pub(super) unmeant: Option<String>,
}

/// Looks at the text of a descriptor, and at the alert rules beside its file if it has one.
pub(super) fn look(name: &str, text: &str, library: &Library) -> Looked {
    let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    if !is_yaml || !Path::new(name).is_file() {
        return alone(name, text, library);
    }
    match monitor_in(name, text, library) {
        Ok(descriptor) => with_rules(name, &descriptor, library),
        Err(error) => refused(error, alone(name, text, library), name),
    }
}

/// What is to be said of a descriptor by itself.
fn alone(name: &str, text: &str, library: &Library) -> Looked {
    let mistakes = descriptors::mistakes(name, text, library);
    let read = descriptors::read_for(name, text, library).ok();
    Looked {
        mistakes: mistakes.iter().map(Mistake::from).collect(),
        nobody: read.and_then(|descriptor| vendors_of_nobody(name, &descriptor, library)),
        ..Looked::default()
    }
}

/// What is to be said of a descriptor that can be read with its rules.
fn with_rules(name: &str, descriptor: &Descriptor, library: &Library) -> Looked {
    let nobody = vendors_of_nobody(name, descriptor, library);
    let Some(prometheus) = &descriptor.prometheus else {
        return Looked {
            nobody,
            ..Looked::default()
        };
    };
    let every = Some(prometheus.evaluation_interval);
    let (mistakes, unlooked) = of_rules(name, &prometheus.rules, &prometheus.rules_text, every);
    let unmeant = alert_rules::without_meaning(descriptor);
    Looked {
        mistakes,
        unlooked,
        nobody,
        unmeant: unmeant.map(|what| format!("{name}: {what}")),
    }
}

/// What is to be said of a descriptor that cannot be read with its rules: its own mistakes, or else those of the rules.
fn refused(error: ReadError, alone: Looked, name: &str) -> Looked {
    if !alone.mistakes.is_empty() {
        return alone;
    }
    let (mistakes, unlooked) = match error {
        ReadError::File(error) if error.file != *name => {
            let text = text_of(Path::new(&error.file)).unwrap_or_default();
            let (mut mistakes, unlooked) = of_rules(name, &error.file, &text, None);
            if mistakes.is_empty() {
                mistakes.push(Mistake::elsewhere(name, &error));
            }
            (mistakes, unlooked)
        }
        ReadError::File(error) => (vec![Mistake::from(&error)], None),
        error => (vec![Mistake::elsewhere(name, &error)], None),
    };
    Looked {
        mistakes,
        unlooked,
        ..alone
    }
}

/// The mistakes in the alert rules that a descriptor names, and why their expressions could not be looked at.
fn of_rules(
    name: &str,
    rules: &str,
    text: &str,
    every: Option<Span>,
) -> (Vec<Mistake>, Option<EvaluationError>) {
    let (wrong, unlooked) = alert_rules::mistakes(rules, text, every);
    let mistakes = wrong.iter();
    let mistakes = mistakes.map(|error| Mistake::elsewhere(name, error));
    (mistakes.collect(), unlooked)
}

/// What is to be said of a descriptor by whose vendors no platform has a card: nothing can be drilled with it.
fn vendors_of_nobody(name: &str, descriptor: &Descriptor, library: &Library) -> Option<String> {
    let vendors = descriptor.monitored_vendors();
    let is_known = library.platforms.iter().any(|(_, platform)| {
        let mut models = platform.profile().models.values();
        models.any(|model| vendors.contains(&model.vendor))
    });
    let ids: Vec<String> = vendors.iter().map(|id| format!("{id:#06x}")).collect();
    (!is_known).then(|| {
        format!(
            "{name}: no platform here has a card of the vendors that it monitors ({}), so no drill fits: check it beside a platform with one",
            ids.join(", ")
        )
    })
}

//! The counters that a promise or a need can be about: those of the documents, the files of the drivers, and those that
//! a configuration names. Start at [`unknown`].

use std::{borrow::Cow, collections::BTreeSet};

use observe::promises::{ANY_COUNTER, Kind};
use platforms::{Driver, Platforms};

use crate::{near, read_files::Library};

/// Those of these kinds that are about a counter that nobody knows: kind, problem and hint. `library` has the drivers and
/// scenarios of the run, or only the shipped drivers count; `own` is the configuration of the monitor.
pub(crate) fn unknown<'k>(
    kinds: impl IntoIterator<Item = &'k Kind>,
    library: Option<&Library>,
    own: &str,
) -> Vec<(&'k Kind, String, String)> {
    let documents = judge::documents_counters();
    let unknown = kinds.into_iter().filter_map(|kind| match kind {
        Kind::Counter(name) if name == ANY_COUNTER || documents.contains(&name.as_str()) => None,
        Kind::Counter(name) => Some((kind, name)),
        Kind::Named(_) => None,
    });
    let unknown: Vec<(&Kind, &String)> = unknown.collect();
    if unknown.is_empty() {
        // The drivers are read only if they are needed.
        return Vec::new();
    }
    let platforms = library.map_or_else(
        || Cow::Owned(Platforms::shipped()),
        |library| Cow::Borrowed(&library.platforms),
    );
    let of_drivers: BTreeSet<&str> = platforms
        .iter()
        .flat_map(|(_, platform)| platform.drivers())
        .flat_map(Driver::counter_files)
        .map(|file| file.name.as_str())
        .collect();
    let scenarios = library.iter().flat_map(|library| &library.scenarios);
    let scenarios: Vec<&str> = scenarios.map(|scenario| scenario.text.as_str()).collect();
    let is_configured = |name: &str| {
        let quoted = format!("\"{name}\"");
        own.contains(&quoted) || scenarios.iter().any(|text| text.contains(&quoted))
    };
    let known: BTreeSet<&str> = documents
        .iter()
        .copied()
        .chain(of_drivers.clone())
        .collect();
    let known: Vec<&str> = known.into_iter().collect();
    let all = near::quoted(&documents);
    let is_unknown = |name: &str| !of_drivers.contains(name) && !is_configured(name);
    let unknown = unknown.into_iter().filter(|(_, name)| is_unknown(name));
    let told = unknown.map(|(kind, name)| {
        // The names are compared without the word that all of them begin with.
        let near = near::names(name, &known).into_iter();
        let near: Vec<String> = near
            .map(|name| Kind::Counter(name.to_owned()).to_string())
            .collect();
        let near: Vec<&str> = near.iter().map(String::as_str).collect();
        let near = near::did_you_mean(&near);
        let near = near.map_or_else(String::new, |near| format!("{near} "));
        let hint = format!(
            "{near}the documents' counters are {}; files of a driver and counters of a configuration can stand here too, and \
             `counter.*` is about all",
            all.join(", ")
        );
        (kind, format!("there is no counter `{name}`"), hint)
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::of_all("counter.*", None)]
    #[case::of_the_documents("counter.symbol_error_fatal", None)]
    #[case::of_a_driver("counter.port_rcv_data", None)]
    #[case::of_the_own_configuration("counter.mine", None)]
    #[case::no_counter("gone_device", None)]
    #[case::misspelt(
        "counter.symbol_eror",
        Some("did you mean `counter.symbol_error`? the documents' counters are `excessive")
    )]
    #[case::of_another_world("counter.weather", Some("the documents' counters are `excessive"))]
    fn a_counter_is_known_by_the_documents_a_driver_or_a_configuration(
        #[case] word: &str,
        #[case] hint: Option<&str>,
    ) {
        let kinds = [Kind::parse(word).expect("it is a kind")];
        let unknown = unknown(&kinds, None, "[[counters]]\nname = \"mine\"\n");
        let told = unknown.first().map(|(.., hint)| hint.as_str());
        match hint {
            None => assert_eq!(told, None),
            Some(hint) => assert!(told.is_some_and(|told| told.starts_with(hint)), "{told:?}"),
        }
    }

    #[test]
    fn a_counter_that_a_scenario_configures_is_known_in_its_library() {
        let library = Library::read(&[], &[]).expect("the suite can be read");
        let text = &library.scenarios[0].text;
        let quoted = text.split('"').nth(1);
        let kinds = [Kind::Counter(quoted.unwrap_or("link_downed").to_owned())];
        assert_eq!(unknown(&kinds, Some(&library), ""), Vec::new());
        let none = [Kind::Counter("weather".to_owned())];
        assert!(!unknown(&none, Some(&library), "").is_empty());
    }
}

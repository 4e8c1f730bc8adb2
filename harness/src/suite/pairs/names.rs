//! The names of a selection: what they stand for, and the refusal of those that stand for nothing. Start at
//! [`every_name_means_something`].

use reports::Glob;

use super::{Ask, Filter};
use crate::{near, read_files::Library};

/// An invalid selection.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// An unknown name.
    #[error("there is no {what} `{name}`\nhint: {hint}")]
    Unknown {
        /// The kind of thing that was named.
        what: &'static str,
        /// The name.
        name: String,
        /// The hint.
        hint: String,
    },
    /// A scenario that is wrong in every world.
    #[error(transparent)]
    Scenario(#[from] scenarios::ScenarioError),
}

/// Refuses a name of which neither a scenario nor a platform is meant.
pub(super) fn every_name_means_something(library: &Library, ask: &Ask) -> Result<(), SelectError> {
    let scenarios: Vec<&str> = library
        .scenarios
        .iter()
        .map(|scenario| scenario.name.as_str())
        .collect();
    let worlds = library.worlds.iter().map(scenarios::World::name);
    let platforms: Vec<&str> = library
        .platforms
        .iter()
        .map(|(name, _)| name)
        .chain(worlds)
        .collect();
    let filtered = ask.filter.iter().flat_map(Filter::platforms);
    for name in filtered.chain(ask.platforms.iter().cloned()) {
        let name = &name;
        if !platforms.iter().any(|platform| on(name, platform)) {
            return Err(unknown(
                "platform",
                name,
                &platforms,
                "`nicdrill platform list` lists them",
            ));
        }
    }
    for name in &ask.names {
        let (scenario, platform) = match name.rsplit_once('@') {
            Some(both) if !scenarios.contains(&name.as_str()) => both,
            _ => (name.as_str(), "*"),
        };
        let glob = Glob::new(scenario);
        if !scenarios
            .iter()
            .any(|name| glob.fits(name) || glob.fits(family(name)))
        {
            let families = scenarios.iter().map(|name| family(name));
            let known: Vec<&str> = scenarios.iter().copied().chain(families).collect();
            return Err(unknown(
                "scenario",
                scenario,
                &known,
                "`nicdrill list` lists them",
            ));
        }
        let glob = Glob::new(platform.strip_suffix(':').unwrap_or(platform));
        if !platforms.iter().any(|platform| glob.fits(platform)) {
            return Err(unknown(
                "platform",
                platform,
                &platforms,
                "`nicdrill platform list` lists them",
            ));
        }
    }
    Ok(())
}

fn unknown(what: &'static str, name: &str, known: &[&str], list: &str) -> SelectError {
    let hint = match near::did_you_mean(&near::names(name, known)) {
        Some(near) => format!("{near} {list}"),
        None => list.to_owned(),
    };
    SelectError::Unknown {
        what,
        name: name.to_owned(),
        hint,
    }
}

/// Whether a platform is meant by a name: by its own, or by that of the platform that it is a variant of. A name that ends
/// with a colon means no variant.
pub(super) fn on(name: &str, platform: &str) -> bool {
    if let Some(base) = name.strip_suffix(':') {
        return !platform.contains(':') && Glob::new(base).fits(platform);
    }
    let glob = Glob::new(name);
    glob.fits(platform) || glob.fits(platform.split(':').next().unwrap_or_default())
}

/// Whether a drill is meant by its full name. A name that ends with a colon means no variant, as that of a platform.
pub(super) fn is_named(name: &str, drill: &str) -> bool {
    match name.strip_suffix(':') {
        Some(base) => !drill.contains(':') && Glob::new(base).fits(drill),
        None => Glob::new(name).fits(drill),
    }
}

/// The family of a scenario.
pub(super) fn family(scenario: &str) -> &str {
    scenario.split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("dgx-h100", &["dgx-h100", "dgx-h100:ib-storage"])]
    #[case("dgx-h100:", &["dgx-h100"])]
    #[case("dgx-h100:ib-storage", &["dgx-h100:ib-storage"])]
    #[case("dgx-*", &["dgx-h100", "dgx-h100:ib-storage", "dgx-a100"])]
    #[case("*:", &["dgx-h100", "dgx-a100"])]
    fn a_name_means_variants_unless_a_colon_ends_it(#[case] name: &str, #[case] meant: &[&str]) {
        let all = ["dgx-h100", "dgx-h100:ib-storage", "dgx-a100"];
        let found: Vec<&str> = all.into_iter().filter(|it| on(name, it)).collect();
        assert_eq!(found, meant);
    }

    #[rstest]
    #[case("port/x@dgx-h100", &["port/x@dgx-h100"])]
    #[case("port/x@dgx-h100:", &["port/x@dgx-h100"])]
    #[case("port/x@dgx-h100:ib-storage", &["port/x@dgx-h100:ib-storage"])]
    #[case("port/x@dgx-*:", &["port/x@dgx-h100"])]
    #[case("port/x@dgx-*", &["port/x@dgx-h100", "port/x@dgx-h100:ib-storage"])]
    fn a_drill_is_named_with_its_variant(#[case] name: &str, #[case] meant: &[&str]) {
        let all = ["port/x@dgx-h100", "port/x@dgx-h100:ib-storage"];
        let found: Vec<&str> = all.into_iter().filter(|it| is_named(name, it)).collect();
        assert_eq!(found, meant);
    }
}

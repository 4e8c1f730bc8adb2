//! What a run was asked for, apart from where its results go, how they are told, which shard of it is played and how many
//! drills at once: two runs with the same words give the same results, and shards with the same words are those of one run.
//! Start at [`asked`].

use std::ffi::OsString;

/// The arguments that say where results go, how they are told, which shard is played or how many drills at once, and that have
/// a value.
const ELSEWHERE: [&str; 6] = [
    "--color",
    "--jobs",
    "--out",
    "--report",
    "--shard",
    "--slowest",
];

/// Those that say how results are told, and that have none.
const TOLD: [&str; 6] = [
    "--not-judged",
    "--quiet",
    "--replace-out",
    "--verbose",
    "-q",
    "-v",
];

/// These words of a command line without those.
pub(super) fn asked<'w>(words: impl IntoIterator<Item = &'w OsString>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        let is_one = |of: &str| {
            word.strip_prefix(of)
                .is_some_and(|rest| rest.starts_with('='))
        };
        if ELSEWHERE.contains(&&*word) {
            words.next();
        } else if !TOLD.contains(&&*word) && !ELSEWHERE.into_iter().any(is_one) {
            kept.push(word.into_owned());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Arguments;

    /// Which flags of `run` have a value, the command line says: a list that is another one takes a path for a value, or a
    /// value for a path.
    #[test]
    fn a_flag_that_is_left_out_goes_with_its_value() {
        let command = Arguments::command();
        let run = command.find_subcommand("run").unwrap();
        let flags = |with_value: bool| {
            let of: Vec<_> = run
                .get_arguments()
                .filter(|it| !it.is_positional() && it.get_action().takes_values() == with_value)
                .collect();
            let long = of.iter().filter_map(|it| it.get_long());
            let short = of.iter().filter_map(|it| it.get_short());
            let long = long.map(|name| format!("--{name}"));
            let short = short.map(|letter| format!("-{letter}"));
            long.chain(short).collect::<BTreeSet<String>>()
        };
        let (valued, bare) = (flags(true), flags(false));
        for flag in ELSEWHERE {
            assert!(valued.contains(flag), "{flag}: {valued:?}");
        }
        for flag in TOLD {
            assert!(bare.contains(flag), "{flag}: {bare:?}");
        }
        for flag in &valued {
            let words = ["run", flag.as_str(), "a-value", "port"].map(OsString::from);
            let kept = match ELSEWHERE.contains(&flag.as_str()) {
                true => vec!["run", "port"],
                false => vec!["run", flag.as_str(), "a-value", "port"],
            };
            assert_eq!(asked(&words), kept);
        }
    }

    #[test]
    fn the_words_that_say_where_results_go_how_they_are_told_and_which_shard_it_is_are_left_out() {
        let words = "run port -q --shard 1/2 --replace-out --outage --out=a --jobs 2 --report junit=x --slowest 3 --filter x";
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        assert_eq!(asked(&words).join(" "), "run port --outage --filter x");
    }
}

//! The pages of `nicdrill help`, generated from the tables that the parsers use.
//!
//! The words of the language come from `scenarios`, so the pages match the parser; the other pages are the
//! documents themselves, or parts of them.

use std::fmt::Write as _;

use reports::ExitCode;
use scenarios::{Word, WordKind, vocabulary};

use super::document::{page, section};

/// The document on monitors.
const MONITOR: &str = include_str!("../../../docs/monitor.md");

/// How a scenario is written.
#[must_use]
pub(crate) fn scenario() -> String {
    let mut page = String::from(
        "A scenario is one YAML file, `<family>/<name>.yaml`. It says what it is for, in which worlds it\n\
         can be told, what happens when, and what a monitor must say of it. docs/scenario.md explains it\n\
         with examples; these are its words.\n",
    );
    for kind in WordKind::ALL {
        write!(page, "\n{}\n", capital(kind.heading())).expect(WRITES);
        for word in vocabulary().iter().filter(|word| word.kind == kind) {
            page += &entry(word);
        }
    }
    page
}

/// The actions on a world, its files, its connector and its monitor.
#[must_use]
pub(crate) fn faults() -> String {
    let mut page = String::from(
        "What a step can do. Each word is used in `do:` of a step, or in `given:` before the monitor starts.\n",
    );
    for kind in [WordKind::StepAction, WordKind::ActionQualifier] {
        write!(page, "\n{}\n", capital(kind.heading())).expect(WRITES);
        for word in vocabulary().iter().filter(|word| word.kind == kind) {
            page += &entry(word);
        }
    }
    page
}

/// How a sandbox is used.
#[must_use]
pub(crate) fn sandbox() -> String {
    "In a sandbox `/sys` is the platform's, the network is a loopback interface, and time is real. Everything else is\n\
     the host's. From inside, or from another terminal of the same user:\n\
     \n\
     \u{20}    nicdrill do cut mlx5_3/1            # a port\n\
     \u{20}    nicdrill do flap mlx5_0/1 times 3   # keys follow, each with its value\n\
     \u{20}    nicdrill do remove mlx5_2           # a device\n\
     \u{20}    nicdrill do status                  # what was done\n\
     \u{20}    nicdrill do undo                    # heals, and does again what was done before\n\
     \u{20}    nicdrill do --save story.yaml       # writes what was done as a scenario\n\
     \n\
     `nicdrill help faults` lists all words. For completion in bash:\n\
     \n\
     \u{20}    _nicdrill_do() {\n\
     \u{20}        [ \"${COMP_WORDS[1]}\" = do ] || return\n\
     \u{20}        local words=(\"${COMP_WORDS[@]:2:COMP_CWORD-2}\")\n\
     \u{20}        COMPREPLY=($(compgen -W \"$(nicdrill do --complete \"${words[@]}\")\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n\
     \u{20}    }\n\
     \u{20}    complete -F _nicdrill_do nicdrill\n"
        .to_owned()
}

/// How a platform is written.
#[must_use]
pub(crate) fn platform() -> String {
    include_str!("../../../docs/platform.md").to_owned()
}

/// How a monitor is described.
#[must_use]
pub(crate) fn descriptor() -> String {
    page("docs/monitor.md", section(MONITOR, "The descriptor"))
}

/// What a monitor can promise.
#[must_use]
pub(crate) fn promises() -> String {
    page("docs/monitor.md", section(MONITOR, "Promises"))
}

/// How a monitor that writes lines is described.
#[must_use]
pub(crate) fn lines() -> String {
    page("docs/monitor.md", section(MONITOR, "Lines"))
}

/// What a site needs.
#[must_use]
pub(crate) fn needs() -> String {
    page("docs/needs.md", include_str!("../../../docs/needs.md"))
}

/// All exit codes with their meanings, from 0 up, and which is used if several apply.
#[must_use]
pub(crate) fn exit_codes() -> String {
    let mut codes = ExitCode::BY_RANK;
    codes.sort_by_key(|code| code.code());
    let mut page = String::from("Exit codes:\n");
    for code in codes {
        let mut number = code.to_string();
        for line in wrapped(code.meaning(), 90) {
            writeln!(page, "{number:>5}  {line}").expect(WRITES);
            number.clear();
        }
    }
    let ranks = ExitCode::BY_RANK.iter().rev();
    let ranks: Vec<String> = ranks.map(ToString::to_string).collect();
    let ranks = ranks.join(", ");
    writeln!(
        page,
        "If several apply, the first in this order is used: {ranks}."
    )
    .expect(WRITES);
    page
}

fn entry(word: &Word) -> String {
    let takes = word.takes.as_ref();
    let takes = takes.map_or_else(String::new, |takes| format!(": {takes}"));
    let planned = if word.built { "" } else { "  (not built yet)" };
    let mut entry = format!("  {}{takes}{planned}\n", word.word);
    for line in wrapped(&word.text, 94) {
        writeln!(entry, "      {line}").expect(WRITES);
    }
    for (choice, text) in &word.choices {
        writeln!(entry, "      {choice:<14} {text}").expect(WRITES);
    }
    for key in &word.keys {
        writeln!(entry, "      {}: {}  {}", key.word, key.takes, key.text).expect(WRITES);
    }
    if let Some(example) = word.example {
        writeln!(entry, "      e.g. {example}").expect(WRITES);
    }
    entry
}

/// Wraps a text to lines of at most `width` characters.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(rest).collect()
    })
}

pub(super) const WRITES: &str = "writing to a string cannot fail";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_language_stands_on_its_page() {
        let (scenario, faults) = (scenario(), faults());
        for word in vocabulary() {
            assert!(
                scenario.contains(&format!("\n  {}", word.word)),
                "{}",
                word.word
            );
            if word.kind == WordKind::StepAction {
                assert!(
                    faults.contains(&format!("\n  {}", word.word)),
                    "{}",
                    word.word
                );
            }
        }
    }

    #[test]
    fn every_kind_and_placeholder_stands_on_a_page() {
        let (promises, descriptor) = (promises(), descriptor());
        for (word, ..) in observe::promises::Kind::words() {
            assert!(promises.contains(&format!("\n  {word}\n")), "{word}");
        }
        for name in observe::PLACEHOLDERS {
            assert!(descriptor.contains(&format!("\n  {{{name}}}\n")), "{name}");
        }
        assert!(lines().contains("speaks: lines") && needs().contains("\n  needs_version\n"));
    }

    #[test]
    fn a_long_text_is_broken_at_blanks_and_loses_no_word() {
        let text = "one two three four five";
        assert_eq!(wrapped(text, 9), ["one two", "three", "four five"]);
        assert_eq!(wrapped(text, 1).join(" "), text);
    }
}

//! What is typed in a sandbox, in the words of the scenario language without its braces: `cut mlx5_3/1`,
//! `flap mlx5_0/1 times 3`, `remove mlx5_2`. Start at [`Typed::read`].

use std::collections::BTreeSet;

use files::{About, FileError, nearest};
use scenarios::{Word, WordKind, vocabulary};

/// What stands before a subject where a verb is about devices.
const DEVICE_OF: &str = "device of ";

/// What a flap is that is typed without these keys, which a scenario has to state. Chosen: one that can be watched.
const FLAP: [(&str, &str); 3] = [("times", "1"), ("down", "2s"), ("up", "2s")];

/// A command as it is typed, split at its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Typed {
    verb: String,
    subject: String,
    keys: Vec<(String, String)>,
}

impl Typed {
    /// Splits a command: a verb, its subject, then keys of the verb, each with its value. `None` if it is written with
    /// a colon, as a line of `do:`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let verb = words.next()?;
        if verb.contains([':', '{', '[']) {
            return None;
        }
        let known = verbs().into_iter().find(|word| word.word == verb);
        let known: BTreeSet<&str> = known
            .iter()
            .flat_map(|word| word.keys.iter().map(|key| key.word))
            .chain(["node", "only"])
            .collect();
        let mut subject: Vec<&str> = Vec::new();
        let mut keys: Vec<(String, Vec<&str>)> = Vec::new();
        for word in words {
            let word = word.trim_end_matches(',');
            if known.contains(word) && keys.iter().all(|(key, _)| key != word) {
                keys.push((word.to_owned(), Vec::new()));
            } else {
                keys.last_mut()
                    .map_or(&mut subject, |(_, value)| value)
                    .push(word);
            }
        }
        let keys = keys.into_iter().map(|(key, value)| (key, value.join(" ")));
        let mut keys: Vec<(String, String)> = keys.collect();
        if verb == "flap" {
            for (key, value) in FLAP {
                if keys.iter().all(|(given, _)| given != key) {
                    keys.push((key.to_owned(), value.to_owned()));
                }
            }
        }
        Some(Self {
            verb: verb.to_owned(),
            subject: subject.join(" "),
            keys,
        })
    }

    /// A word behind the subject that is near to a key of the verb, and that key.
    fn misspelt_key(&self) -> Option<(&str, &'static str)> {
        let verb = verbs().into_iter().find(|word| word.word == self.verb)?;
        let values = self.keys.iter().map(|(_, value)| value.as_str());
        let words = self.subject.split_whitespace().skip(1);
        let mut words = words.chain(values.flat_map(str::split_whitespace));
        words.find_map(|word| {
            let keys = verb.keys.iter().map(|key| key.word);
            let near = nearest(word, keys.filter(|key| key.len() > 2))?;
            (near != word).then_some((word, near))
        })
    }

    /// What it is about, as it was typed.
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    /// The device of what is typed as a port, `mlx5_3/1`.
    pub(super) fn device_of_port(&self) -> Option<&str> {
        let (device, number) = self.subject.split_once('/')?;
        number.parse::<u8>().is_ok().then_some(device)
    }

    /// The lines of `do:` that it may be, the likeliest first. A port is written `mlx5_3/1`.
    pub(super) fn lines(&self, devices: &BTreeSet<String>) -> Vec<String> {
        let port = |subject: &str| {
            let (device, number) = subject.split_once('/')?;
            let is_port = devices.contains(device) && number.parse::<u8>().is_ok();
            is_port.then(|| format!("{{ name: {device}, port: {number} }}"))
        };
        let subject = port(&self.subject).unwrap_or_else(|| self.subject.clone());
        let mut lines = vec![self.line(&subject)];
        if devices.contains(&self.subject) {
            lines.push(self.line(&format!("{DEVICE_OF}{subject}")));
        }
        lines
    }

    fn line(&self, subject: &str) -> String {
        let keys = self.keys.iter();
        let keys: String = keys
            .map(|(key, value)| format!(", {key}: {value}"))
            .collect();
        if subject.is_empty() && keys.is_empty() {
            return self.verb.clone();
        }
        format!("{{ {}: {subject}{keys} }}", self.verb)
    }
}

/// What is wrong with what was typed, with the word that is, and a hint: the place of an error in a line of `do:` means
/// nothing to somebody who typed other words.
pub(super) fn told(
    text: &str,
    typed: Option<&Typed>,
    error: &FileError,
) -> (String, Option<String>) {
    let hint = error.hint.clone();
    if let Some(typed) = typed
        && typed.subject.is_empty()
        && typed.keys.is_empty()
        && verbs().iter().any(|word| word.word == typed.verb)
    {
        let what = format!("`{}` needs what it acts on, such as a port", typed.verb);
        return (what, hint);
    }
    if let Some((word, near)) = typed.and_then(Typed::misspelt_key) {
        return (
            format!("unknown word `{word}`"),
            Some(format!("did you mean `{near}`?")),
        );
    }
    let word = error.place.zip(error.line.as_ref()).map(|(place, line)| {
        let before = usize::try_from(place.column.saturating_sub(1)).unwrap_or_default();
        let rest = line.chars().skip(before);
        rest.take_while(|at| !" ,:{}[]".contains(*at))
            .collect::<String>()
    });
    let word = word.filter(|word| !word.is_empty() && text.contains(word.as_str()));
    let word = word.unwrap_or_else(|| text.to_owned());
    // Other errors quote the word that is wrong.
    let what = match error.about.as_deref() {
        Some(About::Kind | About::MissingKey(_)) => format!("`{word}`: {}", error.what),
        _ => error.what.clone(),
    };
    (what, hint)
}

/// The verbs that are built.
#[must_use]
pub fn verbs() -> Vec<Word> {
    let words = vocabulary().into_iter();
    words
        .filter(|word| word.kind == WordKind::StepAction && word.built)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[&str]) {
        let devices = ["mlx5_0", "mlx5_2", "mlx5_3"].map(str::to_owned).into();
        let typed = Typed::read(text).expect("it is typed without a colon");
        assert_eq!(typed.lines(&devices), lines);
    }

    #[test]
    fn a_command_is_a_verb_a_subject_and_keys() {
        check("cut mlx5_3/1", &["{ cut: { name: mlx5_3, port: 1 } }"]);
        check(
            "flap mlx5_0/1 times 3",
            &["{ flap: { name: mlx5_0, port: 1 }, times: 3, down: 2s, up: 2s }"],
        );
        check(
            "remove mlx5_2",
            &["{ remove: mlx5_2 }", "{ remove: device of mlx5_2 }"],
        );
        check("driver unload", &["{ driver: unload }"]);
        assert_eq!(Typed::read("cut: mlx5_3"), None);
    }

    #[test]
    fn a_misspelt_key_is_told_with_the_one_that_is_meant() {
        let typed = Typed::read("flap mlx5_0/1 tims 3").expect("it is typed without a colon");
        assert_eq!(typed.misspelt_key(), Some(("tims", "times")));
        for right in [
            "flap mlx5_0/1 times 3",
            "cut mlx5_3/1",
            "remove device of mlx5_2",
        ] {
            let typed = Typed::read(right).expect("it is typed without a colon");
            assert_eq!(typed.misspelt_key(), None, "{right}");
        }
    }
}

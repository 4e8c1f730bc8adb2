//! Commands that a report prints, to be pasted into a shell.

use reports::{ArmName, DrillName};

/// Words as a shell reads them back.
#[must_use]
pub fn pasted(words: &[String]) -> String {
    let quoted = shlex::try_join(words.iter().map(String::as_str));
    quoted.unwrap_or_else(|_| words.join(" "))
}

/// The command that repeats a drill, in one arm if one is given. `again` are the arguments that select the same
/// scenarios, platforms and monitor.
#[must_use]
pub fn run_again(again: &[String], drill: &DrillName, arm: Option<ArmName>) -> String {
    let mut words = vec!["nicdrill".to_owned(), "run".to_owned()];
    words.extend(again.iter().cloned());
    words.push(drill.to_string());
    if let Some(arm) = arm {
        words.extend(["--arm".to_owned(), arm.to_string()]);
    }
    pasted(&words)
}

/// The command that shows a drill in full, in an arm if it is not to be chosen. `again` are the arguments of `nicdrill run` that
/// select the same scenarios, platforms and monitor.
#[must_use]
pub fn show_again(again: &[String], drill: &DrillName, arm: Option<ArmName>) -> String {
    let mut words = vec!["nicdrill".to_owned(), "show".to_owned()];
    let mut again = again.iter();
    while let Some(word) = again.next() {
        match word.as_str() {
            "--monitor" | "--needs" | "--against" => {
                words.extend([word.clone()].into_iter().chain(again.next().cloned()));
            }
            "--platform" => {
                let files = again.next().into_iter().flat_map(|files| files.split(','));
                words.extend(files.flat_map(|file| ["--platforms".to_owned(), file.to_owned()]));
            }
            _ => words.extend(["--scenarios".to_owned(), word.clone()]),
        }
    }
    words.push(drill.to_string());
    if let Some(arm) = arm {
        words.extend(["--arm".to_owned(), arm.to_string()]);
    }
    pasted(&words)
}

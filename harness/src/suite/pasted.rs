//! Commands that a report prints, to be pasted into a shell.

use reports::DrillName;
use terms::Arm;

/// Words as a shell reads them back.
#[must_use]
pub fn pasted(words: &[String]) -> String {
    let quoted = shlex::try_join(words.iter().map(String::as_str));
    quoted.unwrap_or_else(|_| words.join(" "))
}

/// The command that repeats a drill, in one arm if one is given. `again` are the arguments that select the same
/// scenarios, platforms and monitor.
#[must_use]
pub fn run_again(again: &[String], drill: &DrillName, arm: Option<Arm>) -> String {
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
pub fn show_again(again: &[String], drill: &DrillName, arm: Option<Arm>) -> String {
    let mut words = vec!["nicdrill".to_owned(), "show".to_owned()];
    let mut again = again.iter();
    while let Some(word) = again.next() {
        match word.as_str() {
            "--platform" => {
                let files = again.next().into_iter().flat_map(|files| files.split(','));
                words.extend(files.flat_map(|file| ["--platforms".to_owned(), file.to_owned()]));
            }
            // Each of these flags has a value, and `show` has the same one; what is no flag is a path.
            flag if flag.starts_with("--") => {
                words.extend([word.clone()].into_iter().chain(again.next().cloned()));
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing("", "")]
    #[case::a_monitor("--monitor m.yaml", "--monitor m.yaml")]
    #[case::the_documents_rows(
        "--monitor m.yaml --against documents",
        "--monitor m.yaml --against documents"
    )]
    #[case::the_needs_of_a_site("--needs n.yaml", "--needs n.yaml")]
    #[case::platforms_of_ones_own("--platform a.yaml,./b", "--platforms a.yaml --platforms ./b")]
    #[case::scenarios_of_ones_own(
        "./own more.yaml --monitor m.yaml --platform a.yaml --against documents",
        "--scenarios ./own --scenarios more.yaml --monitor m.yaml --platforms a.yaml --against documents"
    )]
    fn a_drill_is_shown_with_what_it_was_run_with(#[case] ran: &str, #[case] shown: &str) {
        let again: Vec<String> = ran.split_whitespace().map(str::to_owned).collect();
        let drill: DrillName = "port/a@h100-oci".parse().unwrap();
        let words = ["nicdrill show", shown, "port/a@h100-oci --arm process"];
        let words: Vec<&str> = words.into_iter().filter(|it| !it.is_empty()).collect();
        let command = show_again(&again, &drill, Some(Arm::Process));
        assert_eq!(command, words.join(" "));
    }
}

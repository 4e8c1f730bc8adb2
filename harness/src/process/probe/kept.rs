//! What the run folder keeps of a probe that failed.

use super::Sighting;
use crate::run_folder::Artifact;

/// The longest file that is kept, in bytes. Chosen: more than anybody reads, and little beside a run folder.
const FILE_MAX: usize = 1 << 20;

/// The start of the monitor, its output, its reads, its connections and its open files. Of a long list the last lines
/// are kept. Values of environment variables are left out, because they may be secret.
pub(super) fn files(
    sighting: &Sighting,
    output: &[String],
    reads: &[String],
    connections: &[String],
) -> Vec<Artifact> {
    let words = sighting.words.iter().map(|word| sighting.fold(word));
    let names = sighting.env.iter();
    let names = names.map(|(name, _)| format!("environment: {name}"));
    let command: Vec<String> = words.chain(names).collect();
    let mut files = vec![
        file("command.txt", last_lines(&command)),
        file("log.txt", last_lines(output)),
        file("reads.txt", last_lines(reads)),
        file("connections.txt", last_lines(connections)),
        file("open-files.txt", last_lines(&sighting.open_files)),
    ];
    let config = sighting.config.as_ref();
    files.extend(config.map(|config| file("config.txt", sighting.fold(config))));
    files
}

fn file(name: &str, text: String) -> Artifact {
    Artifact {
        name: name.to_owned(),
        bytes: text.into_bytes(),
    }
}

/// The last of these lines that fit into a file, below a line that counts the others.
fn last_lines(lines: &[String]) -> String {
    let mut size = 0;
    let fit = lines.iter().rev().take_while(|line| {
        size += line.len() + 1;
        size <= FILE_MAX
    });
    let left_out = lines.len() - fit.count();
    let mut text = match left_out {
        0 => String::new(),
        1 => "(1 line before is left out)\n".to_owned(),
        lines => format!("({lines} lines before are left out)\n"),
    };
    for line in &lines[left_out..] {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_short_list(&["a", "b"], "a\nb\n")]
    #[case::no_list(&[], "")]
    fn a_list_is_kept_whole(#[case] lines: &[&str], #[case] expected: &str) {
        assert_eq!(last_lines(&owned(lines)), expected);
    }

    #[test]
    fn of_a_long_list_the_last_lines_are_kept() {
        let line = "x".repeat(1023);
        let lines = vec![line; FILE_MAX / 1024 + 7];
        let text = last_lines(&lines);
        let (head, rest) = text.split_once('\n').expect("a first line");
        assert_eq!(head, "(7 lines before are left out)");
        assert_eq!(rest.len(), FILE_MAX);
    }

    #[test]
    fn a_line_that_is_longer_than_a_file_is_left_out() {
        let lines = owned(&["a", &"x".repeat(FILE_MAX), "b"]);
        assert_eq!(last_lines(&lines), "(2 lines before are left out)\nb\n");
    }

    #[test]
    fn values_of_variables_are_not_kept() {
        let sighting = Sighting {
            env: vec![("TOKEN".to_owned(), "secret".to_owned())],
            ..Sighting::default()
        };
        let files = files(&sighting, &[], &[], &[]);
        assert_eq!(files[0].bytes, b"environment: TOKEN\n");
    }

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }
}

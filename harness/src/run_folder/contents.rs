//! `contents.txt` of a run folder: a line `SHA-256  NAME` for each text that was played, in order of name, and at the end a line
//! with the SHA-256 of these lines, so that whoever reads the file later notices that a byte of it was changed. It does not
//! withstand somebody who computes the sum anew. Start at [`sealed`] and [`read_contents`].

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};

use reports::one_line;
use sha2::{Digest as _, Sha256};

use crate::read_files::regular::{RUN_FILE_BYTES_MAX, text_up_to};

/// The name of the file.
pub(super) const CONTENTS: &str = "contents.txt";

/// What stands in place of a name in the last line. No scenario, platform or world has a `#` in its name.
const SUM: &str = "# the lines above";

/// Why the file does not tell what was played.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContentsError {
    /// It cannot be read.
    #[error("`{}` cannot be read: {cause}", path.display())]
    Unread { path: PathBuf, cause: io::Error },
    /// A line is not as the run wrote it.
    #[error("{}:{row}: {what}", path.display())]
    Altered {
        path: PathBuf,
        /// The line, from 1.
        row: usize,
        /// What was found and what is allowed.
        what: String,
    },
}

/// The text of the file, from the SHA-256 of each text by name.
pub(crate) fn sealed(contents: &BTreeMap<String, String>) -> String {
    let lines = contents.iter();
    let lines: String = lines
        .map(|(name, hash)| format!("{hash}  {name}\n"))
        .collect();
    let sum = sha256(&lines);
    format!("{lines}{sum}  {SUM}\n")
}

/// What the file of a run folder says: the SHA-256 of each text, by name.
///
/// # Errors
/// The file, and the line that is not as the run wrote it, with what was found and what is allowed.
pub(crate) fn read_contents(folder: &Path) -> Result<BTreeMap<String, String>, ContentsError> {
    let path = folder.join(CONTENTS);
    let text = match text_up_to(&path, RUN_FILE_BYTES_MAX) {
        Ok(text) => text,
        Err(cause) => return Err(ContentsError::Unread { path, cause }),
    };
    read(&text).map_err(|(row, what)| ContentsError::Altered { path, row, what })
}

/// # Errors
/// The first line that is not as it was written, counted from 1, and what is wrong with it.
fn read(text: &str) -> Result<BTreeMap<String, String>, (usize, String)> {
    let mut contents = BTreeMap::new();
    let (mut bytes, mut rows) = (0, 0);
    for line in text.split_inclusive('\n') {
        rows += 1;
        let Some((hash, name)) = entry(line) else {
            let found = one_line(line.strip_suffix('\n').unwrap_or(line));
            return Err((
                rows,
                format!(
                    "found `{found}`; allowed is `SHA-256  NAME` with a newline: 64 digits of `0-9a-f`, two blanks, and a \
                     scenario, `@` with a platform or world, or in the last line `{SUM}`"
                ),
            ));
        };
        if name != SUM {
            contents.insert(name.to_owned(), hash.to_owned());
            bytes += line.len();
            continue;
        }
        let sum = sha256(&text[..bytes]);
        if hash != sum {
            let what = format!(
                "found the sum `{hash}`, and the lines above have `{sum}`: a byte of them, or of the sum, was changed since the \
                 run wrote it"
            );
            return Err((rows, what));
        }
        if bytes + line.len() < text.len() {
            let what = format!("found a line behind `{SUM}`, which is the last one");
            return Err((rows + 1, what));
        }
        return Ok(contents);
    }
    let what = format!("found the end of the file; its last line is `SHA-256  {SUM}`");
    Err((rows + 1, what))
}

/// The SHA-256 and the name of a whole line.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (hash, name) = line.strip_suffix('\n')?.split_once("  ")?;
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_hash = hash.len() == 64 && hash.bytes().all(is_digit);
    let is_name = name == SUM || !(name.is_empty() || name.contains(['#', '\r']));
    (is_hash && is_name).then_some((hash, name))
}

/// The SHA-256 of a text, as 64 hexadecimal digits.
pub(crate) fn sha256(text: &str) -> String {
    digits(&Sha256::digest(text.as_bytes()))
}

/// The bytes of a digest as hexadecimal digits.
pub(super) fn digits(digest: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * digest.len());
    for byte in digest {
        write!(digits, "{byte:02x}").expect("writing to a string cannot fail");
    }
    digits
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn contents() -> BTreeMap<String, String> {
        let names = ["@dgx-a100", "port/cable-pulled", "port/two  blanks"];
        names.map(|name| (name.to_owned(), sha256(name))).into()
    }

    #[test]
    fn what_was_written_is_read() {
        for contents in [contents(), BTreeMap::new()] {
            assert_eq!(read(&sealed(&contents)), Ok(contents));
        }
    }

    #[rstest]
    #[case::another_name("cable", "table", 4, "found the sum `")]
    #[case::a_line_less("\n", "", 3, "found the sum `")]
    #[case::no_digit("  @", "g  @", 1, "allowed is `SHA-256  NAME`")]
    #[case::another_end("\n", "\r\n", 1, "\\r`; allowed is")]
    #[case::no_sum("# the", "the", 5, "found the end of the file")]
    #[case::a_damaged_sum_line("# the", "#the", 4, "found `")]
    fn a_byte_that_was_changed_is_told_with_its_line(
        #[case] from: &str,
        #[case] to: &str,
        #[case] row: usize,
        #[case] told: &str,
    ) {
        let text = sealed(&contents());
        let (found, what) = read(&text.replacen(from, to, 1)).unwrap_err();
        assert!(found == row && what.contains(told), "{found}: {what}");
    }

    #[test]
    fn nothing_follows_the_sum() {
        let text = sealed(&contents());
        let doubled = format!("{text}{text}");
        let (row, what) = read(&doubled).unwrap_err();
        assert!(
            row == 5 && what.starts_with("found a line behind"),
            "{what}"
        );
    }

    /// FIPS 180-4, "Secure Hash Standard", examples: the digest of `abc`.
    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(
            sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}

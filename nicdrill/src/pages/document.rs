//! Parts of the documents as pages of `nicdrill help`: their text as it stands, and their tables as lists that fit a
//! terminal. Start at [`page`].

use std::fmt::Write as _;

use super::help_pages::{WRITES, wrapped};

/// Width of the texts of a list, in characters.
const WIDTH: usize = 94;

/// The part of a document under a heading of the second level, with the heading.
///
/// # Panics
/// If the document has no such heading.
pub(super) fn section(document: &'static str, heading: &str) -> &'static str {
    let start = document
        .find(&format!("\n## {heading}\n"))
        .expect("the document has this part");
    let part = &document[start + 1..];
    part.find("\n## ").map_or(part, |end| &part[..=end])
}

/// A text in Markdown for a terminal: an entry for each row of a table, and no marks. `file` is the document that it is of; its links
/// lead to parts of it, or to documents beside it.
pub(super) fn page(file: &str, text: &str) -> String {
    let text = &without_links(file, text);
    let mut page = String::new();
    let mut heads: Vec<&str> = Vec::new();
    let mut is_blank = true;
    for line in text.lines().filter(|line| !line.starts_with("<!--")) {
        if line.starts_with("|---") {
            continue;
        }
        let Some(row) = line.strip_prefix("| ") else {
            heads.clear();
            // A table without its first lines, and marks that are left out, leave blank lines behind.
            if line.is_empty() && is_blank {
                continue;
            }
            is_blank = line.is_empty();
            let line = match line.trim_start_matches('#') {
                heading if heading.len() < line.len() => heading.trim_start(),
                line => line,
            };
            writeln!(page, "{line}").expect(WRITES);
            continue;
        };
        is_blank = false;
        let cells: Vec<&str> = row
            .trim_end_matches('|')
            .split(" | ")
            .map(str::trim)
            .collect();
        if heads.is_empty() {
            heads = cells;
            continue;
        }
        writeln!(page, "  {}", cells[0].replace('`', "")).expect(WRITES);
        for (nth, (head, cell)) in heads.iter().zip(&cells).enumerate().skip(1) {
            let cell = match nth {
                1 => (*cell).to_owned(),
                _ => format!("{head}: {cell}"),
            };
            for line in wrapped(&cell, WIDTH) {
                writeln!(page, "      {line}").expect(WRITES);
            }
        }
    }
    page
}

/// A text with the place that a link leads to instead of the link.
fn without_links(file: &str, text: &str) -> String {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let link = plain.rfind('[').zip(part.split_once(')'));
        let Some((start, (target, rest))) = link else {
            plain += "](";
            plain += part;
            continue;
        };
        let words = plain.split_off(start);
        let words = &words[1..];
        let place = match target.strip_prefix('#') {
            Some(_) => format!("{file}{target}"),
            None => format!("{folder}/{target}"),
        };
        if words == "below" || words == "above" || words == target {
            plain += &place;
        } else {
            write!(plain, "{words} ({place})").expect(WRITES);
        }
        plain += rest;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# All\n\ntext\n\n## One\n\nBefore.\n\n<!-- a -->\n\n| key | meaning | default |\n|---|---|---|\n\
        | `a` | what `a` is | 1 |\n\n<!-- /a -->\n\nAfter.\n\n## Two\n\nx:\n  y\n";

    #[test]
    fn a_table_is_a_list_and_marks_are_left_out() {
        assert_eq!(
            page("docs/a.md", section(DOCUMENT, "One")),
            "One\n\nBefore.\n\n  a\n      what `a` is\n      default: 1\n\nAfter.\n\n"
        );
        assert_eq!(
            page("docs/a.md", section(DOCUMENT, "Two")),
            "Two\n\nx:\n  y\n"
        );
    }

    #[test]
    fn a_link_is_the_place_that_it_leads_to() {
        let plain = |text| without_links("docs/a.md", text);
        assert_eq!(plain("it ([below](#one))."), "it (docs/a.md#one).");
        assert_eq!(
            plain("[b.md](b.md) and [its end](b.md#end)"),
            "docs/b.md and its end (docs/b.md#end)"
        );
        assert_eq!(plain("a[0](x"), "a[0](x");
    }
}

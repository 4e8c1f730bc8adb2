//! The text of a page, or of the files for a collector, as it comes: no more of it is taken than a monitor may say.
//!
//! All bounds follow from the `output` of a descriptor's limits: the bytes that come, a quarter of them that are kept, the
//! length of a line, and the number of series or of values in JSON. What says nothing is dropped as it comes: comments of
//! metrics, and blanks between the values of JSON. What the text means is left out. Start at [`PageText::push`].

use crate::{Limits, Size};

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageForm {
    /// A page of metrics, whose comments are dropped.
    Series,
    /// A file with metrics, of which everything is kept: whether it is whole is seen at its end.
    File,
    /// JSON.
    Json,
}

/// A text that comes piece by piece.
#[derive(Debug)]
pub struct PageText {
    form: PageForm,
    most: Size,
    /// How many bytes have come.
    come: u64,
    /// How many of them are kept or were taken.
    said: u64,
    /// What is kept and not taken yet.
    kept: Vec<u8>,
    /// How many series, or values of JSON, there are so far.
    items: u64,
    /// The length of the present line, or of the present string, number or word of JSON.
    length: u64,
    at: At,
}

/// Where in its text a byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In a line that has had blanks only, or behind a blank of JSON.
    Blank,
    Comment,
    /// In a line with a series, or in JSON.
    Within,
    /// In a string of JSON.
    String,
    /// Behind a backslash in a string of JSON.
    Escape,
}

impl PageText {
    /// A text of a monitor with these limits, of which nothing has come yet.
    #[must_use]
    pub fn new(form: PageForm, limits: &Limits) -> Self {
        Self {
            form,
            most: limits.most_output(),
            come: 0,
            said: 0,
            kept: Vec::new(),
            items: 0,
            length: 0,
            at: At::Blank,
        }
    }

    /// Takes what comes next.
    ///
    /// # Errors
    /// Which bound it is over, such as `more than 64 MiB`. The rest is not to be read.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.come += bytes.len() as u64;
        if self.come > self.most.bytes() {
            return Err(format!("more than {}", self.most));
        }
        match self.form {
            PageForm::Series | PageForm::File => {
                for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                    self.line(piece);
                    self.is_within_bounds()?;
                }
            }
            PageForm::Json => {
                for byte in bytes {
                    self.json(*byte);
                    self.is_within_bounds()?;
                }
            }
        }
        Ok(())
    }

    /// The text since the last call, with a replacement for each byte that is not UTF-8. What comes next begins a line.
    #[must_use]
    pub fn take(&mut self) -> String {
        (self.at, self.length) = (At::Blank, 0);
        let bytes = std::mem::take(&mut self.kept);
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    fn is_within_bounds(&self) -> Result<(), String> {
        // Chosen: a page of node_exporter has some thousand series, and the longest line of it less than a KiB. A series
        // takes less than 1 KiB of memory, so that a page takes less than its `output` in all.
        let kept = Size(self.most.0 / 4);
        let (length, items) = (Size((self.most.0 / 1024).max(1)), self.most.0 / 4);
        if self.items > items {
            let what = match self.form {
                PageForm::Json => "values",
                PageForm::Series | PageForm::File => "series",
            };
            return Err(format!("more than {items} {what}"));
        }
        if self.length > length.bytes() {
            let what = match self.form {
                PageForm::Json => "a value",
                PageForm::Series | PageForm::File => "a line",
            };
            return Err(format!("{what} of more than {length}"));
        }
        if self.said > kept.bytes() {
            let with = match self.form {
                PageForm::File => "with comments and blanks",
                PageForm::Series => "without comments",
                PageForm::Json => "without blanks",
            };
            return Err(format!("more than {kept} {with}"));
        }
        Ok(())
    }

    /// A line, or a piece of one.
    fn line(&mut self, piece: &[u8]) {
        let mut said = piece;
        if self.at == At::Blank {
            let blank = piece.iter().take_while(|byte| byte.is_ascii_whitespace());
            said = &piece[blank.count()..];
            self.at = match said.first() {
                None => At::Blank,
                Some(b'#') => At::Comment,
                Some(_) => At::Within,
            };
            self.items += u64::from(self.at == At::Within);
        }
        if self.form == PageForm::File {
            self.keep(piece);
        } else if self.at == At::Within {
            self.keep(said);
        }
        self.length += piece.len() as u64;
        if piece.ends_with(b"\n") {
            (self.at, self.length) = (At::Blank, 0);
        }
    }

    fn json(&mut self, byte: u8) {
        self.length += 1;
        match (self.at, byte) {
            (At::Escape, _) => self.at = At::String,
            (At::String, b'\\') => self.at = At::Escape,
            (At::String, b'"') => self.at = At::Within,
            (At::String, _) => {}
            (_, b'"') => (self.at, self.length) = (At::String, 0),
            (At::Blank, _) if byte.is_ascii_whitespace() => {
                self.length = 0;
                return;
            }
            _ if byte.is_ascii_whitespace() => (self.at, self.length) = (At::Blank, 0),
            (_, b',' | b':' | b'[' | b'{') => {
                self.items += 1;
                (self.at, self.length) = (At::Within, 0);
            }
            _ => self.at = At::Within,
        }
        self.keep(&[byte]);
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.said += bytes.len() as u64;
        self.kept.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of a text of a monitor with an `output` of 1 MiB, whatever pieces it comes in.
    fn check(form: PageForm, text: &str, expected: Result<&str, &str>) {
        let limits = Limits {
            output: Some(Size(1024)),
            ..Limits::default()
        };
        for size in [1, 7, 4096, usize::MAX] {
            let mut page = PageText::new(form, &limits);
            let mut pieces = text.as_bytes().chunks(size.min(text.len().max(1)));
            let pushed = pieces.try_for_each(|piece| page.push(piece));
            let kept = pushed.map(|()| page.take());
            let kept = kept.as_ref().map(String::as_str).map_err(String::as_str);
            assert_eq!(kept, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn comments_and_blank_lines_of_a_page_are_dropped_and_a_file_keeps_them() {
        let page = "# HELP a What.\n a 1\n\n  # end\nb{x=\"# 1\"} 2\n# torn";
        check(PageForm::Series, page, Ok("a 1\nb{x=\"# 1\"} 2\n"));
        check(PageForm::File, page, Ok(page));
    }

    #[test]
    fn blanks_between_the_values_of_json_are_dropped_and_those_in_strings_stay() {
        check(
            PageForm::Json,
            " { \"a  b\\\"  c\" :\n\n [ 1,  2 ] }\n\n",
            Ok("{ \"a  b\\\"  c\" :\n[ 1, 2 ] }\n"),
        );
    }

    #[test]
    fn a_page_over_a_bound_is_refused_with_the_bound() {
        let series = |count: usize| "a 1\n".repeat(count);
        check(PageForm::Series, &series(256), Ok(&series(256)));
        check(PageForm::Series, &series(257), Err("more than 256 series"));
        check(PageForm::File, &series(257), Err("more than 256 series"));
        check(
            PageForm::Series,
            &"x".repeat(1025),
            Err("a line of more than 1 KiB"),
        );
        let comments = "# 123456\n".repeat(120_000);
        check(PageForm::Series, &comments, Err("more than 1 MiB"));
        check(
            PageForm::File,
            &comments[..300_000],
            Err("more than 256 KiB with comments and blanks"),
        );
    }

    #[test]
    fn json_over_a_bound_is_refused_with_the_bound() {
        let many = format!("[{}0]", "0,".repeat(256));
        check(PageForm::Json, &many, Err("more than 256 values"));
        let long = format!("[\"{}\"]", "x".repeat(1025));
        check(PageForm::Json, &long, Err("a value of more than 1 KiB"));
        check(
            PageForm::Json,
            &"7".repeat(1025),
            Err("a value of more than 1 KiB"),
        );
        let deep = "[".repeat(300);
        check(PageForm::Json, &deep, Err("more than 256 values"));
        let blank = " ".repeat((1 << 20) + 1);
        check(PageForm::Json, &blank, Err("more than 1 MiB"));
    }

    #[test]
    fn the_bounds_of_several_texts_are_common() {
        let limits = Limits {
            output: Some(Size(1024)),
            ..Limits::default()
        };
        let mut files = PageText::new(PageForm::File, &limits);
        files.push("a 1\n".repeat(200).as_bytes()).unwrap();
        assert_eq!(files.take().len(), 800);
        let told = files.push("a 1\n".repeat(200).as_bytes()).unwrap_err();
        assert_eq!(told, "more than 256 series");
    }
}

//! The suite as data: scenarios, worlds and clauses, embedded in the program and sorted by path.
//!
//! A file in one of these folders is part of the suite, except those in `interview/`: they ask an unknown monitor what
//! it does, and no run plays them. Golden traces are in `golden/`, one per scenario; they are
//! not embedded but read from disk. The crate does not interpret the texts: `scenarios` parses them.
//! Start at [`scenarios()`].

use include_dir::{Dir, include_dir};

static CLAUSES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/clauses");
static WORLDS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/worlds");
static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");
static INTERVIEW: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/interview");

/// Every clause file: its path below `clauses/` and its text, sorted by path.
#[must_use]
pub fn clauses() -> Vec<(&'static str, &'static str)> {
    texts(&CLAUSES)
}

/// Every world: its path below `worlds/` and its text, sorted by path.
#[must_use]
pub fn worlds() -> Vec<(&'static str, &'static str)> {
    texts(&WORLDS)
}

/// Every scenario: its path below `scenarios/` and its text, sorted by path.
#[must_use]
pub fn scenarios() -> Vec<(&'static str, &'static str)> {
    texts(&SCENARIOS)
}

/// Every drill of the interview of `nicdrill fit`: its path below `interview/` and its text, sorted by path. Its `covers`
/// name the kinds that it asks about, as `fit/KIND`.
#[must_use]
pub fn interview() -> Vec<(&'static str, &'static str)> {
    texts(&INTERVIEW)
}

/// The files of a folder and of its subfolders. The order is that of the paths as texts.
fn texts(folder: &'static Dir<'_>) -> Vec<(&'static str, &'static str)> {
    let text = |file: &'static include_dir::File<'_>| {
        let path = file.path().to_str().expect("a path in UTF-8");
        (path, file.contents_utf8().expect("a text in UTF-8"))
    };
    let mut texts: Vec<_> = folder.files().map(text).collect();
    texts.extend(folder.dirs().flat_map(self::texts));
    texts.sort_unstable();
    texts
}

//! Random inputs of a parser: shipped texts that were damaged, cut, doubled or joined. One seed gives the same inputs on every
//! machine. Start at [`check`].

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// How many inputs each parser reads: `NICDRILL_FUZZ`, or 10,000 as in the gate.
#[must_use]
pub fn count() -> u64 {
    set("NICDRILL_FUZZ", 10_000)
}

/// Where the inputs begin: `NICDRILL_FUZZ_SEED`, or 1.
#[must_use]
pub fn seed() -> u64 {
    set("NICDRILL_FUZZ_SEED", 1)
}

fn set(name: &str, usual: u64) -> u64 {
    let set = env::var(name).ok().and_then(|value| value.parse().ok());
    set.unwrap_or(usual)
}

/// Lets a parser read [`count`] inputs that were made of these texts.
///
/// # Panics
/// If the parser does, with the input.
#[track_caller]
pub fn check(texts: Vec<&str>, parse: impl Fn(&[u8])) {
    let mut inputs = Mutation::of(texts, seed());
    for number in 0..count() {
        let input = inputs.next_input();
        let parsed = catch_unwind(AssertUnwindSafe(|| parse(&input)));
        let shown = String::from_utf8_lossy(&input);
        assert!(parsed.is_ok(), "input {number}: {shown:?}");
    }
}

/// Lets a parser of texts read inputs, as [`check`] does.
#[track_caller]
pub fn check_texts(texts: Vec<&str>, parse: impl Fn(&str)) {
    check(texts, |input| parse(&String::from_utf8_lossy(input)));
}

/// What parsers stumble over, beside letters and digits.
const PIECES: [&str; 32] = [
    "{",
    "}",
    "[",
    "]",
    ": ",
    ", ",
    "- ",
    "\n",
    "\n  ",
    "\t",
    "&a ",
    "*a",
    "!!str ",
    "? ",
    "| \n",
    "> \n",
    "'",
    "\"",
    "#",
    "...",
    "\n---\n",
    "0",
    "-1",
    "18446744073709551616",
    "1e999",
    "99999999s",
    "\u{0}",
    "\u{1b}[2J",
    "\u{feff}",
    "é",
    "\u{202e}",
    "~",
];

/// The longest input, in bytes. Shipped texts are shorter.
const LENGTH_MAX: usize = 16 * 1024;

/// A source of inputs.
#[derive(Debug)]
pub struct Mutation<'a> {
    seeds: Vec<&'a [u8]>,
    state: u64,
}

impl<'a> Mutation<'a> {
    /// Makes inputs from these texts; there is at least one.
    #[must_use]
    pub fn of<T: AsRef<[u8]> + ?Sized>(seeds: Vec<&'a T>, seed: u64) -> Self {
        assert!(!seeds.is_empty(), "there is a text to start with");
        Self {
            seeds: seeds.into_iter().map(AsRef::as_ref).collect(),
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    /// The next input: a text with up to eight changes.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.text().to_vec();
        for _ in 0..=self.below(8) {
            self.change(&mut input);
        }
        input.truncate(LENGTH_MAX);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let (from, to) = self.range(input.len());
        match self.below(7) {
            0 => drop(input.drain(from..to)),
            1 => {
                let again = input[from..to].to_vec();
                input.splice(from..from, again);
            }
            2 => {
                let piece = PIECES[self.below(PIECES.len())].as_bytes();
                input.splice(from..from, piece.iter().copied());
            }
            3 => {
                let piece = PIECES[self.below(PIECES.len())].as_bytes();
                input.splice(from..to, piece.iter().copied());
            }
            4 => {
                let other = self.text();
                let (start, end) = self.range(other.len());
                input.splice(from..to, other[start..end].iter().copied());
            }
            5 => {
                let byte = u8::try_from(self.below(256)).expect("it is less");
                if let Some(changed) = input.get_mut(from) {
                    *changed = byte;
                }
            }
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                let piece = piece.repeat(self.below(300));
                input.splice(from..from, piece.into_bytes());
            }
        }
    }

    fn text(&mut self) -> &'a [u8] {
        let place = self.below(self.seeds.len());
        self.seeds[place]
    }

    /// A short range of a text of this length.
    fn range(&mut self, length: usize) -> (usize, usize) {
        let from = self.below(length + 1);
        (from, (from + self.below(40)).min(length))
    }

    /// A number below `bound`, which is not 0 (xorshift64, Marsaglia 2003).
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % bound as u64).expect("it is below a usize")
    }
}

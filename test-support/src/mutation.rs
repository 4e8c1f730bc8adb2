//! Random inputs of a parser: shipped texts that were damaged, cut, doubled or joined. One seed gives the same inputs on every
//! machine.

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
    seeds: Vec<&'a str>,
    state: u64,
}

impl<'a> Mutation<'a> {
    /// Makes inputs from these texts; there is at least one.
    #[must_use]
    pub fn of(seeds: Vec<&'a str>, seed: u64) -> Self {
        assert!(!seeds.is_empty(), "there is a text to start with");
        Self {
            seeds,
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    /// The next input: a text with up to eight changes.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.text().as_bytes().to_vec();
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
                let other = self.text().as_bytes();
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

    fn text(&mut self) -> &'a str {
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

//! The expressions of `--filter`, which select drills.
//!
//! ```text
//! port/*                      scenarios whose name matches
//! port/cable-*@h100-oci       drills whose name matches
//! platform(h100-*)            on platforms whose name matches, variants included
//! family(read)                of a family
//! covers(lsd/3.*)             that cover a clause
//! not X   X and Y   X or Y   (X)
//! ```
//! `not` binds tighter than `and`, `and` tighter than `or`. In a name `*` matches any
//! characters and `?` one. Whether a scenario applies to a platform is decided in [`super::pairs`].

use reports::Glob;

/// What a filter can see of a drill.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'d> {
    /// The scenario, as `family/name`.
    pub scenario: &'d str,
    /// The platform, as `name` or `name:variant`.
    pub platform: &'d str,
    /// The clauses that the scenario covers.
    pub covers: &'d [String],
}

/// A parsed filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The scenario's name matches.
    Scenario(Glob),
    /// The drill's name matches.
    Drill(Glob),
    /// The platform's name matches, with or without its variant.
    Platform(Glob),
    /// The scenario's family matches.
    Family(Glob),
    /// The id of a covered clause matches.
    Covers(Glob),
    /// The inner filter does not match.
    Not(Box<Filter>),
    /// Both match.
    And(Box<Filter>, Box<Filter>),
    /// At least one matches.
    Or(Box<Filter>, Box<Filter>),
}

/// A filter that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the filter cannot be read: {what}\n  {text}\n  {}^\nhint: {hint}", " ".repeat(*.column))]
pub struct FilterError {
    /// The text.
    pub text: String,
    /// Offset of the mistake, in characters from 0.
    pub column: usize,
    /// The mistake.
    pub what: String,
    /// The hint.
    pub hint: &'static str,
}

impl Filter {
    /// Parses a filter.
    ///
    /// # Errors
    /// A [`FilterError`] with the offset of the first mistake.
    pub fn read(text: &str) -> Result<Self, FilterError> {
        let mut reader = Reader {
            text,
            tokens: tokens(text),
            next: 0,
            depth: 0,
        };
        let filter = reader.either()?;
        match reader.peek() {
            None => Ok(filter),
            Some(_) => Err(reader.error("a filter ends here, but more follows", JOINED)),
        }
    }

    /// The platforms that it names, as patterns.
    #[must_use]
    pub fn platforms(&self) -> Vec<String> {
        match self {
            Self::Platform(glob) => vec![glob.to_string()],
            Self::Drill(glob) => {
                let name = glob.to_string();
                let platform = name
                    .split_once('@')
                    .map(|(_, platform)| platform.to_owned());
                platform.into_iter().collect()
            }
            Self::Not(filter) => filter.platforms(),
            Self::And(one, other) | Self::Or(one, other) => {
                [one.platforms(), other.platforms()].concat()
            }
            Self::Scenario(_) | Self::Family(_) | Self::Covers(_) => Vec::new(),
        }
    }

    /// Whether the drill matches.
    #[must_use]
    pub fn means(&self, drill: Seen<'_>) -> bool {
        match self {
            Self::Scenario(glob) => glob.fits(drill.scenario),
            Self::Drill(glob) => glob.fits(&format!("{}@{}", drill.scenario, drill.platform)),
            Self::Platform(glob) => {
                let base = drill.platform.split(':').next().unwrap_or_default();
                glob.fits(drill.platform) || glob.fits(base)
            }
            Self::Family(glob) => glob.fits(drill.scenario.split('/').next().unwrap_or_default()),
            Self::Covers(glob) => drill.covers.iter().any(|clause| glob.fits(clause)),
            Self::Not(filter) => !filter.means(drill),
            Self::And(one, other) => one.means(drill) && other.means(drill),
            Self::Or(one, other) => one.means(drill) || other.means(drill),
        }
    }
}

const JOINED: &str = "join two filters with `and` or `or`";
const WANTED: &str = "a name such as `port/*`, `platform(h100-oci)`, `family(read)`, `covers(lsd/3.*)`, `not …` or `(…)`";

/// The deepest nesting. Chosen: enough for any written filter; the parser is recursive.
const DEPTH_MAX: usize = 64;

struct Reader<'t> {
    text: &'t str,
    /// Each token with its column.
    tokens: Vec<(usize, &'t str)>,
    next: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn either(&mut self) -> Result<Filter, FilterError> {
        let mut filter = self.both()?;
        while self.take("or") {
            filter = Filter::Or(Box::new(filter), Box::new(self.both()?));
        }
        Ok(filter)
    }

    fn both(&mut self) -> Result<Filter, FilterError> {
        let mut filter = self.one()?;
        while self.take("and") {
            filter = Filter::And(Box::new(filter), Box::new(self.one()?));
        }
        Ok(filter)
    }

    fn one(&mut self) -> Result<Filter, FilterError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error("the filter is nested too deeply", "write it flatter"));
        }
        let filter = self.one_at_depth();
        self.depth -= 1;
        filter
    }

    fn one_at_depth(&mut self) -> Result<Filter, FilterError> {
        if self.take("not") {
            return Ok(Filter::Not(Box::new(self.one()?)));
        }
        if self.take("(") {
            let filter = self.either()?;
            self.close()?;
            return Ok(filter);
        }
        match self.peek() {
            None => Err(self.error("something is missing here", WANTED)),
            Some(")" | "and" | "or") => Err(self.error("a name is missing before this", WANTED)),
            Some(word) => {
                self.next += 1;
                if self.peek() != Some("(") {
                    let glob = Glob::new(word);
                    let drill = word.contains('@');
                    return Ok(if drill {
                        Filter::Drill(glob)
                    } else {
                        Filter::Scenario(glob)
                    });
                }
                let made: fn(Glob) -> Filter = match word {
                    "platform" => Filter::Platform,
                    "family" => Filter::Family,
                    "covers" => Filter::Covers,
                    "scenario" => Filter::Scenario,
                    _ => {
                        self.next -= 1;
                        return Err(self.error(
                            &format!("`{word}(…)` is not known"),
                            "known are `platform(…)`, `family(…)`, `covers(…)` and `scenario(…)`",
                        ));
                    }
                };
                self.next += 1;
                let name = match self.peek() {
                    Some(name) if !["(", ")"].contains(&name) => name,
                    _ => return Err(self.error("a name is missing here", WANTED)),
                };
                self.next += 1;
                self.close()?;
                Ok(made(Glob::new(name)))
            }
        }
    }

    fn close(&mut self) -> Result<(), FilterError> {
        if self.take(")") {
            return Ok(());
        }
        Err(self.error("a `)` is missing here", "every `(` needs its `)`"))
    }

    fn peek(&self) -> Option<&'t str> {
        self.tokens.get(self.next).map(|(_, token)| *token)
    }

    fn take(&mut self, token: &str) -> bool {
        let taken = self.peek() == Some(token);
        self.next += usize::from(taken);
        taken
    }

    fn error(&self, what: &str, hint: &'static str) -> FilterError {
        let end = self.text.chars().count();
        let column = self
            .tokens
            .get(self.next)
            .map_or(end, |(column, _)| *column);
        FilterError {
            text: self.text.to_owned(),
            column,
            what: what.to_owned(),
            hint,
        }
    }
}

/// Words and brackets, each with its column in characters.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut word: Option<(usize, usize)> = None;
    for (column, (at, c)) in text.char_indices().enumerate() {
        if c.is_whitespace() || c == '(' || c == ')' {
            if let Some((column, from)) = word.take() {
                tokens.push((column, &text[from..at]));
            }
            if !c.is_whitespace() {
                tokens.push((column, &text[at..=at]));
            }
        } else if word.is_none() {
            word = Some((column, at));
        }
    }
    if let Some((column, from)) = word {
        tokens.push((column, &text[from..]));
    }
    tokens
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn means(filter: &str, scenario: &str, platform: &str) -> bool {
        let covers = ["lsd/3.4/fatal".to_owned()];
        Filter::read(filter).unwrap().means(Seen {
            scenario,
            platform,
            covers: &covers,
        })
    }

    #[rstest]
    #[case("port/*", true)]
    #[case("port", false)]
    #[case("*cable*", true)]
    #[case("port/cable-pulle?", true)]
    #[case("port/*@h100-oci:vfs", true)]
    #[case("port/*@h100-oci", false)]
    #[case("platform(h100-oci)", true)]
    #[case("platform(h100-oci:vfs)", true)]
    #[case("platform(h100-oci:other)", false)]
    #[case("family(port)", true)]
    #[case("family(read)", false)]
    #[case("covers(lsd/3.*)", true)]
    #[case("covers(lsd/4.*)", false)]
    #[case("not family(read)", true)]
    #[case("not not family(read)", false)]
    #[case("family(read) or family(port) and platform(nowhere)", false)]
    #[case("(family(read) or family(port)) and platform(h100*)", true)]
    #[case("not family(read) and family(port)", true)]
    fn a_filter_means(#[case] filter: &str, #[case] expected: bool) {
        assert_eq!(means(filter, "port/cable-pulled", "h100-oci:vfs"), expected);
    }

    #[rstest]
    #[case("", 0, "something is missing here")]
    #[case("port/* and", 10, "something is missing here")]
    #[case("and port/*", 0, "a name is missing before this")]
    #[case("(port/*", 7, "a `)` is missing here")]
    #[case("port/* read/*", 7, "more follows")]
    #[case("plattform(h100)", 0, "`plattform(…)` is not known")]
    #[case("platform()", 9, "a name is missing here")]
    #[case("platform(a b)", 11, "a `)` is missing here")]
    fn a_broken_filter_is_pointed_at(
        #[case] filter: &str,
        #[case] column: usize,
        #[case] what: &str,
    ) {
        let error = Filter::read(filter).unwrap_err();
        assert_eq!(error.column, column, "{error}");
        assert!(error.what.contains(what), "{error}");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[ ()a-z*@/é]{0,200}") {
            if let Err(error) = Filter::read(&text) {
                prop_assert!(!error.to_string().is_empty());
            }
        }

        #[test]
        fn a_filter_and_its_negation_never_agree(scenario in "[a-c]/[a-c]", other in "[a-c]/[a-c*]") {
            prop_assert_ne!(
                means(&other, &scenario, "p"),
                means(&format!("not {other}"), &scenario, "p")
            );
        }
    }
}

//! The address of a store: `sqlite:FILE` or `postgres://…`.
//!
//! Its text for people ([`StoreUrl`]'s `Display`) consists of parts that are not secret, and an error quotes no part that may
//! be a piece of a password. [`Server`] reads the address of a server.

use std::{fmt, path::PathBuf, str::FromStr};

use crate::postgres::Server;

/// The address of a store.
#[derive(Clone)]
pub struct StoreUrl(pub(super) Place);

/// The kinds of stores.
#[derive(Clone)]
pub(super) enum Place {
    /// A file, created if it does not exist.
    Sqlite(PathBuf),
    /// A server, and how the connection is protected.
    Postgres(Box<Server>),
}

/// An invalid address of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}\nhint: {hint}")]
pub struct StoreUrlError {
    found: String,
    hint: String,
}

impl StoreUrlError {
    pub(super) fn new(found: impl Into<String>, hint: &str) -> Self {
        Self {
            found: found.into(),
            hint: hint.to_owned(),
        }
    }
}

/// The two forms.
pub(super) const FORMS: &str = "write `sqlite:FILE` or `postgres://USER@HOST:PORT/DATABASE`";

impl FromStr for StoreUrl {
    type Err = StoreUrlError;

    fn from_str(text: &str) -> Result<Self, StoreUrlError> {
        match text.split_once(':') {
            Some(("sqlite", rest)) => sqlite(rest),
            Some(("postgres" | "postgresql", _)) => {
                let server = Server::read(text)?;
                Ok(StoreUrl(Place::Postgres(Box::new(server))))
            }
            // The rest may contain a password.
            Some((kind, _)) if kind.chars().all(|letter| letter.is_ascii_alphanumeric()) => {
                let found = format!("there is no store of the kind `{kind}:`");
                Err(StoreUrlError::new(found, FORMS))
            }
            None if !text.contains(['=', '@']) => {
                let found = format!("`{text}` does not say which kind of store it is");
                Err(StoreUrlError::new(found, FORMS))
            }
            _ => Err(StoreUrlError::new(
                "the store's address does not say which kind of store it is",
                FORMS,
            )),
        }
    }
}

fn sqlite(rest: &str) -> Result<StoreUrl, StoreUrlError> {
    // `sqlite:///tmp/events.db`, a form used by other programs.
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() {
        let found = "`sqlite:` names no file";
        return Err(StoreUrlError::new(found, "write `sqlite:events.db`"));
    }
    if path == ":memory:" {
        let found = "a store `:memory:` would be gone with the run";
        let hint = "without `--store` events are kept in memory; name a file to keep them";
        return Err(StoreUrlError::new(found, hint));
    }
    Ok(StoreUrl(Place::Sqlite(PathBuf::from(path))))
}

impl StoreUrl {
    /// Whether the address has a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        matches!(&self.0, Place::Postgres(server) if server.password().is_some())
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Place::Postgres(server) => server.fmt(f),
        }
    }
}

/// The same text as `Display`, without secrets.
impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("sqlite:events.db", "sqlite:events.db")]
    #[case("sqlite:/tmp/events.db", "sqlite:/tmp/events.db")]
    #[case("sqlite:///tmp/events.db", "sqlite:/tmp/events.db")]
    fn a_file_is_shown(#[case] text: &str, #[case] shown: &str) {
        let url: StoreUrl = text.parse().unwrap();
        assert_eq!(url.to_string(), shown);
        assert_eq!(format!("{url:?}"), format!("StoreUrl({shown})"));
    }

    #[rstest]
    #[case("events.db", "`events.db` does not say which kind")]
    #[case("sqlite:", "names no file")]
    #[case("sqlite::memory:", "gone with the run")]
    #[case("mysql://ann:secret@h/d", "kind `mysql:`")]
    #[case("host=h password=secret", "does not say which kind")]
    #[case("host=h password=se:cret", "does not say which kind")]
    fn a_text_that_names_no_store_is_refused_and_its_password_kept(
        #[case] text: &str,
        #[case] reported: &str,
    ) {
        let error = text.parse::<StoreUrl>().unwrap_err().to_string();
        assert!(
            error.contains(reported) && error.contains("\nhint: "),
            "{error}"
        );
        assert!(!error.contains("cret"), "{error}");
    }
}

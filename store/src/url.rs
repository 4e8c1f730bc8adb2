//! The address of a store on the command line: `sqlite:FILE` or `postgres://…`.
//!
//! Its text for people ([`StoreUrl`]'s `Display`) consists of parts that are not secret, so that it
//! never contains a password.

use std::{fmt, path::PathBuf, str::FromStr};

use ::postgres::config::{Config, Host, SslMode};

/// The default port of PostgreSQL ("PostgreSQL documentation, Database Connection Control").
const PORT: u16 = 5432;

/// The address of a store.
#[derive(Clone)]
pub struct StoreUrl(pub(super) Place);

/// The kinds of stores.
#[derive(Clone)]
pub(super) enum Place {
    /// A file, created if it does not exist.
    Sqlite(PathBuf),
    /// A server.
    Postgres(Box<Config>),
}

/// An invalid address of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}\nhint: {hint}")]
pub struct StoreUrlError {
    found: String,
    hint: String,
}

impl StoreUrlError {
    fn new(found: impl Into<String>, hint: &str) -> Self {
        Self {
            found: found.into(),
            hint: hint.to_owned(),
        }
    }
}

/// The two forms.
const FORMS: &str = "write `sqlite:FILE` or `postgres://USER@HOST:PORT/DATABASE`";

impl FromStr for StoreUrl {
    type Err = StoreUrlError;

    fn from_str(text: &str) -> Result<Self, StoreUrlError> {
        match text.split_once(':') {
            Some(("sqlite", rest)) => sqlite(rest),
            Some(("postgres" | "postgresql", _)) => postgres(text),
            // The rest may contain a password.
            Some((kind, _)) => {
                let found = format!("there is no store of the kind `{kind}:`");
                Err(StoreUrlError::new(found, FORMS))
            }
            None => {
                let found = format!("`{text}` does not say which kind of store it is");
                Err(StoreUrlError::new(found, FORMS))
            }
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

fn postgres(text: &str) -> Result<StoreUrl, StoreUrlError> {
    let config: Config = text.parse().map_err(|error: ::postgres::Error| {
        let cause = super::postgres::reason(&error);
        StoreUrlError::new(
            format!("the store's address cannot be read: {cause}"),
            FORMS,
        )
    })?;
    if config.get_hosts().is_empty() {
        let hint = "write `postgres://USER@HOST/DATABASE`, or `postgres:///DATABASE?host=FOLDER` for the \
                    socket in a folder";
        return Err(StoreUrlError::new(
            "the store's address names no host",
            hint,
        ));
    }
    let is_torn = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
    if config.get_hosts().iter().any(is_torn) {
        let hint = "write `%40` for an `@` in a user's name or password";
        return Err(StoreUrlError::new(
            "the store's address has more than one `@`",
            hint,
        ));
    }
    if config.get_ssl_mode() == SslMode::Require {
        let hint = "nicdrill speaks to PostgreSQL without TLS: use a socket, a tunnel, or `sslmode=disable`";
        return Err(StoreUrlError::new(
            "`sslmode=require` is not to be had",
            hint,
        ));
    }
    Ok(StoreUrl(Place::Postgres(Box::new(config))))
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = match &self.0 {
            Place::Sqlite(path) => return write!(f, "sqlite:{}", path.display()),
            Place::Postgres(config) => config,
        };
        f.write_str("postgres://")?;
        if let Some(user) = config.get_user() {
            write!(f, "{user}@")?;
        }
        let mut folders = Vec::new();
        let mut between = "";
        for (place, host) in config.get_hosts().iter().enumerate() {
            match host {
                Host::Tcp(name) => {
                    // One port applies to every host.
                    let ports = config.get_ports();
                    let port = ports.get(place).or(ports.first()).unwrap_or(&PORT);
                    write!(f, "{between}{name}:{port}")?;
                    between = ",";
                }
                Host::Unix(folder) => folders.push(folder),
            }
        }
        write!(f, "/{}", config.get_dbname().unwrap_or_default())?;
        let mut between = '?';
        for folder in folders {
            write!(f, "{between}host={}", folder.display())?;
            between = '&';
        }
        Ok(())
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
    #[case(
        "postgres://ann:secret@db.example:6000/events",
        "postgres://ann@db.example:6000/events"
    )]
    #[case("postgresql://db.example/events", "postgres://db.example:5432/events")]
    #[case(
        "postgres://ann@one,two/events?password=secret",
        "postgres://ann@one:5432,two:5432/events"
    )]
    #[case(
        "postgres:///events?host=/run/db&user=ann&password=secret",
        "postgres://ann@/events?host=/run/db"
    )]
    fn a_store_is_shown_without_its_password(#[case] text: &str, #[case] shown: &str) {
        let url: StoreUrl = text.parse().unwrap();
        assert_eq!(url.to_string(), shown);
        assert_eq!(format!("{url:?}"), format!("StoreUrl({shown})"));
    }

    #[rstest]
    #[case("events.db", "`events.db` does not say which kind")]
    #[case("sqlite:", "names no file")]
    #[case("sqlite::memory:", "gone with the run")]
    #[case("mysql://ann:secret@h/d", "kind `mysql:`")]
    #[case("postgres:///events?user=ann&password=secret", "names no host")]
    #[case("postgres://ann:se@cret@h/d", "more than one `@`")]
    #[case("postgres://ann:secret@h/d?sslmode=require", "`sslmode=require`")]
    #[case("postgres://ann:secret@h/d?ports=1", "cannot be read")]
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

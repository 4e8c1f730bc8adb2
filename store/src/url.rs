//! The address of a store: `sqlite:FILE` or `postgres://…`.
//!
//! Its text for people ([`StoreUrl`]'s `Display`) consists of parts that are not secret, and an error quotes no part that may
//! be a piece of a password.

use std::{fmt, path::PathBuf, str::FromStr};

use ::postgres::config::{Config, Host, SslMode};

use crate::{
    password::port,
    tls::{MODES, Mode, Tls},
};

/// The default port of PostgreSQL ("PostgreSQL documentation, Database Connection Control").
pub(super) const PORT: u16 = 5432;

/// The address of a store.
#[derive(Clone)]
pub struct StoreUrl(pub(super) Place);

/// The kinds of stores.
#[derive(Clone)]
pub(super) enum Place {
    /// A file, created if it does not exist.
    Sqlite(PathBuf),
    /// A server, and how the connection is protected.
    Postgres(Box<Config>, Tls),
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

fn postgres(text: &str) -> Result<StoreUrl, StoreUrlError> {
    let (text, tls) = protection(text)?;
    let mut config: Config = text.parse().map_err(|error: ::postgres::Error| {
        // Other causes quote what they found, which may be a piece of a password.
        let cause = super::postgres::reason(&error);
        let cause = if cause.starts_with("invalid value for option") {
            cause
        } else {
            "its form is not known".to_owned()
        };
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
    let is_socket = |host: &Host| matches!(host, Host::Unix(_));
    config.ssl_mode(if config.get_hosts().iter().all(is_socket) {
        SslMode::Disable
    } else {
        tls.driver_mode()
    });
    Ok(StoreUrl(Place::Postgres(Box::new(config), tls)))
}

/// Takes `sslmode` and `sslrootcert`, of which the driver knows too few, out of the address.
fn protection(text: &str) -> Result<(String, Tls), StoreUrlError> {
    let mut tls = Tls::default();
    // What stands before an `@` is a user's name and password.
    let begin = text.find('@').unwrap_or(0);
    let Some(place) = text[begin..].find('?').map(|place| begin + place) else {
        return Ok((text.to_owned(), tls));
    };
    let (address, parameters) = (&text[..place], &text[place + 1..]);
    let mut others = Vec::new();
    for parameter in parameters.split('&') {
        match parameter.split_once('=') {
            Some(("sslmode", value)) => {
                let mode = MODES.iter().find(|(name, _)| *name == value);
                let (_, mode) = mode.ok_or_else(|| {
                    let names: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
                    let hint = format!("allowed: {}", names.join(", "));
                    StoreUrlError::new("the store's `sslmode` is not known", &hint)
                })?;
                tls.mode = *mode;
            }
            Some(("sslrootcert", value)) => {
                let file = percent_encoding::percent_decode_str(value).decode_utf8_lossy();
                tls.roots = Some(PathBuf::from(file.as_ref()));
            }
            _ => others.push(parameter),
        }
    }
    let is_verified = matches!(tls.mode, Mode::VerifyCa | Mode::VerifyFull);
    if is_verified && tls.roots.is_none() {
        let hint = "write `sslrootcert=FILE`: the certificates in PEM that the server's must be signed by, as \
                    `/etc/ssl/certs/ca-certificates.crt`";
        return Err(StoreUrlError::new(
            "a certificate cannot be verified without `sslrootcert`",
            hint,
        ));
    }
    if others.is_empty() {
        return Ok((address.to_owned(), tls));
    }
    Ok((format!("{address}?{}", others.join("&")), tls))
}

impl StoreUrl {
    /// Whether the address has a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        matches!(&self.0, Place::Postgres(config, _) if config.get_password().is_some())
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = match &self.0 {
            Place::Sqlite(path) => return write!(f, "sqlite:{}", path.display()),
            Place::Postgres(config, _) => config,
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
                    write!(f, "{between}{name}:{}", port(config, place))?;
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
    #[case("postgres://ann:se?sslmode=cret@h/d", "postgres://ann@h:5432/d")]
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
    #[case("disable", Mode::Disable, SslMode::Disable)]
    #[case("prefer", Mode::Prefer, SslMode::Prefer)]
    #[case("require", Mode::Require, SslMode::Require)]
    #[case("verify-ca", Mode::VerifyCa, SslMode::Require)]
    #[case("verify-full", Mode::VerifyFull, SslMode::Require)]
    fn a_mode_is_read_as_libpq_names_it(
        #[case] name: &str,
        #[case] mode: Mode,
        #[case] driver: SslMode,
    ) {
        let address =
            format!("postgres://h/d?sslrootcert=%2Fca.pem&sslmode={name}&connect_timeout=3");
        let url: StoreUrl = address.parse().unwrap();
        let Place::Postgres(config, tls) = url.0 else {
            panic!("it is a server")
        };
        let roots = Some(PathBuf::from("/ca.pem"));
        assert_eq!((tls, config.get_ssl_mode()), (Tls { mode, roots }, driver));
    }

    #[rstest]
    #[case("events.db", "`events.db` does not say which kind")]
    #[case("sqlite:", "names no file")]
    #[case("sqlite::memory:", "gone with the run")]
    #[case("mysql://ann:secret@h/d", "kind `mysql:`")]
    #[case("postgres:///events?user=ann&password=secret", "names no host")]
    #[case("postgres://ann:se@cret@h/d", "more than one `@`")]
    #[case("postgres://ann:secret@h/d?sslmode=allow", "`sslmode` is not known")]
    #[case(
        "postgres://ann:secret@h/d?sslmode=verify-full",
        "without `sslrootcert`"
    )]
    #[case("postgres://ann:secret/d", "cannot be read")]
    #[case("host=h password=secret", "does not say which kind")]
    #[case("host=h password=se:cret", "does not say which kind")]
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

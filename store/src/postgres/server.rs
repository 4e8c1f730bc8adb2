//! The address of a PostgreSQL server, `postgres://…`, and whom its password is for.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use ::postgres::{
    Client,
    config::{Config, Host, SslMode},
};

use super::{
    reason,
    tls::{MODES, Mode, Tls},
};
use crate::{
    passfile::Login,
    url::{FORMS, StoreUrlError},
};

/// The default port of PostgreSQL ("PostgreSQL documentation, Database Connection Control").
const PORT: u16 = 5432;

/// The folders of a server's socket that `localhost` of a password file means: PostgreSQL's own and Debian's.
const SOCKET_FOLDERS: [&str; 3] = ["/tmp", "/var/run/postgresql", "/run/postgresql"];

/// The connect timeout of one address, unless the store's URL states one. Chosen.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A server, and how the connection is protected.
#[derive(Clone)]
pub(crate) struct Server {
    config: Config,
    tls: Tls,
}

impl Server {
    /// Reads an address.
    ///
    /// # Errors
    /// [`StoreUrlError`]: its form or its `sslmode` is not known, or it names no host.
    pub(crate) fn read(text: &str) -> Result<Self, StoreUrlError> {
        let (text, tls) = protection(text)?;
        let mut config: Config = text.parse().map_err(|error: ::postgres::Error| {
            // Other causes quote what they found, which may be a piece of a password.
            let cause = reason(&error);
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
        Ok(Self { config, tls })
    }

    /// The password that is known.
    pub(crate) fn password(&self) -> Option<&[u8]> {
        self.config.get_password()
    }

    /// Takes a password from elsewhere.
    pub(crate) fn set_password(&mut self, password: String) {
        self.config.password(password);
    }

    /// Whom the password is for, once for each host.
    pub(crate) fn logins(&self) -> Vec<Login> {
        let config = &self.config;
        // The user's name is what the driver takes without one.
        let user = match config.get_user() {
            Some(user) => user.to_owned(),
            None => whoami::username().unwrap_or_default(),
        };
        let database = config.get_dbname().unwrap_or(&user);
        let hosts = config.get_hosts().iter().enumerate();
        let logins = hosts.map(|(place, host)| Login {
            host: match host {
                Host::Tcp(name) => name.clone(),
                Host::Unix(folder) => socket(folder),
            },
            port: port(config, place),
            database: database.to_owned(),
            user: user.clone(),
        });
        logins.collect()
    }

    pub(super) fn connect(&self) -> Result<Client, String> {
        let connector = self.tls.connector()?;
        let mut config = self.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("nicdrill");
        }
        config.connect(connector).map_err(|error| reason(&error))
    }
}

/// Without the password.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
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

/// The port of a host: its own, the only one, or PostgreSQL's.
fn port(config: &Config, place: usize) -> u16 {
    let ports = config.get_ports();
    *ports.get(place).or(ports.first()).unwrap_or(&PORT)
}

/// What a password file calls the socket in this folder.
fn socket(folder: &Path) -> String {
    if SOCKET_FOLDERS
        .iter()
        .any(|known| folder == Path::new(known))
    {
        "localhost".to_owned()
    } else {
        folder.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::url::{Place, StoreUrl};

    #[rstest]
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
    fn a_server_is_shown_without_its_password(#[case] text: &str, #[case] shown: &str) {
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
        let Place::Postgres(server) = url.0 else {
            panic!("it is a server")
        };
        let Server { config, tls } = *server;
        let roots = Some(PathBuf::from("/ca.pem"));
        assert_eq!((tls, config.get_ssl_mode()), (Tls { mode, roots }, driver));
    }

    #[rstest]
    #[case("postgres:///events?user=ann&password=secret", "names no host")]
    #[case("postgres://ann:se@cret@h/d", "more than one `@`")]
    #[case("postgres://ann:secret@h/d?sslmode=allow", "`sslmode` is not known")]
    #[case(
        "postgres://ann:secret@h/d?sslmode=verify-full",
        "without `sslrootcert`"
    )]
    #[case("postgres://ann:secret/d", "cannot be read")]
    #[case("postgres://ann:secret@h/d?ports=1", "cannot be read")]
    fn an_address_that_names_no_server_is_refused_and_its_password_kept(
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

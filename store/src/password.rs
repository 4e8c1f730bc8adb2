//! Where the password of a PostgreSQL server comes from, in libpq's order: the address, `PGPASSWORD`, a password file
//! ("PostgreSQL documentation, Environment Variables; The Password File").

use std::{
    ffi::OsString,
    fmt, fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::{
    passfile,
    postgres::Server,
    url::{Place, StoreUrl},
};

/// The passwords that a user's environment provides.
#[derive(Clone, Default)]
pub struct Passwords {
    /// `PGPASSWORD`.
    password: Option<String>,
    /// `PGPASSFILE`, else `~/.pgpass`.
    file: Option<PathBuf>,
}

/// Without the password.
impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Passwords({:?})", self.file)
    }
}

/// Why a store's password is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// One connection has one password, and it is given to no host that it is not for.
    #[error(
        "the password file `{0}` has different passwords for the store's hosts\nhint: name one host, or write one line \
         for all of them"
    )]
    Different(PathBuf),
    /// The file cannot be read.
    #[error(
        "the password file `{0}` cannot be read: {1}\nhint: `PGPASSFILE` names another, `PGPASSWORD` has the password itself"
    )]
    Unreadable(PathBuf, String),
    /// `PGPASSWORD` is not UTF-8, which a password of PostgreSQL is.
    #[error(
        "`PGPASSWORD` is not UTF-8\nhint: write the password into the file that `PGPASSFILE` names"
    )]
    NotText,
}

impl Passwords {
    /// Reads the variables `PGPASSWORD`, `PGPASSFILE` and `HOME`; an empty one is not set.
    ///
    /// # Errors
    /// [`PasswordError::NotText`].
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, PasswordError> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let home = || set("HOME").map(|home| PathBuf::from(home).join(".pgpass"));
        Ok(Self {
            password: set("PGPASSWORD")
                .map(|password| password.into_string().map_err(|_| PasswordError::NotText))
                .transpose()?,
            file: set("PGPASSFILE").map(PathBuf::from).or_else(home),
        })
    }
}

impl StoreUrl {
    /// Gives the store its password, unless its address has one. A password file that others can read is not used, and a
    /// warning says so.
    ///
    /// # Errors
    /// [`PasswordError`].
    pub fn unlock(
        &mut self,
        passwords: &Passwords,
        warn: impl FnOnce(&str),
    ) -> Result<(), PasswordError> {
        let Place::Postgres(server) = &mut self.0 else {
            return Ok(());
        };
        if server.password().is_some_and(|known| !known.is_empty()) {
            return Ok(());
        }
        let found = match (&passwords.password, &passwords.file) {
            (Some(password), _) => Some(password.clone()),
            (None, Some(file)) => in_file(file, server, warn)?,
            (None, None) => None,
        };
        if let Some(found) = found {
            server.set_password(found);
        }
        Ok(())
    }
}

/// The password in a file. Without a file there is none, as for libpq.
fn in_file(
    file: &Path,
    server: &Server,
    warn: impl FnOnce(&str),
) -> Result<Option<String>, PasswordError> {
    let Ok(metadata) = fs::metadata(file) else {
        return Ok(None);
    };
    let shown = file.display();
    if !metadata.is_file() {
        warn(&format!(
            "the password file `{shown}` is not a plain file, and is not used"
        ));
        return Ok(None);
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o077 != 0 {
        warn(&format!(
            "others can read the password file `{shown}` (mode {mode:04o}), so it is not used: `chmod 0600 {shown}`"
        ));
        return Ok(None);
    }
    let text = fs::read_to_string(file)
        .map_err(|error| PasswordError::Unreadable(file.to_owned(), error.to_string()))?;
    let logins = server.logins().into_iter();
    let mut found: Vec<Option<String>> =
        logins.map(|login| passfile::find(&text, &login)).collect();
    found.dedup();
    match found.len() {
        0 | 1 => Ok(found.pop().flatten()),
        _ => Err(PasswordError::Different(file.to_owned())),
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use rstest::rstest;

    use super::*;

    /// The password of a store in an environment with a password file of this text and mode, and what is warned of.
    fn unlocked(
        address: &str,
        password: &str,
        (text, mode): (&str, u32),
    ) -> (Option<String>, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passwords");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let passwords = Passwords::of(|name| match name {
            "PGPASSWORD" => Some(password.into()),
            "PGPASSFILE" => Some(file.clone().into()),
            _ => None,
        });
        let mut store: StoreUrl = address.parse().unwrap();
        let mut warned = String::new();
        let unlocked = store.unlock(&passwords.unwrap(), |warning| warned = warning.to_owned());
        unlocked.unwrap();
        let Place::Postgres(server) = store.0 else {
            panic!("it is a server")
        };
        let password = server.password().map(<[u8]>::to_vec);
        (
            password.map(|bytes| String::from_utf8(bytes).unwrap()),
            warned,
        )
    }

    const ADDRESS: &str = "postgres://ann@db.example/events";
    const FILE: (&str, u32) = ("*:*:*:*:of-file", 0o600);

    #[rstest]
    #[case::the_address("postgres://ann:own@db.example/events", "of-env", FILE, Some("own"))]
    #[case::the_environment(ADDRESS, "of-env", FILE, Some("of-env"))]
    #[case::a_file(ADDRESS, "", FILE, Some("of-file"))]
    #[case::a_file_of_others(ADDRESS, "", ("db.other:*:*:*:a", 0o600), None)]
    #[case::two_hosts_one_password("postgres://ann@one,two/events", "", FILE, Some("of-file"))]
    #[case::the_usual_socket("postgres:///d?host=/run/postgresql&user=ann", "", ("localhost:*:d:ann:a", 0o600), Some("a"))]
    #[case::another_socket("postgres:///d?host=/run/db&user=ann", "", ("/run/db:*:d:ann:a", 0o600), Some("a"))]
    #[case::a_database_named_as_its_user("postgres://ann@h", "", ("h:5432:ann:ann:a", 0o600), Some("a"))]
    fn the_first_source_of_a_password_counts(
        #[case] address: &str,
        #[case] password: &str,
        #[case] file: (&str, u32),
        #[case] found: Option<&str>,
    ) {
        let (unlocked, warned) = unlocked(address, password, file);
        assert_eq!((unlocked.as_deref(), warned.as_str()), (found, ""));
    }

    #[rstest]
    #[case(0o640)]
    #[case(0o604)]
    #[case(0o620)]
    fn a_file_that_others_can_read_is_not_used(#[case] mode: u32) {
        let (unlocked, warned) = unlocked(ADDRESS, "", (FILE.0, mode));
        assert_eq!(unlocked, None);
        assert!(warned.contains(&format!("(mode {mode:04o})")), "{warned}");
        assert!(warned.contains("chmod 0600"), "{warned}");
    }

    #[test]
    fn a_password_goes_to_no_host_that_it_is_not_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passwords");
        fs::write(&file, "one:*:*:*:a\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let passwords = Passwords::of(|name| (name == "PGPASSFILE").then(|| file.clone().into()));
        let mut store: StoreUrl = "postgres://ann@one,two/events".parse().unwrap();
        let refused = store.unlock(&passwords.unwrap(), |_| ()).unwrap_err();
        assert_eq!(refused, PasswordError::Different(file));
    }
}

//! The password file of PostgreSQL's clients ("PostgreSQL documentation, The Password File").
//!
//! A line is `host:port:database:user:password`; `*` stands for every value, `\` makes the next character literal. The first line
//! that fits counts.

/// Whom a password is for.
#[derive(Clone, Debug)]
pub(super) struct Login {
    /// A name or an address; `localhost` for the socket in the server's default folder, and the folder for any other socket.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) database: String,
    pub(super) user: String,
}

/// The password for this login in a file's text (libpq's `passwordFromFile`).
pub(super) fn find(text: &str, login: &Login) -> Option<String> {
    let port = login.port.to_string();
    let wanted = [&login.host, &port, &login.database, &login.user];
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let mut rest = line;
            for value in wanted {
                rest = after(rest, value)?;
            }
            let (password, _) = field(rest);
            Some(password)
        })
}

/// The rest of the line, if its first field is this value or `*`.
fn after<'a>(line: &'a str, value: &str) -> Option<&'a str> {
    if let Some(rest) = line.strip_prefix("*:") {
        return Some(rest);
    }
    let (found, rest) = field(line);
    rest.filter(|_| found == value)
}

/// The first field without its backslashes, and what follows its colon.
fn field(line: &str) -> (String, Option<&str>) {
    let mut found = String::new();
    let mut letters = line.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            ':' => return (found, Some(&line[at + 1..])),
            '\\' => found.push(letters.next().map_or('\\', |(_, next)| next)),
            other => found.push(other),
        }
    }
    (found, None)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::all_named("db.example:5432:events:ann:mellon", Some("mellon"))]
    #[case::stars("*:*:*:*:mellon", Some("mellon"))]
    #[case::the_first_that_fits("*:*:*:bob:a\n*:*:*:ann:b\n*:*:*:*:c\n", Some("b"))]
    #[case::a_comment("#*:*:*:*:a\n*:*:*:*:b", Some("b"))]
    #[case::escapes(r"*:*:*:ann:a\:b\\c", Some(r"a:b\c"))]
    #[case::an_escaped_field(r"db\.example:*:*:ann:a", Some("a"))]
    #[case::a_star_that_is_literal(r"*:*:*:\*:a", None)]
    #[case::a_line_of_windows("*:*:*:*:a\r\n", Some("a"))]
    #[case::another_host("db.other:*:*:*:a", None)]
    #[case::another_port("*:5433:*:*:a", None)]
    #[case::no_password("*:*:*:*", None)]
    #[case::another_colon("*:*:*:*:a:b", Some("a"))]
    #[case::empty("", None)]
    fn a_password_is_found_as_libpq_finds_it(#[case] text: &str, #[case] found: Option<&str>) {
        let login = Login {
            host: "db.example".to_owned(),
            port: 5432,
            database: "events".to_owned(),
            user: "ann".to_owned(),
        };
        assert_eq!(find(text, &login).as_deref(), found);
    }
}

//! TLS to a real PostgreSQL server, with certificates that the test makes.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use store::{Opening, Passwords, Run, StoreUrl};

use crate::postgres::{PASSWORD, Server};

/// A certificate of an authority, in PEM, and one that it signed for `localhost`, with its key.
fn authority() -> (String, (String, String)) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let signed = params.signed_by(&key, &issuer).unwrap();
    (root, (signed.pem(), key.serialize_pem()))
}

/// Whether the connection has TLS, or why there is none.
fn connected(server: &Server, name: &str, parameters: &str) -> Result<bool, String> {
    let url = server.url_of_address("postgres", name) + parameters;
    let mut url: StoreUrl = url.parse().unwrap();
    let passwords = Passwords::of(|name| (name == "PGPASSWORD").then(|| PASSWORD.into()));
    url.unlock(&passwords.unwrap(), |_| ()).unwrap();
    let _reached = url
        .reach(Run::now(0, Vec::new()), Opening::default())
        .map_err(|error| error.to_string())?;
    let asked = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                 WHERE application_name = 'nicdrill' ORDER BY backend_start DESC LIMIT 1";
    Ok(server.client().query_one(asked, &[]).unwrap().get(0))
}

#[test]
fn a_connection_is_protected_as_its_mode_says() {
    let (root, certificate) = authority();
    let Some(server) = Server::start_at_address(Some(certificate)) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        format!("&sslrootcert={}", path.display())
    };
    let (right, wrong) = (file("right.pem", &root), file("wrong.pem", &authority().0));
    let empty = file("empty.pem", "");
    let (none, missing) = (String::new(), "&sslrootcert=/nowhere.pem".to_owned());
    let (here, other) = ("localhost", "db.example");
    for (mode, name, roots, expected) in [
        ("disable", here, &none, Ok(false)),
        ("prefer", here, &none, Ok(true)),
        ("prefer", other, &wrong, Ok(true)),
        ("require", other, &none, Ok(true)),
        ("require", here, &wrong, Err("invalid peer certificate")),
        ("verify-ca", other, &right, Ok(true)),
        ("verify-ca", here, &wrong, Err("invalid peer certificate")),
        ("verify-full", here, &right, Ok(true)),
        ("verify-full", other, &right, Err("not valid for name")),
        ("verify-full", here, &wrong, Err("invalid peer certificate")),
        ("verify-full", here, &missing, Err("/nowhere.pem")),
        ("verify-full", here, &empty, Err("has no certificate")),
    ] {
        let found = connected(&server, name, &format!("&sslmode={mode}{roots}"));
        let is_right = match (&found, expected) {
            (Ok(found), Ok(expected)) => *found == expected,
            (Err(found), Err(expected)) => found.contains(expected) && !found.contains(PASSWORD),
            _ => false,
        };
        assert!(
            is_right,
            "{mode} of {name}{roots}: {found:?}, not {expected:?}"
        );
    }
}

#[test]
fn a_server_without_tls_is_used_only_if_the_mode_allows_it() {
    let Some(server) = Server::start_at_address(None) else {
        return;
    };
    assert_eq!(connected(&server, "localhost", ""), Ok(false));
    let refused = connected(&server, "localhost", "&sslmode=require").unwrap_err();
    assert!(refused.contains("server does not support TLS"), "{refused}");
}

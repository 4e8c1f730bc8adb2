//! TLS to a PostgreSQL server, by `sslmode` and `sslrootcert` ("PostgreSQL documentation, SSL Support").
//!
//! | `sslmode` | TLS | the certificate |
//! |---|---|---|
//! | `disable` | never | |
//! | `prefer` | if the server offers it | any |
//! | `require` | always | any; with `sslrootcert`, as `verify-ca` |
//! | `verify-ca` | always | signed by `sslrootcert` |
//! | `verify-full` | always | signed by `sslrootcert`, for the host's name |
//!
//! The socket of a machine carries no TLS, whatever the mode.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ::postgres::config::SslMode;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The modes, as `sslmode` names them; libpq's `allow` is of no use and left out.
pub(super) const MODES: [(&str, Mode); 5] = [
    ("disable", Mode::Disable),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::VerifyCa),
    ("verify-full", Mode::VerifyFull),
];

/// How far a connection is protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    Disable,
    #[default]
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// The protection of a store's connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tls {
    pub(super) mode: Mode,
    /// `sslrootcert`: a file of certificates in PEM.
    pub(super) roots: Option<PathBuf>,
}

impl Tls {
    /// What the driver is told.
    pub(super) fn driver_mode(&self) -> SslMode {
        match self.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }

    /// Makes connections.
    ///
    /// # Errors
    /// In words: the file of certificates cannot be read, or has none.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, String> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(Verifier {
            chain: self.chain(&provider)?,
            is_any_name: self.mode != Mode::VerifyFull,
            provider: Arc::clone(&provider),
        });
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(MakeRustlsConnect::new(client))
    }

    /// The check of signatures up to a root; `None` if any certificate will do.
    fn chain(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Option<Arc<WebPkiServerVerifier>>, String> {
        let roots = match (&self.roots, self.mode) {
            (None, _) | (_, Mode::Disable | Mode::Prefer) => return Ok(None),
            (Some(file), _) => roots(file)?,
        };
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map(Some)
            .map_err(|error| error.to_string())
    }
}

/// The certificates in a file.
fn roots(file: &Path) -> Result<RootCertStore, String> {
    let shown = file.display();
    let mut roots = RootCertStore::empty();
    let unreadable = |error: &dyn std::fmt::Display| {
        format!("the certificates of `sslrootcert={shown}` cannot be read: {error}")
    };
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        roots.add(certificate).map_err(|error| unreadable(&error))?;
    }
    if roots.is_empty() {
        return Err(format!("`sslrootcert={shown}` has no certificate (PEM)"));
    }
    Ok(roots)
}

/// Checks a server's certificate as far as the mode asks. That the server has the certificate's key is always checked.
#[derive(Debug)]
struct Verifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    is_any_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified =
            chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The name is checked last: the chain is good.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.is_any_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

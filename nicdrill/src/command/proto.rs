//! `nicdrill proto`: prints the platform connector's `.proto`.

use reports::ExitCode;

use super::Stop;
use crate::{arguments::Color, terminal::Terminal};

/// Prints the contract from which nicdrill's own messages are generated.
pub(crate) fn proto() -> Result<ExitCode, Stop> {
    Terminal::new(Color::Never).verbatim(proto::TEXT);
    Ok(ExitCode::Success)
}

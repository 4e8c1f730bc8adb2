//! What a run judges its monitor by. Start at [`JudgedBy`].

use serde::Serialize;

/// What a run judges its monitor by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "by")]
pub enum JudgedBy {
    /// What its descriptor promises, and the laws.
    #[default]
    Promises,
    /// The laws alone, because it promises nothing.
    Laws {
        /// The monitor, as the command line names it.
        monitor: String,
    },
    /// What the documents ask, and not what the monitor promises.
    Documents,
    /// What a site needs, and not what the monitor promises.
    Needs {
        /// The file of the needs.
        file: String,
    },
}

//! Whether what a monitor reported about a workload was right.

/// Whether a monitor was right, by the one question that "NIC Health Monitor: Link State Detection",
/// 1.3, allows: will the running workload fail because of this?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ReportVerdict {
    /// Fatal and failed, or silent and not failed.
    Agreement,
    /// Fatal, and it did not fail.
    OverReport,
    /// Silent, and it failed.
    UnderReport,
}

impl ReportVerdict {
    /// All verdicts.
    pub const ALL: [Self; 3] = [Self::Agreement, Self::OverReport, Self::UnderReport];

    /// As scenarios and reports spell it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Agreement => "agreement",
            Self::OverReport => "over-report",
            Self::UnderReport => "under-report",
        }
    }

    /// The verdict on a monitor that did or did not report a fatal event, for a workload that did or did
    /// not fail.
    #[must_use]
    pub fn of(fatal: bool, failed: bool) -> Self {
        match (fatal, failed) {
            (true, false) => Self::OverReport,
            (false, true) => Self::UnderReport,
            _ => Self::Agreement,
        }
    }
}

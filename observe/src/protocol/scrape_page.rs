//! The adapter of monitors that serve a page of metrics, which Prometheus would scrape.
//!
//! A scrape itself, and how it ends, is in `scrape.rs`. Start at [`ScrapePage`].

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Adapter, Delivery, Facts, Medium, PageForm, Part, SeriesRules, scrape::NO_TEXT_FORMAT, series,
    series_rules,
};

pub(super) const FACTS: Facts = Facts {
    medium: Medium::Page,
    part: Some(Part {
        key: "scrape",
        example: series_rules::EXAMPLE,
        meanings: "values",
        silence_hint: "compare its page at `{metrics_port}` with its descriptor: path, names, labels",
    }),
    silence: "in {polls} polls the page of the monitor had no series that a rule of `metrics` names",
};

/// With `speaks: scrape`: the page, and what its series mean.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScrapePage {
    /// The path at `{metrics_port}`; default `/metrics`.
    #[serde(default = "metrics_path")]
    pub path: String,
    /// What the series say.
    pub metrics: SeriesRules,
}

/// The page of a program that states none (Prometheus, "Configuration", `metrics_path`).
pub(super) fn metrics_path() -> String {
    "/metrics".to_owned()
}

impl Adapter for ScrapePage {
    fn problems(&self) -> Vec<Problem> {
        self.metrics.problems("scrape")
    }

    fn page(&self) -> Option<(&str, PageForm)> {
        Some((&self.path, PageForm::Series))
    }

    fn page_says(&self, text: &str) -> Result<Delivery, String> {
        let series = series(text).ok_or(NO_TEXT_FORMAT)?;
        Ok(self.metrics.observed(&series))
    }
}

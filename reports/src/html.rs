//! A run, or a comparison, as one HTML file that needs no other: for people, offline.
//!
//! Every text is escaped by the template library; the style sheet and the script are files of `assets/`. Start at
//! [`HtmlReport`].

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{Comparison, DrillName, Lanes, RunReport, as_output};

mod comparison;
mod drill;
mod findings;
mod matrix;
mod summary;

const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");

/// What an HTML report tells of a run.
#[derive(Clone, Copy, Debug)]
pub struct HtmlReport<'r> {
    /// The run.
    pub run: &'r RunReport,
    /// The lanes of drills, by arm; the page draws those that it has.
    pub lanes: &'r BTreeMap<DrillName, Vec<Lanes>>,
}

impl HtmlReport<'_> {
    /// The page.
    #[must_use]
    pub fn page(&self) -> String {
        let run = self.run;
        let title = format!("{}: {}", run.plan.monitor, summary::verdict(run));
        let content = html! {
            (summary::summary(run))
            (findings::findings(run))
            (summary::not_judged(run))
            (matrix::matrix(run, self.lanes))
            (drill::drills(run, self.lanes))
        };
        as_output(&page(&title, &content).into_string())
    }
}

/// A comparison as a page.
#[must_use]
pub fn comparison_html(comparison: &Comparison) -> String {
    let content = comparison::comparison(comparison);
    as_output(&page("nicdrill compare", &content).into_string())
}

fn page(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "To the content" }
                main #main { (content) }
                div.told role="status" aria-live="polite" {}
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// The fragment of a drill in the page.
fn anchor(drill: &DrillName) -> String {
    format!("drill={drill}")
}

/// A command with a button that copies it.
fn command(words: &str) -> Markup {
    html! {
        span.command {
            code { (words) }
            button type="button" data-copy=(words) aria-label=(format!("Copy: {words}")) { "Copy" }
        }
    }
}

//! LNet as a story's nodes see it at an instant, in the format of `lnetctl`.
//!
//! The world is played without a monitor ([`freeze_at`]). Start at [`lnet_page`]; [`trace_page`] has
//! the messages, [`over_page`] a span of time; [`imported`] makes a scenario of what `lnetctl export` wrote.

mod import;
mod lnet_json;
mod over;

use lnet::{Lnet, Traces, View};
use platforms::NodeName;
use scenarios::{Plan, Story};
use std::borrow::Cow;

use director::{Director, FreezeError, freeze_at};

use super::json;
use crate::arguments::Why;

use lnet_json::trace_json;

pub(crate) use import::imported;
pub(crate) use over::over_page;

/// The default views; a node without routes has no page of them.
const VIEWS: [View; 4] = [View::Net, View::Peer, View::Route, View::Stats];

/// What is said where no request met trouble.
const ALL_CARRIED: &str = "LNet carried every request of the layer above at its first try; what that layer made of its own \
     end, such as an eviction, is not LNet's";

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LnetPageError {
    /// The world cannot be played to that instant.
    #[error(transparent)]
    Still(#[from] FreezeError),
    /// The story has no workload on LNet.
    #[error("`{0}` has no workload on LNet\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoLnet(String),
    /// A name that does not exist on LNet.
    #[error("no {what} `{asked}` in this story\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Unknown {
        /// The kind of name.
        what: &'static str,
        /// The requested name.
        asked: String,
        /// The known names.
        known: String,
    },
    /// The message does not exist.
    #[error(transparent)]
    Message(#[from] lnet::UnknownMessage),
    #[error("invalid span `{0}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoSpan(String),
    /// The view does not exist.
    #[error(transparent)]
    View(#[from] lnet::ViewError),
}

impl LnetPageError {
    /// A hint for the user; `None` if the text needs none.
    pub(crate) fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoLnet(..) => "`workloads: { storage: { lnet: … } }`".into(),
            Self::Unknown { known, .. } => format!("there are {known}").into(),
            Self::NoSpan(..) => "write two times, the earlier first, as in `0s..120s`".into(),
            _ => return None,
        })
    }
}

/// The parts that a page shows; by default all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LnetAsked<'a> {
    /// A time, such as `10s`; the story's end by default.
    pub(crate) at: Option<&'a str>,
    /// A workload on LNet; all by default.
    pub(crate) workload: Option<&'a str>,
    /// A node; all on LNet by default.
    pub(crate) node: Option<&'a str>,
    /// Whether the page is JSON.
    pub(crate) json: bool,
    /// A view, such as `net`; `net`, `peer`, `route` where there are routes, and `stats` by default.
    pub(crate) view: Option<&'a str>,
}

/// The page, and the lines of the story that were left out. It is YAML, one document per view.
///
/// # Errors
/// [`LnetPageError`], by cause.
pub(crate) fn lnet_page(
    story: &Story,
    asked: LnetAsked<'_>,
) -> Result<(String, Vec<String>), LnetPageError> {
    let views = match asked.view {
        Some(view) => vec![view.parse()?],
        None => VIEWS.to_vec(),
    };
    let (director, left_out) = freeze_at(story, asked.at)?;
    let nets = nets(story, &director, asked.workload)?;
    let nodes: Vec<&NodeName> = nets
        .iter()
        .flat_map(|(_, lnet)| lnet.nodes().map(|node| node.name()))
        .collect();
    if let Some(asked) = asked.node
        && !nodes.iter().any(|node| node.as_str() == asked)
    {
        let names: Vec<&str> = nodes.iter().map(|node| node.as_str()).collect();
        return Err(unknown("node on LNet", asked, &names));
    }
    let (mut page, mut shown) = (String::new(), Vec::new());
    for (name, lnet) in nets {
        let nodes = lnet.nodes();
        for held in
            nodes.filter(|node| asked.node.is_none_or(|asked| asked == node.name().as_str()))
        {
            let node = held.name();
            let empty = |view: View| {
                asked.view.is_none() && view == View::Route && held.routes().is_empty()
            };
            for view in views.iter().filter(|view| !empty(**view)) {
                let command = view.command();
                let now = director.fabric().now();
                page += &format!("---\n# {command} on {node}, workload {name}, at {now}\n");
                let text = lnet.show(node, *view);
                if asked.json {
                    shown.push(serde_json::json!({
                        "workload": name,
                        "node": node.as_str(),
                        "command": command,
                        "at_ns": now.as_ns(),
                        "shows": text.as_deref().ok().map(json::of_yaml),
                        "error": text.as_ref().err().map(ToString::to_string),
                    }));
                }
                match text {
                    Ok(text) => page += &text,
                    Err(error) => page += &format!("# {error}\n"),
                }
            }
        }
    }
    if asked.json {
        let shown = serde_json::json!({ "story": story.name, "views": shown });
        page = json::page(&shown);
    }
    Ok((page, left_out))
}

/// One request with its tries and answers, those that met trouble, or every message; and the lines of the story that
/// were left out.
///
/// # Errors
/// [`LnetPageError`], by cause.
pub(crate) fn trace_page(
    story: &Story,
    asked: LnetAsked<'_>,
    why: Option<Why>,
) -> Result<(String, Vec<String>), LnetPageError> {
    let mut story = story.clone();
    for plan in story.workloads.values_mut() {
        if let Plan::Storage(plan) = plan {
            plan.traced = true;
        }
    }
    let (director, left_out) = freeze_at(&story, asked.at)?;
    if asked.json {
        let nets = nets(&story, &director, asked.workload)?.into_iter();
        let traces = nets.map(|(name, lnet)| trace_json(name, lnet, why));
        let traces = traces.collect::<Result<Vec<_>, _>>()?;
        let at_ns = director.fabric().now().as_ns();
        let page = serde_json::json!({ "story": story.name, "at_ns": at_ns, "traces": traces });
        return Ok((json::page(&page), left_out));
    }
    let mut page = String::new();
    for (name, lnet) in nets(&story, &director, asked.workload)? {
        let now = director.fabric().now();
        page += &format!("# messages of workload {name}, up to {now}\n");
        let traces = Traces(lnet.trace(), now);
        page += &match why {
            Some(Why::Of(message)) => traces.why(message)?,
            Some(Why::Failed) => failed(traces)?,
            None => traces.all(),
        };
    }
    Ok((page, left_out))
}

/// Every request of the layer above that met trouble.
fn failed(traces: Traces<'_>) -> Result<String, LnetPageError> {
    let requests = traces.troubled();
    if requests.is_empty() {
        return Ok(format!("# {ALL_CARRIED}\n"));
    }
    let mut pages = Vec::new();
    for request in requests {
        pages.push(traces.why(request)?);
    }
    Ok(pages.join("\n"))
}

/// The networks of a played story, or that of one workload, by the workload's name.
fn nets<'w>(
    story: &'w Story,
    director: &'w Director,
    asked: Option<&str>,
) -> Result<Vec<(&'w str, &'w Lnet)>, LnetPageError> {
    let all = story.workloads.keys();
    let mut nets: Vec<(&str, &Lnet)> = all
        .filter_map(|name| Some((name.as_str(), director.workloads().lnet(name)?)))
        .collect();
    if nets.is_empty() {
        return Err(LnetPageError::NoLnet(story.name.clone()));
    }
    let names: Vec<&str> = nets.iter().map(|(name, _)| *name).collect();
    if let Some(asked) = asked.filter(|asked| !names.contains(asked)) {
        return Err(unknown("workload on LNet", asked, &names));
    }
    nets.retain(|(name, _)| asked.is_none_or(|asked| asked == *name));
    Ok(nets)
}

fn unknown(what: &'static str, asked: &str, known: &[&str]) -> LnetPageError {
    let mut known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    known.dedup();
    LnetPageError::Unknown {
        what,
        asked: asked.to_owned(),
        known: known.join(", "),
    }
}

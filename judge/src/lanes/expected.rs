//! What was expected, and what was found, as marks.

use platforms::NodeName;
use reports::{Finding, Mark, MarkKind, one_line};
use scenarios::{About, Expectation, What};

use super::subject::Of;
use super::{Drawing, JudgedIn};
use crate::facts::{self, FactLane};

impl Drawing<'_> {
    pub(super) fn expectations(&mut self, of: JudgedIn<'_>) {
        let story = self.story;
        for expectation in &story.expectations {
            let place = expectation.place.to_string();
            let finding = of.of_arm().find(|it| it.is_at(&place));
            let left_out = of.judged.left_out.iter().find(|it| it.line.place == place);
            let last = expectation.window.to.min(self.last());
            let window = match expectation.window {
                window if window.from >= last => format!("poll {last}"),
                window => format!("polls {} to {last}", window.from),
            };
            let text = format!("{} ({window})", expectation.text);
            let (tick, kind, text) = match (finding, left_out) {
                (Some(finding), _) => {
                    let text = [text].into_iter().chain(came(finding));
                    let text = text.collect::<Vec<_>>().join("\n");
                    (finding.tick.unwrap_or(last), MarkKind::Missed, text)
                }
                (None, Some(why)) => {
                    let text = format!("{text}\nnot judged: {}", why.reason);
                    (last, MarkKind::NotJudged, text)
                }
                (None, None) if of.is_broken() => (
                    last,
                    MarkKind::NotJudged,
                    format!("{text}\nthe drill broke off"),
                ),
                (None, None) => (last, MarkKind::Met, text),
            };
            let lane = self.expected_of(expectation);
            let marks = &mut self.lanes.entry(lane).or_default().marks;
            marks.push(Mark {
                tick,
                since: Some(expectation.window.from.min(tick)),
                kind,
                text,
            });
        }
    }

    /// The lane of an expectation: that of its subject.
    pub(super) fn expected_of(&self, expectation: &Expectation) -> Of {
        let node = expectation.node.as_ref().or(match &*self.story.monitors {
            [node] => Some(node),
            _ => None,
        });
        let of_node = |of: fn(NodeName) -> Of| node.map_or(Of::World, |node| of(node.clone()));
        let about = |about: &About| match about {
            About::Port(slot) => Of::slot(slot),
            About::Device(node, pci) => Of::Device(node.clone(), *pci),
            About::Card(node, pci) => Of::Card(node.clone(), pci.card().to_string()),
            About::NamedPort(..) | About::NamedDevice(_) | About::Check => of_node(Of::Monitor),
        };
        match &expectation.what {
            What::Say { event, .. } => about(&event.about),
            What::FollowEdges { slot, .. } => Of::slot(slot),
            what => match facts::fact(what).as_ref().map(|fact| fact.lane()) {
                Some(FactLane::About(of)) => about(of),
                Some(FactLane::Port(slot)) => Of::slot(slot),
                Some(FactLane::Workload(name)) => Of::Workload(name.to_owned()),
                Some(FactLane::Connector) => of_node(Of::Connector),
                Some(FactLane::Cluster) => Of::Cluster,
                Some(FactLane::Monitor) | None => of_node(Of::Monitor),
            },
        }
    }

    /// The findings that belong to no expectation.
    pub(super) fn findings(&mut self, of: JudgedIn<'_>) {
        let places: Vec<String> = self
            .story
            .expectations
            .iter()
            .map(|expectation| expectation.place.to_string())
            .collect();
        for finding in of.of_arm() {
            if places.iter().any(|place| finding.is_at(place)) {
                continue;
            }
            let monitors = self.story.monitors.iter();
            let mut named = monitors.filter(|node| {
                let name = finding.node.as_deref();
                name.is_none_or(|name| name == node.as_str())
            });
            let lane = named.next().cloned().map_or(Of::World, Of::Monitor);
            let tick = finding.tick.unwrap_or(self.last()).min(self.last());
            let text = [finding.words().to_owned()].into_iter();
            let text: Vec<String> = text.chain(came(finding)).collect();
            self.mark(lane, tick, MarkKind::Wrong, text.join("\n"));
        }
    }
}

/// What was expected and came, a line each.
pub(super) fn came(finding: &Finding) -> impl Iterator<Item = String> {
    let line = |what: &str, text: &str| format!("{what}: {}", one_line(text));
    let expected = finding.expected.iter();
    let expected = expected.map(move |it| line("expected", it));
    let nothing = (finding.came.is_empty()).then(|| "came: nothing".to_owned());
    let came = finding.came.iter().take(3).map(move |it| line("came", it));
    expected.chain(came).chain(nothing)
}

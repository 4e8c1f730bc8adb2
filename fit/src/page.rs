//! What was found as a descriptor: its promises, each under a comment with its evidence. Start at [`page`].

use std::fmt::Write as _;

use observe::promises::{
    Baselines, Calls, ClearedBy, ErrorCodes, FirstPollEvents, Granularity, Kind, LostPublish,
    Names, Pinned, PortNaming, Recoveries, Scope, Stamps, Style, Wire,
};

use crate::{
    evidence::Evidence,
    fitted::{Fitted, FittedRow},
    scope::role_word,
    wiring::Wiring,
    words,
};

/// How many pieces of evidence are written above a row.
const EVIDENCE_MAX: usize = 3;

/// The key whose block is replaced.
const PROMISES: &str = "promises:";

/// The text of a descriptor: `head` is what stands above its promises.
#[must_use]
pub fn page(head: &str, wiring: &Wiring, fitted: &Fitted) -> String {
    let mut text = head.trim_end().to_owned();
    text.push('\n');
    for (line, evidence) in &wiring.lines {
        comment(&mut text, "", "observed", evidence);
        add(&mut text, "", line);
    }
    promises(&mut text, fitted);
    list(
        &mut text,
        "Seen, and not described by any key:",
        &fitted.unfound,
    );
    list(
        &mut text,
        "Not asked, so that these kinds are not judged:",
        &fitted.unasked,
    );
    list(
        &mut text,
        "Not told apart, so that these keys stand as the documents have them:",
        &fitted.untold,
    );
    suspects(&mut text, fitted);
    text
}

/// The text of a descriptor without its promises, the comment above them, and these keys.
#[must_use]
pub fn head_without_promises(text: &str, keys: &[&str]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut skips = false;
    for line in text.lines() {
        let is_top = line.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_top {
            let is_key = |key: &&str| line.starts_with(&format!("{key}:"));
            let is_promises = line.starts_with(PROMISES);
            skips = is_promises || keys.iter().any(is_key);
            if is_promises {
                let is_comment = |line: &&str| line.starts_with('#');
                while kept.last().is_some_and(is_comment) {
                    kept.pop();
                }
            }
        }
        if !skips {
            kept.push(line);
        }
    }
    kept.join("\n")
}

fn promises(text: &mut String, fitted: &Fitted) {
    let promised = &fitted.promises;
    add(
        text,
        "",
        "# Found by `nicdrill fit` (docs/monitor.md): each promise stands under what was seen.",
    );
    add(text, "", PROMISES);
    if let Some(style) = promised.style {
        keyed(text, fitted, "style");
        add(
            text,
            "  ",
            match style {
                Style::Edge => "style: edge",
                Style::Level => "style: level",
            },
        );
    }
    if let Some(granularity) = promised.granularity {
        keyed(text, fitted, "granularity");
        add(
            text,
            "  ",
            match granularity {
                Granularity::Port => "granularity: port",
                Granularity::Device => "granularity: device",
                Granularity::Node => "granularity: node",
            },
        );
    }
    if let Some(names) = promised.names {
        add(
            text,
            "  ",
            match names {
                Names::First => "names: first",
                Names::All => "names: all",
            },
        );
    }
    if let Some(scope) = &promised.scope {
        keyed(text, fitted, "scope");
        keyed(text, fitted, "scope.near_gpu");
        add(text, "  ", &scope_line(scope));
    }
    if let Some(lost) = promised.lost_publish {
        add(
            text,
            "  ",
            match lost {
                LostPublish::Kept => "lost_publish: kept",
                LostPublish::Lost => "lost_publish: lost",
            },
        );
    }
    add(text, "  ", "rows:");
    for (word, ..) in Kind::words() {
        let kind = Kind::parse(word).expect("it is of the table");
        if let Some(found) = fitted.rows.get(&kind) {
            row(text, &kind, found);
        }
    }
    for (kind, found) in &fitted.rows {
        if matches!(kind, Kind::Counter(_)) {
            row(text, kind, found);
        }
    }
    if let Some(wire) = &promised.wire {
        add(text, "  ", "wire:");
        for line in wire_lines(wire) {
            let key = line.split(':').next().unwrap_or_default();
            for (name, evidence) in &fitted.keys {
                if key_of_wire(name) == Some(key) {
                    observed(text, "    ", evidence);
                }
            }
            add(text, "    ", &line);
        }
    }
}

/// The key of `wire` that a name of evidence is about: `baselines` of `wire.baselines.complete`.
fn key_of_wire(name: &str) -> Option<&str> {
    name.strip_prefix("wire.")?.split('.').next()
}

fn row(text: &mut String, kind: &Kind, found: &FittedRow) {
    for evidence in found.evidence.iter().take(EVIDENCE_MAX) {
        comment(text, "    ", &found.mark.to_string(), evidence);
    }
    match &found.row {
        Some(row) => add(text, "    ", &format!("{}: {}", key(kind), words::row(row))),
        None => add(
            text,
            "    ",
            &format!(
                "# {}: none of the rows that exist describes this; without one it is not judged",
                key(kind)
            ),
        ),
    }
}

/// A kind as a key; `*` alone would be an alias of YAML.
fn key(kind: &Kind) -> String {
    kind.to_string()
}

fn wire_lines(wire: &Wire) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = |key: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{key}: {value}")));
    };
    let word = |word: &str| word.to_owned();
    let checks = wire.checks.as_ref().map(|checks| {
        let pairs: Vec<String> = checks
            .iter()
            .map(|(documents, own)| format!("{documents}: {}", quoted(own)))
            .collect();
        format!("{{ {} }}", pairs.join(", "))
    });
    line("checks", checks);
    line("agent", wire.agent.as_deref().map(quoted));
    line(
        "component_class",
        wire.component_class.as_deref().map(quoted),
    );
    line(
        "port",
        wire.port.map(|it| {
            word(match it {
                PortNaming::NicThenPort => "nic_then_port",
                PortNaming::Joined => "joined",
                PortNaming::Device => "device",
            })
        }),
    );
    line(
        "calls",
        wire.calls.map(|it| {
            word(match it {
                Calls::PerCheck => "per_check",
                Calls::Mixed => "mixed",
            })
        }),
    );
    line(
        "stamps",
        wire.stamps.map(|it| {
            word(match it {
                Stamps::Rising => "rising",
                Stamps::Equal => "equal",
            })
        }),
    );
    line("extra_fields", wire.extra_fields.map(|it| it.to_string()));
    line(
        "documented_actions",
        wire.documented_actions.map(|it| it.to_string()),
    );
    line(
        "error_codes",
        wire.error_codes.map(|it| {
            word(match it {
                ErrorCodes::Documented => "documented",
                ErrorCodes::Own => "own",
            })
        }),
    );
    line(
        "first_poll",
        wire.first_poll.map(|it| {
            word(match it {
                FirstPollEvents::Events => "events",
                FirstPollEvents::None => "none",
            })
        }),
    );
    line("baselines", wire.baselines.map(|it| {
        let Baselines { ports, devices, cards, late_cards, counters, check, complete } = it;
        // What is as the documents have it is left out of the last two.
        let late = if late_cards { "" } else { ", late_cards: false" };
        let whole = if complete { ", complete: true" } else { "" };
        format!("{{ ports: {ports}, devices: {devices}, cards: {cards}, counters: {counters}, check: {check}{late}{whole} }}")
    }));
    line(
        "clears",
        wire.clears.map(|it| {
            word(match it {
                ClearedBy::Subject => "subject",
                ClearedBy::Check => "check",
            })
        }),
    );
    line(
        "recoveries",
        wire.recoveries.map(|it| {
            word(match it {
                Recoveries::Reported => "reported",
                Recoveries::All => "all",
            })
        }),
    );
    lines
}

fn scope_line(scope: &Scope) -> String {
    let mut keys = Vec::new();
    if let Some(roles) = &scope.roles {
        let roles: Vec<&str> = roles.iter().map(|role| role_word(*role)).collect();
        keys.push(format!("roles: [{}]", roles.join(", ")));
    }
    let own = [
        ("default_route", scope.default_route),
        ("numa_node", scope.numa_node),
    ];
    let own = own.into_iter();
    keys.extend(own.filter_map(|(key, value)| Some(format!("{key}: {}", value?))));
    if let Some(near) = scope.near_gpu {
        keys.push(format!("near_gpu: {near}"));
    }
    if let Some(vendors) = &scope.vendors {
        let vendors: Vec<String> = vendors.iter().map(|id| format!("{id:#06x}")).collect();
        keys.push(format!("vendors: [{}]", vendors.join(", ")));
    }
    if let Some(devices) = &scope.devices {
        let devices: Vec<String> = devices.iter().map(|name| quoted(name)).collect();
        keys.push(format!("devices: [{}]", devices.join(", ")));
    }
    if let Some(pinned) = scope.pinned {
        keys.push(format!(
            "pinned: {}",
            match pinned {
                Pinned::Functions => "functions",
                Pinned::All => "all",
            }
        ));
    }
    format!("scope: {{ {} }}", keys.join(", "))
}

/// A text as a scalar of YAML.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    match begins && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn list(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    add(text, "", &format!("\n# {title}"));
    for line in lines {
        add(text, "", &format!("# - {line}"));
    }
}

fn suspects(text: &mut String, fitted: &Fitted) {
    if fitted.suspects.is_empty() {
        return;
    }
    add(
        text,
        "",
        "\n# Suspect: what no promise covers. A run finds each. Who accepts one moves its entry into `known.toml`, with a reason.",
    );
    for suspect in &fitted.suspects {
        add(text, "", "#");
        comment(text, "", "suspect", &suspect.evidence);
        add(text, "", "# [[known]]");
        add(text, "", &format!("# id = \"{}\"", suspect.id));
        add(
            text,
            "",
            &format!("# reason = \"it {}\"", suspect.what.replace('"', "'")),
        );
    }
}

/// The evidence of a key that is no row.
fn keyed(text: &mut String, fitted: &Fitted, key: &str) {
    if let Some(evidence) = fitted.keys.get(key) {
        observed(text, "  ", evidence);
    }
}

fn observed(text: &mut String, indent: &str, evidence: &[Evidence]) {
    for evidence in evidence.iter().take(EVIDENCE_MAX) {
        comment(text, indent, "observed", evidence);
    }
}

fn comment(text: &mut String, indent: &str, mark: &str, evidence: &Evidence) {
    let line = evidence.to_string().replace('\n', " ");
    add(text, indent, &format!("# {mark}: {line}"));
}

fn add(text: &mut String, indent: &str, line: &str) {
    writeln!(text, "{indent}{line}").expect("writing to a string cannot fail");
}

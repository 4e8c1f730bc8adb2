//! Counters in a first poll: a healthy event for each that is monitored and can be read.
//!
//! The names are repeated here, independently of the monitor, so that a counter missing in the
//! monitor is found. Source: NVSentinel, chart of the nic-health-monitor (the twelve) and
//! `pkg/config/config.go` (the others). Later events are stated by the story. Start at
//! [`baseline`].

use observe::{
    ClockKind,
    promises::{Kind, OverRestart, Row},
};
use platforms::{LinkLayer, NodeName, PciAddress, SlotRef};
use scenarios::{ChecksRun, MonitorAction};
use simfs::SimTime;

use director::{FunctionView, MovedBy, Occurrence};

use crate::fits::JudgeContext;

/// Counters that are judged by their rate with the thresholds of the chart.
const BY_RATE: [&str; 7] = [
    "local_ack_timeout_err",
    "link_error_recovery",
    "port_rcv_errors",
    "port_xmit_discards",
    "roce_slow_restart",
    "symbol_error",
    "symbol_error_fatal",
];

/// Why nothing about a counter is judged that breaches by its rate; `None` if it is judged. A monitor with a clock of its
/// own measures rates by that, and a busy machine alone can lower them below a threshold.
pub(crate) fn rate_of_another_clock(
    context: &JudgeContext<'_>,
    counter: &str,
) -> Option<&'static str> {
    if context.descriptor.clock != ClockKind::Own {
        return None;
    }
    let mut chosen = configs(context)
        .filter_map(|lines| is_chosen_by_rate(lines, counter))
        .peekable();
    let by_rate = match chosen.peek() {
        None => BY_RATE.contains(&counter),
        Some(_) => chosen.any(|by_rate| by_rate),
    };
    by_rate.then_some(crate::reasons::RATES)
}

/// Why nothing about a counter is judged any more in a tick; `None` if it is judged: the monitor compares it with a value
/// from before a restart, and meanwhile it changed unread.
pub(crate) fn compared_over_a_restart(
    context: &JudgeContext<'_>,
    counter: &str,
    tick: u64,
) -> Option<&'static str> {
    let kind = Kind::Counter(counter.to_owned());
    let row = context.descriptor.promises.row(&kind, None);
    let last_written = Some(OverRestart::LastWritten);
    if !matches!(row, Some(Row::Says(says)) if says.over_restart == last_written) {
        return None;
    }
    let interval = context.story.ticks.interval();
    let mut away: Option<SimTime> = None;
    let acts = context.truth.log.acts.iter();
    let mut acts = acts.filter(|act| !act.is_given && act.tick <= tick);
    let changed = acts.any(|act| {
        act.what.iter().any(|what| match what {
            Occurrence::Monitor(MonitorAction::Restart {
                away_ticks, config, ..
            }) => {
                away = Some(act.at + interval.times(u64::from(*away_ticks)));
                config.is_some()
            }
            Occurrence::Counter {
                name,
                moved_by: MovedBy::Step,
            } => name == counter && away.is_some_and(|until| act.at < until),
            _ => false,
        })
    });
    changed.then_some(crate::reasons::OVER_RESTART)
}

/// Whether these lines of a configuration judge a counter by its rate; `None` if they do not name it.
fn is_chosen_by_rate(lines: &str, counter: &str) -> Option<bool> {
    let mut entries = lines.split("name").skip(1);
    let name = format!("\"{counter}\"");
    let entry = entries.find(|entry| entry.trim_start_matches([' ', '=']).starts_with(&name))?;
    Some(entry.contains("velocity"))
}

/// Counters of the port.
const OF_PORT: [&str; 19] = [
    "excessive_buffer_overrun_errors",
    "implied_nak_seq_err",
    "link_downed",
    "link_error_recovery",
    "local_ack_timeout_err",
    "local_link_integrity_errors",
    "out_of_sequence",
    "packet_seq_err",
    "port_rcv_discards",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_discards",
    "port_xmit_wait",
    "req_transport_retries_exceeded",
    "rnr_nak_retry_err",
    "roce_slow_restart",
    "symbol_error",
    "symbol_error_fatal",
];

/// Counters of the interface, which are monitored on Ethernet.
const OF_NET: [&str; 6] = [
    "carrier_changes",
    "rx_crc_errors",
    "rx_errors",
    "rx_missed_errors",
    "tx_carrier_errors",
    "tx_errors",
];

/// Counters that are monitored only if a configuration names them.
const OTHERS: [&str; 13] = [
    "implied_nak_seq_err",
    "out_of_sequence",
    "packet_seq_err",
    "port_rcv_discards",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_wait",
    "req_transport_retries_exceeded",
    "rx_crc_errors",
    "rx_errors",
    "rx_missed_errors",
    "tx_carrier_errors",
    "tx_errors",
];

/// The names of the counters that the documents have, those of the port first.
#[must_use]
pub fn documents_counters() -> Vec<&'static str> {
    OF_PORT.into_iter().chain(OF_NET).collect()
}

/// A counter that reads another counter's file: its name and the file's.
const SYMBOL_ERROR_FATAL: (&str, &str) = ("symbol_error_fatal", "symbol_error");

/// The counters of a function for which a first poll may emit a healthy event: those of each port
/// that can be read and are monitored.
pub(super) fn baseline(
    context: &JudgeContext<'_>,
    node: &NodeName,
    pci: PciAddress,
    function: &FunctionView,
) -> Vec<(SlotRef, &'static str)> {
    if !matches!(context.story.checks, ChecksRun::Counters | ChecksRun::All) {
        return Vec::new();
    }
    let chosen = chosen(context);
    let is_watched = |counter: &&str| match &chosen {
        None => !OTHERS.contains(counter),
        Some(configs) => configs
            .iter()
            .any(|config| config.contains(&format!("\"{counter}\""))),
    };
    let listed = function.ports.iter().filter(|(_, view)| view.listed);
    let mut rendered = Vec::new();
    for (nth, (port, view)) in listed.enumerate() {
        // The interface's counters are reported for the device's first port.
        let net = view.layer == LinkLayer::Ethernet && function.netdev.is_some() && nth == 0;
        let of_net = OF_NET.into_iter().filter(|_| net);
        for counter in OF_PORT.into_iter().chain(of_net).filter(is_watched) {
            let (alias, file) = SYMBOL_ERROR_FATAL;
            let file = if counter == alias { file } else { counter };
            if function.unreadable.contains(&(*port, file.into())) {
                continue;
            }
            let slot = SlotRef {
                node: node.clone(),
                pci,
                port: *port,
            };
            rendered.push((slot, counter));
        }
    }
    rendered
}

/// Whether the configuration lists the monitored counters; then the story states which of them must
/// be healthy at first.
pub(super) fn are_chosen(context: &JudgeContext<'_>) -> bool {
    chosen(context).is_some()
}

/// The configurations, at the start and later, if one of them lists counters.
fn chosen<'c>(context: &JudgeContext<'c>) -> Option<Vec<&'c str>> {
    let configs: Vec<&str> = configs(context).collect();
    let speak = configs
        .iter()
        .any(|config| config.contains("counterDetection"));
    speak.then_some(configs)
}

/// The configurations of the drill's monitors: the first one, and those with which they are restarted.
pub(crate) fn configs<'c>(context: &JudgeContext<'c>) -> impl Iterator<Item = &'c str> {
    let restarts = context.truth.log.monitors();
    let later = restarts.filter_map(|(_, _, action)| match action {
        MonitorAction::Restart { config, .. } => config.as_deref(),
        _ => None,
    });
    std::iter::once(context.story.config.as_str()).chain(later)
}

#[cfg(test)]
mod tests;

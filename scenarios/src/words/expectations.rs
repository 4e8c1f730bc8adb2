//! The words of `expect:`, with what stands beside them.

use super::{KeyWord, Word, WordKind, key, word};

const fn expectation(
    name: &'static str,
    takes: &'static str,
    text: &'static str,
    example: &'static str,
) -> Word {
    word(WordKind::Expectation, name, takes, text, example)
}

/// Qualifiers of every expectation.
pub(crate) const EXPECTATION_QUALIFIERS: &[KeyWord] = &[
    key(
        "node",
        "a name or a list of names",
        "On these nodes; on every node with a monitor unless said.",
    ),
    key(
        "only",
        "`infiniband` or `ethernet`",
        "About ports of this layer only; where there is none, nothing is expected.",
    ),
    key(
        "within",
        "`N polls` or a time",
        "In the step's own poll or one of the N after it; `1 poll` unless said. A poll that does not happen is not counted.",
    ),
    key("from", "a time", "With `to`: in the polls from here …"),
    key("to", "a time", "… until just before here."),
    key(
        "between",
        "a list of two times",
        "In the polls between these, both included.",
    ),
    key("exactly_at", "a time", "In the poll at this time."),
];

/// Qualifiers of every expected event.
pub(crate) const EVENT_QUALIFIERS: &[KeyWord] = &[
    key(
        "times",
        "N, `at least N`, `at most N` or `[a, b]`",
        "How often for each subject; once unless said, at least once for `said`.",
    ),
    key(
        "repeats",
        "`allowed`",
        "At least so often: repeats do no harm.",
    ),
    key(
        "message",
        "a text, or one by layer",
        "The message. `…` stands for anything; `{device}`, `{port}`, `{card}`, `{role}`, `{netdev}` for the subject's, `{victim.device}` for a handle's.",
    ),
    key(
        "check",
        "a name",
        "The check; by the link layer unless said.",
    ),
    key("codes", "a list of texts", "The error codes."),
    key(
        "counter",
        "a name",
        "The counter that it is about: said by the layer's counter check, with this name as its one error code.",
    ),
    key(
        "stamped",
        "a time, `\">= 15s\"`, `\"<= 20s\"` or `[a, b]`",
        "The event's time stamp, on the story's clock.",
    ),
    key("count", "a number", "How many subjects there must be."),
    key(
        "distinct",
        "`node`, `card` or `device`",
        "No two subjects share one.",
    ),
];

/// The words.
pub(crate) const EXPECTATIONS: &[Word] = &[
    // Events.
    expectation("fatal", "whom", "An event that says: dead, replace the machine.", "{ fatal: victim, within: 2 polls }"),
    expectation("nonfatal", "whom", "An event that says: unhealthy, no action.", "{ nonfatal: victim }"),
    expectation("healthy", "whom", "An event that says: healthy.", "{ healthy: device of victim }"),
    expectation("cleared", "whom", "An event that says healthy of what was reported before, under the name it was reported by.", "{ cleared: { name: mlx5_3, port: 1 } }"),
    expectation("baseline", "", "The healthy events of a first poll without an old state: one for each healthy monitored port, each device whose ports are all healthy, and each compared card that meets its peers.", "baseline")
        .keys(&[key("except", "whom", "Not these ports.")]),
    expectation("reboot_baseline", "", "The healthy events of a first poll after a reboot with a readable old state: one for each healthy monitored port.", "reboot_baseline")
        .keys(&[key("except", "whom", "Not these ports.")]),
    expectation("nothing", "whom, or no more", "No event that no other line expects, about these or about anything.", "{ nothing: device of victim, from: 10s, to: 20s }"),
    expectation("each", "ports, named `it` in the line", "The same for each port: another expectation beside it, or `say`.", "{ each: storm, say: [ { fatal: it }, { healthy: it } ], times: 4, each_within: 1 poll }")
        .keys(&[
            key("say", "a list of events", "`fatal` or `nonfatal` whenever the port goes down, `healthy` whenever it comes up; goes with `times`."),
            key("each_within", "`N polls`", "With `say`: so many polls after the edge at most; `1 poll` unless said."),
        ]),
    // Around events.
    expectation("said", "an expectation", "An attempt is enough: a call carrying it was received, accepted or not.", "{ said: { fatal: victim } }"),
    expectation("accepted", "an expectation", "It was accepted; what every line means unless it says `said`.", "{ accepted: nothing }"),
    expectation(
        "say",
        "an expectation or a list",
        "These; for qualifiers that belong to all of them, or to a word that takes none.",
        "{ say: nothing, from: 20s, to: 25s }",
    ),
    expectation("this_poll", "an expectation or a list", "In the step's own poll.", "{ this_poll: nothing }"),
    expectation("next_poll", "an expectation or a list", "In the poll after the step's own.", "{ next_poll: [ { fatal: device of victim } ] }"),
    expectation("in_order", "a list of expected events", "These, in this order.", "{ in_order: [ { cleared: { name: mlx5_3 } }, { fatal: { name: mlx5_5 } } ] }"),
    // The monitor.
    expectation("exit", "a number", "The monitor ends with this code.", "{ exit: 0, within: 1s }"),
    expectation("log", "a text", "A line of its log contains this; `…` stands for anything.", "{ log: \"state file …: fresh start\" }"),
    expectation("no_log", "a text", "No line does.", "{ no_log: \"panicked\" }"),
    expectation("polls", "a number", "So many polls happen.", "{ polls: 0, from: 20s, to: 110s }"),
    expectation("calls", "a number", "So many calls are received.", "{ calls: 1 }"),
    expectation("reads", "a file", "The file is read or the folder listed so often.", "{ reads: victim/state, times: 1 }")
        .keys(&[key("times", "N, `at least N`, `at most N` or `[a, b]`", "How often.")]),
    expectation("state_file", "a word or `{ member, equals }`", "What the state file is at the end of the polls meant.", "{ state_file: { member: version, equals: \"2\" } }")
        .choices(&[
            ("unchanged", "the bytes it held before"),
            ("absent", "not there"),
            ("valid", "there, and JSON"),
            ("member", "`{ member: a.b, equals: \"1\" }`: the JSON member at this path equals this JSON text"),
        ]),
    expectation("metric", "a metric's name", "The sum of the values that have these labels, in the monitor's `/metrics` when the last of the polls meant has ended.", "{ metric: nic_health_monitor_health_events_sent_total, labels: { is_fatal: \"true\" }, is: 1 }")
        .keys(&[
            key("labels", "a map of names and texts", "Only values with these labels; in a text, `{victim.device}` stands for what a handle was called at rest."),
            key("is", "a number such as `1` or `\">= 1\"`, or `absent`", "What the sum must be; `absent`: no value has these labels. Needed."),
        ]),
    expectation("healthz", "a number", "The status of the monitor's answer to `/healthz` at the end of the last poll meant, or of a tick in which it does not poll. It is asked again until it is this, for some seconds of real time. Needs `arms: [ process ]`.", "{ healthz: 503 }"),
    expectation("stuck_in_kernel", "", "The monitor cannot be killed at the end.", "stuck_in_kernel"),
    // The world.
    expectation("link", "ports", "What both ends of the link remember of its going down, in one of the polls meant. It is about the world, not about the monitor.", "{ link: victim, here: [ fm_bounce, none ], there: [ none, fm_bounce ] }")
        .keys(&[
            key("here", "`[ LinkDownReason, NeighborLinkDownReason ]`, `unavailable` or a map", "What the node's own port shows: both reasons, each by word or number; `unavailable`: nobody can ask it. A map says more: `{ pair: [ 0, 0 ], offline: power_policy, log: [ [ 39, 0 ] ] }`, with `offline` for the OfflineDisabledReason and `log` for the subnet manager's LinkDownErrorLog, oldest entry first."),
            key("there", "the same", "What its partner shows."),
        ]),
    // Workloads.
    expectation("lnet", "a workload `lnet`", "How an interface stands in one of the polls meant, in the eyes of `node`: its own (`ni`), or a peer's (`peer_ni`). Exactly one of the two is said.", "{ lnet: storage, node: client, ni: victim, status: down, fatal_error: 1, health: 1000 }")
        .keys(&[
            key("ni", "a port", "The node's own interface on this port; `node` is the port's unless said."),
            key("peer_ni", "a port", "The interface of another node on this port."),
            key("status", "`up` or `down`", "Its status; of a peer's, what the peer says."),
            key("fatal_error", "`0` or `1`", "Its fatal flag; with `ni` only."),
            key("health", "a number such as `1000` or `\"< 1000\"`", "Its health value."),
        ]),
    expectation("workload", "a workload", "What became of it at the end of the last poll meant. `between` is about the instant of its failure, to the nanosecond.", "{ workload: job, fate: failed, cause: WC 12, between: [ 40s, 50s ] }")
        .keys(&[
            key("fate", "`survived`, `degraded` or `failed`", "What became of it."),
            key("cause", "such as `WC 12` or `evicted`", "What it failed of: `WC 12`, `device gone`, `rank lost`, `hung`, `no connection`, `evicted`, `unanswered`."),
            key("ulp_errors", "a number such as `0` or `\">= 1\"`", "Errors that the layer on top was told of."),
            key("retries", "a number", "Of `lnet`: tries beyond the first; of `mpib`: messages that had to wait."),
            key("done", "a number", "Of `lnet`: writes that were answered; of `mpib`: messages that got through."),
        ]),
    expectation("verdict", "a map of workloads and words", "Whether the monitor's word was right, as the workloads saw it at the story's end. Its word is its first event with `isFatal`; with `node`, of that node's monitor, else of any.", "{ verdict: { job: agreement }, lead: [ 29s, 40s ] }")
        .choices(&[
            ("agreement", "fatal and failed, or silent and not failed"),
            ("over-report", "fatal, and it did not fail"),
            ("under-report", "silent, and it failed"),
        ])
        .keys(&[key("lead", "a list of two times", "How long before the failure the word came, both included; `-1s`: after it.")]),
    // The cluster.
    expectation("condition", "`state`, `counters`, or the name of a check or rule", "Whether this node condition stands at the end of one of the polls meant. `state` and `counters` are the check of the link layer of `of`; without `of`, of either layer.", "{ condition: state, of: victim, stands: true }")
        .keys(&[
            key("of", "whom", "Only its entries that name these; each by itself."),
            key("counter", "a counter's name", "Only its entries with this error code."),
            key("stands", "`true` or `false`", "Whether there is such an entry; `true` unless said."),
            key("throughout", "`true`", "At the end of every poll meant."),
        ]),
    expectation("cordoned", "`true` or `false`", "Whether the node is cordoned at the end of one of the polls meant.", "{ cordoned: true, from: 10s, to: 20s, throughout: true }")
        .keys(&[key("throughout", "`true`", "At the end of every poll meant.")]),
    expectation("uncordoned", "`true` or `false`", "Whether the node is released in one of the polls meant, having been cordoned.", "{ uncordoned: true, within: 3 polls }"),
    expectation("rule", "a rule's name", "A correlation rule speaks in the polls meant, once unless `times` says otherwise. In a poll are what it says of the events that arrive then, and all that the clock alone makes it say before the next.", "{ rule: NICPortDrop, port: victim, exactly_at: 4m30s, events_this_tick: 0 }")
        .keys(&[
            key("port", "whom", "About these; each by itself."),
            key("switch", "a switch's name", "About this switch."),
            key("counted", "a number such as `3` or `\">= 3\"`", "What it counted: events, different nodes, or what was held back."),
            key("says", "`fired` or `cleared`", "That it happened, unless said, or that it is over."),
            key("fires", "`false`", "It does not speak at all; instead of `times`."),
            key("times", "N, `at least N`, `at most N` or `[a, b]`", "How often."),
            key("events_this_tick", "a number", "How many events connectors accept in the poll in which it speaks."),
        ]),
    expectation("rules", "`silent`", "No rule speaks in any of the polls meant.", "{ rules: silent, from: 31s, to: 4m29s }")
        .choices(&[("silent", "not one of them")]),
];

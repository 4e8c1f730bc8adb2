//! The output of `lnetctl` for a node, as text.
//!
//! The keys and their order are those of `lnetctl net show -v 2`, `peer show -v 2`, `route show -v`, `stats show`,
//! `global show` and `debug recovery` ("lnet/utils/lnetctl.c", "lnet/utils/lnetconfig/liblnetconfig.c").
//! Tunables that this model does not use have the drivers' defaults, and nothing is sent over the
//! loopback net.

use super::{
    health::Health,
    ni::{LocalNi, PEER_CREDITS, Recovery},
    nid::{Lnd, NetName},
    node::Node,
    params::Param,
    peer::{Peer, PeerNi},
    stats::{KindCounts, MessageKind, NiStats},
    status::MsgStatus,
    workload_event::Side,
};

/// Lines of YAML with indentation.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, indent: usize, text: &str) {
        self.0.push_str(&" ".repeat(indent));
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn value(&mut self, indent: usize, key: &str, value: impl ToString) {
        self.line(indent, &format!("{key}: {}", value.to_string()));
    }
}

impl Node {
    /// `lnetctl net show -v 2`.
    #[must_use]
    pub fn net_show(&self) -> String {
        let mut page = Page::default();
        page.line(0, "net:");
        loopback(&mut page);
        let mut nets: Vec<&NetName> = Vec::new();
        for ni in &self.nis {
            if !nets.contains(&ni.nid().net()) {
                nets.push(ni.nid().net());
            }
        }
        for net in nets {
            page.value(4, "- net type", net);
            page.line(6, "local NI(s):");
            for ni in self.nis.iter().filter(|ni| ni.nid().net() == net) {
                self.local_ni(&mut page, ni);
            }
        }
        page.0
    }

    fn local_ni(&self, page: &mut Page, ni: &LocalNi) {
        page.value(8, "- nid", ni.nid());
        page.value(10, "status", if self.is_up(ni) { "up" } else { "down" });
        page.line(10, "interfaces:");
        page.value(14, "0", &ni.spec.interface);
        counts(page, &ni.stats);
        local_health(page, ni.fatal, ni.health, &ni.stats, &ni.recovery);
        tunables(page, [180, PEER_CREDITS, 0, i64::from(ni.spec.credits)]);
        for (key, default) in lnd_tunables(ni.nid().net().lnd()) {
            page.value(14, key, default);
        }
        place(page);
    }

    /// `lnetctl peer show -v 2`.
    #[must_use]
    pub fn peer_show(&self) -> String {
        let mut page = Page::default();
        page.line(0, "peer:");
        for peer in self.peers() {
            page.value(4, "- primary nid", peer.primary());
            page.value(
                6,
                "Multi-Rail",
                if peer.multi_rail { "True" } else { "False" },
            );
            page.line(6, "peer ni:");
            for ni in &peer.nis {
                self.peer_ni_lines(&mut page, peer, ni);
            }
        }
        page.0
    }

    fn peer_ni_lines(&self, page: &mut Page, peer: &Peer, ni: &PeerNi) {
        // Whether a peer is alive is only checked if one side routes.
        let state = match (self.routing || peer.router, ni.alive) {
            (false, _) => "NA",
            (true, true) => "up",
            (true, false) => "down",
        };
        page.value(8, "- nid", &ni.nid);
        page.value(10, "state", state);
        page.value(10, "max_ni_tx_credits", PEER_CREDITS);
        page.value(10, "available_tx_credits", ni.tx_credits);
        page.value(10, "tx_q_num_of_buf", ni.queued_bytes);
        counts(page, &ni.stats);
        page.line(10, "health stats:");
        page.value(14, "health value", ni.health);
        for (key, status) in [
            ("dropped", MsgStatus::RemoteDropped),
            ("timeout", MsgStatus::RemoteTimeout),
            ("error", MsgStatus::RemoteError),
            ("network timeout", MsgStatus::NetworkTimeout),
        ] {
            page.value(14, key, ni.stats.failures(status));
        }
        recovery(page, &ni.recovery);
    }

    /// `lnetctl route show -v`. A route is of a single hop if its gateway is known to have an interface on the
    /// remote net, and by its `hop` if the gateway's interfaces are not discovered.
    #[must_use]
    pub(crate) fn route_show(&self) -> String {
        let mut page = Page::default();
        page.line(0, "route:");
        for route in self.routes() {
            let spec = &route.spec;
            let gateway = self.peer(&spec.gateway);
            let single = match gateway.filter(|gateway| gateway.multi_rail) {
                Some(gateway) => gateway.net_health(&spec.net).is_some(),
                None => spec.hops <= 1,
            };
            let up = self.is_route_up(route);
            page.value(4, "- net", &spec.net);
            page.value(6, "gateway", &spec.gateway);
            page.value(6, "hop", spec.hops);
            page.value(6, "priority", spec.priority);
            page.value(6, "state", if up { "up" } else { "down" });
            page.value(6, "type", if single { "single-hop" } else { "multi-hop" });
        }
        page.0
    }

    /// `lnetctl stats show`.
    #[must_use]
    pub fn stats_show(&self) -> String {
        let mut page = Page::default();
        page.line(0, "statistics:");
        for (name, count) in self.stats.rows() {
            page.value(4, name, count);
        }
        page.0
    }

    /// `lnetctl global show`, without parameters that only a module option can set.
    #[must_use]
    pub fn global_show(&self) -> String {
        let mut page = Page::default();
        page.line(0, "global:");
        for param in Param::ALL {
            match param {
                Param::AvoidAsymRouterFailure => {}
                Param::ResponseTracking => {
                    page.value(4, "lnd_timeout", self.params.lnd_timeout().as_ms() / 1000);
                    page.value(4, param.name(), self.params.get(param));
                }
                _ => page.value(4, param.name(), self.params.get(param)),
            }
        }
        page.0
    }

    /// `lnetctl debug recovery -l` for local interfaces, `-p` for those of peers.
    #[must_use]
    pub fn recovery_show(&self, side: Side) -> String {
        let (title, queue) = match side {
            Side::Local => ("local NI recovery:", &self.local_queue),
            Side::Peer => ("peer NI recovery:", &self.peer_queue),
        };
        let mut page = Page::default();
        page.line(0, title);
        for (at, nid) in queue.iter().enumerate() {
            page.value(4, &format!("nid-{at}"), nid);
        }
        page.0
    }
}

/// The loopback net, which every node has and which carries nothing here.
fn loopback(page: &mut Page) {
    page.line(4, "- net type: lo");
    page.line(6, "local NI(s):");
    page.line(8, "- nid: 0@lo");
    page.line(10, "status: up");
    let stats = NiStats::default();
    counts(page, &stats);
    local_health(page, false, Health::MAX, &stats, &Recovery::default());
    tunables(page, [0; 4]);
    place(page);
}

/// The health of a local interface.
fn local_health(page: &mut Page, fatal: bool, health: Health, stats: &NiStats, state: &Recovery) {
    page.line(10, "health stats:");
    page.value(14, "fatal_error", u8::from(fatal));
    page.value(14, "health value", health);
    for (key, status) in [
        ("interrupts", MsgStatus::LocalInterrupt),
        ("dropped", MsgStatus::LocalDropped),
        ("aborted", MsgStatus::LocalAborted),
        ("no route", MsgStatus::LocalNoRoute),
        ("timeouts", MsgStatus::LocalTimeout),
        ("error", MsgStatus::LocalError),
    ] {
        page.value(14, key, stats.failures(status));
    }
    recovery(page, state);
}

/// The tunables that every driver has, and the title of the others.
fn tunables(page: &mut Page, values: [i64; 4]) {
    page.line(10, "tunables:");
    let keys = [
        "peer_timeout",
        "peer_credits",
        "peer_buffer_credits",
        "credits",
    ];
    for (key, value) in keys.into_iter().zip(values) {
        page.value(14, key, value);
    }
    page.line(10, "lnd tunables:");
}

/// A driver's own tunables, with its defaults ("lnet/klnds/o2iblnd/o2iblnd_modparams.c",
/// "lnet/klnds/socklnd/socklnd_modparams.c").
fn lnd_tunables(lnd: Lnd) -> &'static [(&'static str, u32)] {
    match lnd {
        Lnd::O2ib => &[
            ("peercredits_hiw", 4),
            ("map_on_demand", 1),
            ("concurrent_sends", 8),
            ("fmr_pool_size", 512),
            ("fmr_flush_trigger", 384),
            ("fmr_cache", 1),
            ("ntx", 512),
            ("conns_per_peer", 1),
        ],
        Lnd::Sock => &[("conns_per_peer", 1)],
        Lnd::Other => &[],
    }
}

/// The CPU partitions of an interface; a node has one.
fn place(page: &mut Page) {
    page.value(10, "dev cpt", 0);
    page.value(10, "CPT", "\"[0]\"");
}

fn counts(page: &mut Page, stats: &NiStats) {
    page.line(10, "statistics:");
    page.value(14, "send_count", stats.sent.total());
    page.value(14, "recv_count", stats.received.total());
    page.value(14, "drop_count", stats.dropped.total());
    let by_kind = |page: &mut Page, title: &str, counts: &KindCounts| {
        page.line(10, title);
        for kind in MessageKind::ALL {
            page.value(14, kind.name(), counts.of(kind));
        }
    };
    by_kind(page, "sent_stats:", &stats.sent);
    by_kind(page, "received_stats:", &stats.received);
    by_kind(page, "dropped_stats:", &stats.dropped);
}

fn recovery(page: &mut Page, recovery: &Recovery) {
    page.value(14, "ping_count", recovery.ping_count);
    page.value(14, "next_ping", recovery.next_ping_s);
}

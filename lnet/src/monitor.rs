//! The monitor thread: the periodic work of a node, once a second, in its order.
//!
//! It handles dead routers, overdue responses, recovery of local interfaces, recovery of peers'
//! interfaces, a console line, and the ping buffer. A resend wakes it at once. Only in the HLD
//! profile it checks messages for their deadline; otherwise drivers do.

use platforms::NodeName;

use super::{
    message::{NiWord, Purpose},
    network::Lnet,
    ni::whole_secs,
    nid::Nid,
    node::ROUTER_CHECK_INTERVAL_S,
    stats::MessageKind,
    trace::Traced,
    workload_event::{Cause, UlpEvent, UlpResult, What},
};

/// Seconds between two console lines about recovery; chosen, "lnet/lnet/lib-move.c" has a minute.
const CONSOLE_INTERVAL_S: u64 = 60;
/// Number of names in such a line; chosen.
const CONSOLE_NAMES_MAX: usize = 10;

impl Lnet {
    pub(crate) fn wake(&mut self) {
        let loaded = self.nodes.values().filter(|node| node.loaded);
        let names: Vec<NodeName> = loaded.map(|node| node.name.clone()).collect();
        for name in &names {
            if self.nodes[name].behaviour().monitor_finalises {
                self.expire_messages(name);
            }
            self.check_routers(name);
            self.expire_responses(name);
            self.recover(name);
            self.exchange(name);
            self.push(name);
        }
    }

    fn check_routers(&mut self, name: &NodeName) {
        let now_s = whole_secs(self.log.now);
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        if now_s < node.next_router_check_s {
            return;
        }
        node.next_router_check_s = now_s + ROUTER_CHECK_INTERVAL_S;
        let mut gateways: Vec<Nid> = Vec::new();
        for route in &node.routes {
            if !gateways.contains(&route.spec.gateway) {
                gateways.push(route.spec.gateway.clone());
            }
        }
        for gateway in gateways {
            self.ping(name, Purpose::RouterPing(gateway.clone()), gateway);
        }
    }

    fn expire_responses(&mut self, name: &NodeName) {
        let (now, now_s) = (self.log.now, whole_secs(self.log.now));
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        if now_s < node.next_response_scan_s {
            return;
        }
        node.next_response_scan_s = now_s + node.params.response_scan_interval_s();
        let overdue = node
            .open
            .iter()
            .filter(|(_, open)| open.deadline.is_some_and(|at| at <= now));
        let overdue: Vec<_> = overdue.map(|(id, _)| *id).collect();
        for id in overdue {
            let Some(open) = node.open.remove(&id) else {
                continue;
            };
            node.stats.response_timeout_count += 1;
            node.stats.rst_alloc -= 1;
            self.log.note(name, || Traced::Overdue {
                request: id,
                since: open.deadline.unwrap_or(now),
                next_hop: open.next_hop.clone(),
            });
            if let (true, Some(hop)) = (node.behaviour().timeout_blames_next_hop, &open.next_hop) {
                node.blame_peer(hop, Cause::ResponseTimeout, &mut self.log);
            }
            if node.behaviour().failed_ping_blames_pinged {
                node.blame_pinged(&open.purpose, &mut self.log);
            }
            match open.purpose {
                Purpose::Ulp => {
                    let (event, result) = (UlpEvent::Unlink, UlpResult::TimedOut);
                    self.log.say(
                        name,
                        What::Told {
                            request: id,
                            event,
                            result,
                            last: true,
                        },
                    );
                }
                Purpose::RouterPing(gateway) => {
                    if let Some(peer) = node.peer_mut(&gateway) {
                        peer.alive = false;
                    }
                }
                Purpose::RecoverLocal(_)
                | Purpose::RecoverPeer(_)
                | Purpose::Push(_)
                | Purpose::Answer(_) => {}
            }
        }
    }

    fn recover(&mut self, name: &NodeName) {
        let now_s = whole_secs(self.log.now);
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        let local = node.due_local_pings(now_s);
        let peers = node.due_peer_pings(now_s);
        for nid in local {
            self.ping(name, Purpose::RecoverLocal(nid.clone()), nid);
        }
        for nid in peers {
            self.ping(name, Purpose::RecoverPeer(nid.clone()), nid);
        }
    }

    fn ping(&mut self, name: &NodeName, purpose: Purpose, to: Nid) {
        let mut message = self.draft(name, MessageKind::Get, purpose, to);
        message.wants_answer = true;
        self.launch(message);
    }

    fn exchange(&mut self, name: &NodeName) {
        let now_s = whole_secs(self.log.now);
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        if now_s < node.next_console_s || node.local_queue.is_empty() {
            return;
        }
        node.next_console_s = now_s + CONSOLE_INTERVAL_S;
        let all = node.local_queue.len();
        let names: Vec<String> = node.local_queue.iter().map(Nid::to_string).collect();
        let shown = all.min(CONSOLE_NAMES_MAX);
        let line = format!(
            "{all} local NIs in recovery (showing {shown}): {}",
            names[..shown].join(", ")
        );
        self.log.say(name, What::Console(line));
    }

    /// Notifies every multi-rail peer if the status of an interface has changed since the last time.
    fn push(&mut self, name: &NodeName) {
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        let buffer = node.ping_buffer();
        if buffer == node.advertised || !node.behaviour().down_is_advertised || !node.discovers() {
            return;
        }
        node.advertised.clone_from(&buffer);
        let peers = node.peers.iter().filter(|peer| peer.multi_rail);
        let peers: Vec<Nid> = peers.map(|peer| peer.primary().clone()).collect();
        for peer in peers {
            let purpose = Purpose::Push(buffer.clone());
            let mut message = self.draft(name, MessageKind::Put, purpose, peer);
            message.wants_answer = true;
            self.launch(message);
        }
    }

    /// Records the status of a peer's interfaces, and blames those reported down.
    pub(crate) fn read_ping_buffer(&mut self, name: &NodeName, words: &[NiWord]) {
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        if !node.discovers() {
            return;
        }
        for nid in node.note_ping_buffer(words) {
            if node.behaviour().down_is_advertised {
                node.blame_peer(&nid, Cause::ReportedDown, &mut self.log);
            }
        }
    }
}

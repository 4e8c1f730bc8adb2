//! What is kept beyond the ticks: what was spoken on the connections, and what a probed monitor did outside its polls.

use platforms::NodeName;

use super::Player;

/// How often the runtime looks for bytes that a monitor sent just before its drill broke off. They are in the sockets'
/// buffers already. Chosen: a connection needs a few looks from its arrival to its first frames.
const LOOKS: usize = 64;

impl Player<'_> {
    /// What was spoken on the connections. After a failure, what came just before it is received first.
    pub(super) fn connections(&mut self, failed: bool) -> Vec<String> {
        if failed {
            self.arm.runtime.block_on(async {
                for _ in 0..LOOKS {
                    tokio::task::yield_now().await;
                }
            });
        }
        let mut told = Vec::new();
        for (node, node_runtime) in &self.node_runtimes {
            let (transport, _) = self.arm.transport(self.descriptor.speaks);
            for (what, count) in transport.connections(node) {
                let connections = if count == 1 {
                    "connection"
                } else {
                    "connections"
                };
                told.push(format!(
                    "{count} {connections} to the socket of {}: {what}",
                    node.as_str()
                ));
            }
            if let Some(sighting) = &mut self.arm.sighting {
                sighting.reads.extend(node_runtime.take_reads());
                if let Some(instance) = node_runtime.instances.values().next() {
                    sighting.look(instance.program.pid());
                }
            }
        }
        told
    }

    /// Discards the file operations of a monitor outside its polls, unless it is probed.
    pub(super) fn outside_polls(&mut self, node: &NodeName) {
        let node_runtime = &self.node_runtimes[node];
        match &mut self.arm.sighting {
            Some(sighting) => sighting.reads.extend(node_runtime.take_reads()),
            None => node_runtime.forget_reads(),
        }
    }
}

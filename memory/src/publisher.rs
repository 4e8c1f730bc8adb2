//! The publisher of the memory arm: each call is answered by the script of its node's connector.

use std::cell::RefCell;

use checks::{IoKind, Outcome, Publisher};
use director::{MonitorId, Reaction, Socket, UNAVAILABLE, code_word};
use observe::platform_connector;
use platforms::NodeName;
use proto::HealthEvents;

use super::{KILLED, World};

/// The publisher of one monitor.
pub(super) struct MemoryPublisher<'w, 's> {
    pub(super) world: &'w RefCell<World<'s>>,
    pub(super) node: NodeName,
    pub(super) monitor: MonitorId,
}

impl Publisher for MemoryPublisher<'_, '_> {
    fn publish(&mut self, batch: HealthEvents) -> Option<Outcome> {
        let mut world = self.world.borrow_mut();
        match world.director.connector(&self.node).socket() {
            Socket::Absent => return Some(Outcome::SocketMissing),
            Socket::Refusing => return Some(Outcome::Io(IoKind::Refused)),
            Socket::Listening => {}
        }
        let World {
            director, nodes, ..
        } = &mut *world;
        let scene = nodes
            .get_mut(&self.node)
            .expect("a plan names nodes of its story only");
        let done = match director.call(&self.node, self.monitor, &mut scene.fs) {
            Ok(done) => done,
            Err(error) => {
                world.stage_failed(&error);
                return None;
            }
        };
        let (accepted, answer) = (done.reaction.accepted(), done.reaction.answer());
        let call = platform_connector::received(&batch).answered(accepted, answer);
        scene.tick.calls.push(call);
        if done.kill {
            scene.struck = Some(KILLED);
            return None;
        }
        Some(match done.reaction {
            Reaction::Accept | Reaction::Slow(_) => Outcome::Accepted,
            Reaction::Status(code) => Outcome::Status {
                code,
                message: code_word(code),
            },
            Reaction::Hang => Outcome::TimedOut,
            Reaction::LoseReply | Reaction::Disconnect => Outcome::Status {
                code: UNAVAILABLE,
                message: "connection closed".to_owned(),
            },
        })
    }
}

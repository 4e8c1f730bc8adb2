//! Moments: what the story does within an operation or a call of the monitor.

use platforms::NodeName;
use scenarios::CallMoment;
use simfs::{Fs, MomentId};

use super::scene::Sequel;
use super::{Director, MonitorId, StageError};
use crate::connector::Reaction;

/// What follows from a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentDo {
    /// The operation goes on, against the tree as it is now.
    Go,
    /// The monitor that asked is killed (SIGKILL) at this very moment; it has left its seat.
    Kill,
}

/// What becomes of a call to the connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallDo {
    /// What the connector does with it.
    pub reaction: Reaction,
    /// The monitor that called is killed (SIGKILL) instead of hearing of it; it has left its seat.
    pub kill: bool,
}

impl Director<'_> {
    /// A moment has come, on the thread that serves the operation; `by` asked for it. What the
    /// story says is done, and is visible when this returns.
    ///
    /// # Errors
    /// [`StageError`] if the world cannot do what the story says.
    pub fn moment(
        &mut self,
        node: &NodeName,
        id: MomentId,
        by: MonitorId,
        fs: &mut Fs,
    ) -> Result<MomentDo, StageError> {
        let Some(sequel) = self.scene(node)?.moments.remove(&id) else {
            return Ok(MomentDo::Go);
        };
        let end = match sequel {
            Sequel::Step(step) => self.sequel(step, node, by)?,
            Sequel::Vanish(action, step) => {
                self.vanish(action, step)?;
                MomentDo::Go
            }
        };
        self.refresh(node, fs)?;
        Ok(end)
    }

    /// A call from `by` was received: what becomes of it, once the moments of calls have had their
    /// say. What the story says is done, and is visible when this returns.
    ///
    /// # Errors
    /// [`StageError`] if the world cannot do what the story says.
    pub fn call(
        &mut self,
        node: &NodeName,
        by: MonitorId,
        fs: &mut Fs,
    ) -> Result<CallDo, StageError> {
        let scene = self.scene(node)?;
        scene.calls += 1;
        let received = CallMoment::Received(scene.calls);
        if self.call_moment(received, node, by, fs)? == MomentDo::Kill {
            return Ok(CallDo {
                reaction: Reaction::Disconnect,
                kill: true,
            });
        }
        let scene = self.scene(node)?;
        let reaction = scene.connector.call();
        if reaction.accepted() {
            scene.calls_accepted += 1;
            let accepted = CallMoment::Accepted(scene.calls_accepted);
            if self.call_moment(accepted, node, by, fs)? == MomentDo::Kill {
                return Ok(CallDo {
                    reaction: Reaction::LoseReply,
                    kill: true,
                });
            }
        }
        Ok(CallDo {
            reaction,
            kill: false,
        })
    }
}

//! Moments: steps of the story within a file operation or a call of the monitor.

use platforms::NodeName;
use scenarios::CallMoment;
use simfs::{Fs, MomentId};

use super::scene::Sequel;
use super::{Director, MonitorId, StageError};
use crate::connector::Reaction;

/// The result of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentDo {
    /// The operation continues, against the present tree.
    Go,
    /// The monitor that requested it is killed (SIGKILL) at this moment, and is removed.
    Kill,
}

/// The handling of a call to the connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallDo {
    /// The connector's reaction.
    pub reaction: Reaction,
    /// Whether the calling monitor is killed (SIGKILL) instead of getting the answer; it is
    /// removed.
    pub kill: bool,
}

impl Director<'_> {
    /// Executes the steps of a moment, on the thread that serves the operation; `by` requested it.
    /// Their effects are visible when this returns.
    ///
    /// # Errors
    /// [`StageError`] if the world cannot perform a step.
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

    /// Handles a received call from `by`, after executing the steps at its moments. Their effects
    /// are visible when this returns.
    ///
    /// # Errors
    /// [`StageError`] if the world cannot perform a step.
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

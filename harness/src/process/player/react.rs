//! What a player does with the news that come while it waits.

use simfs::{Errno, MomentId, RuleId};
use simfs_fuse::HoldId;
use tokio::sync::oneshot;

use platforms::NodeName;
use scenarios::{HangEnd, Signal};

use super::{Play, Player, stage};
use director::{MomentDo, MonitorId, Reaction};
use observe::{Broken, Delivery};

use crate::process::{
    inbox::{Happening, News},
    station::Hang,
};

impl Player<'_> {
    pub(super) fn react(&mut self, happening: Happening) -> Play<()> {
        let Happening { node, what } = happening;
        match what {
            News::Gate { hold, pid } => self.gate(&node, hold, pid),
            News::Hung { hold, pid, rule } => self.hung(&node, hold, pid, rule),
            News::Moment { hold, pid, moment } => self.moment(&node, hold, pid, moment)?,
            News::Stuck => return Err(Broken::StuckInKernel { tick: self.tick() }),
            News::Killed { hold } => {
                let station = self.station(&node);
                station.hangs.remove(&hold);
                station
                    .seats
                    .values_mut()
                    .for_each(|seat| seat.gate.retain(|held| *held != hold));
            }
            News::Call { said, pid, answer } => self.call(&node, said, pid, answer)?,
            News::Ended { monitor } => self.ended(&node, monitor)?,
        }
        Ok(())
    }

    /// A further listing within a poll goes on at once.
    fn gate(&mut self, node: &NodeName, hold: HoldId, pid: u32) {
        let all = self.listings;
        let station = self.station(node);
        let Some(monitor) = station.whose(pid) else {
            return station.release(hold);
        };
        let Some(seat) = station.seats.get_mut(&monitor) else {
            return;
        };
        match &mut seat.granted {
            Some(granted) if *granted < all => {
                *granted += 1;
                station.release(hold);
            }
            _ => seat.gate.push_back(hold),
        }
    }

    fn hung(&mut self, node: &NodeName, hold: HoldId, pid: u32, rule: RuleId) {
        let tick = self.tick();
        let end = self.director.hang_end(node, rule);
        let station = self.station(node);
        station.hangs.insert(hold, Hang { rule, pid });
        if let Some(HangEnd::Ticks(ticks)) = end
            && let Some(monitor) = station.whose(pid)
            && let Some(seat) = station.seats.get_mut(&monitor)
        {
            seat.held = Some((hold, tick + u64::from(ticks)));
        }
    }

    fn moment(&mut self, node: &NodeName, hold: HoldId, pid: u32, moment: MomentId) -> Play<()> {
        let station = self
            .stations
            .get_mut(node)
            .expect("news come from nodes of the story");
        let Some(by) = station.whose(pid) else {
            station.release(hold);
            return Ok(());
        };
        let director = &mut self.director;
        let done = station
            .change(|fs| director.moment(node, moment, by, fs))
            .map_err(|error| stage(&error))?;
        match done {
            MomentDo::Go => station.release(hold),
            MomentDo::Kill => {
                self.strike(node, by);
                if let Some(server) = &self.station(node).server {
                    server.answer(hold, Errno::EINTR);
                }
            }
        }
        Ok(())
    }

    /// Kills a monitor in mid-poll: the poll ends here, and what was accepted stands.
    fn strike(&mut self, node: &NodeName, monitor: MonitorId) {
        let station = self.station(node);
        station.polled = true;
        if let Some(seat) = station.seats.get_mut(&monitor) {
            seat.ending = true;
            seat.chair.signal(Signal::Kill);
        }
        self.interrupt(node, monitor);
    }

    fn call(
        &mut self,
        node: &NodeName,
        said: Delivery,
        pid: u32,
        answer: oneshot::Sender<Reaction>,
    ) -> Play<()> {
        let station = self
            .stations
            .get_mut(node)
            .expect("news come from nodes of the story");
        let by = station.whose(pid).unwrap_or_default();
        let director = &mut self.director;
        let done = station
            .change(|fs| director.call(node, by, fs))
            .map_err(|error| stage(&error))?;
        let (accepted, told) = (done.reaction.accepted(), done.reaction.answer());
        station.tick.calls.push(said.answered(accepted, told));
        if done.kill {
            self.strike(node, by);
        }
        // Whoever called may have given up.
        let _ = answer.send(done.reaction);
        Ok(())
    }

    /// A monitor has ended. Unless somebody ended it or the story expects it, that breaks the drill.
    fn ended(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        let Some(seat) = self.station(node).seats.get_mut(&monitor) else {
            return Ok(());
        };
        let ending = seat.ending;
        let polling = seat.granted.is_some();
        let exit = seat.chair.reap().map_err(|error| stage(&error))?;
        self.hear(node, monitor, true);
        let tick = self.tick();
        let expected = ending || self.director.expects_exit(node);
        let station = self.station(node);
        station.seats.remove(&monitor);
        if polling {
            station.polled = true;
            station.note_reads();
        } else {
            station.forget_reads();
        }
        station.tick.exits.push(exit);
        let last_words = station
            .tick
            .log
            .iter()
            .rev()
            .take(5)
            .rev()
            .cloned()
            .collect();
        if !ending {
            self.director.left(node, monitor);
        }
        if expected {
            Ok(())
        } else {
            Err(Broken::Crashed {
                tick,
                exit,
                last_words,
            })
        }
    }
}

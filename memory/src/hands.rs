//! Simulated I/O: the agent's reads, clocks and saves on the tree of its node.

use std::cell::RefCell;

use checks::{Answer, Clocks, Hands, ReadError, Request, SaveStep};
use platforms::NodeName;
use scenarios::{HangEnd, Signal};
use simfs::{Errno, Fs, NodeId, Refused, Reply};

use super::{KILLED, World};
use director::{InstanceAct, MomentDo, MonitorId};
use observe::Exit;

/// The file with both clocks, as the mount serves it.
const CLOCK: &str = "nicdrill/clock";

/// The I/O of one monitor.
pub(super) struct MemoryHands<'w, 's> {
    pub(super) world: &'w RefCell<World<'s>>,
    pub(super) node: &'w NodeName,
    pub(super) monitor: MonitorId,
}

impl Hands for MemoryHands<'_, '_> {
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>> {
        requests.iter().map(|request| self.one(request)).collect()
    }

    fn clocks(&self) -> Result<Clocks, ReadError> {
        let bytes = self.read(CLOCK)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut numbers = text.split_whitespace().map(str::parse::<u64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(wall_ns)), Some(Ok(boot_ns))) => Ok(Clocks { wall_ns, boot_ns }),
            _ => Err(ReadError::EINVAL),
        }
    }
}

impl MemoryHands<'_, '_> {
    /// A file as it is read before the first poll.
    pub(super) fn read_at_start(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.read(path)
    }

    /// One step of a save.
    pub(super) fn save(&self, step: &SaveStep) -> Result<(), ReadError> {
        let done = |path: &str, call: &dyn Fn(&mut Fs) -> Result<(), Refused>| {
            self.ask(path, call, |_, _| Ok(()))
        };
        match step {
            SaveStep::CreateFolder(path) => {
                let known = self
                    .world
                    .borrow_mut()
                    .node(self.node)
                    .fs
                    .stat(path)
                    .is_ok();
                if known {
                    Ok(())
                } else {
                    done(path, &|fs| fs.make_folder(path))
                }
            }
            SaveStep::Create(path) => done(path, &|fs| fs.create(path)),
            SaveStep::Write(path, bytes) => self.write(path, bytes),
            SaveStep::Fsync(path) => done(path, &|fs| fs.fsync(path)),
            SaveStep::Rename(path, to) => done(path, &|fs| fs.rename(path, to)),
            SaveStep::FsyncFolder(path) => done(path, &|fs| fs.fsync_folder(path)),
        }
    }

    /// Writes until everything is written, as `write_all` does.
    fn write(&self, path: &str, mut bytes: &[u8]) -> Result<(), ReadError> {
        while !bytes.is_empty() {
            let taken = self.ask(path, &|fs| fs.write(path, bytes), |_, _| Ok(0))?;
            if taken == 0 {
                return Err(errno(Errno::EIO));
            }
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    fn one(&self, request: &Request) -> Result<Answer, ReadError> {
        match request {
            Request::List(path) => self.list(path).map(Answer::Names),
            Request::Read(path) => self.read(path).map(Answer::Bytes),
            Request::ReadLink(path) => {
                let mut world = self.world.borrow_mut();
                let node = world.node(self.node);
                if node.struck.is_some() {
                    return Err(ReadError::TimedOut);
                }
                node.fs.read_link(path).map(Answer::Target).map_err(errno)
            }
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, ReadError> {
        self.ask(path, &|fs| fs.list(path), |fs, node| {
            match fs.resume(&simfs::Call::List(node))? {
                Reply::Names(entries) => Ok(entries.into_iter().map(|entry| entry.name).collect()),
                _ => Err(Errno::EIO),
            }
        })
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.ask(path, &|fs| fs.read(path), |fs, node| {
            match fs.resume(&simfs::Call::Read(node))? {
                Reply::Bytes(bytes) => Ok(bytes),
                _ => Err(Errno::EIO),
            }
        })
    }

    /// Makes a call until it has an answer. Actions at moments are applied. A call that hangs times
    /// out, or is released after its ticks and then answered by `resumed`.
    fn ask<T>(
        &self,
        path: &str,
        call: &dyn Fn(&mut Fs) -> Result<T, Refused>,
        resumed: impl Fn(&mut Fs, NodeId) -> Result<T, Errno>,
    ) -> Result<T, ReadError> {
        loop {
            let mut world = self.world.borrow_mut();
            let World {
                director, nodes, ..
            } = &mut *world;
            let node = nodes
                .get_mut(self.node)
                .expect("a plan names nodes of its story only");
            if node.struck.is_some() {
                return Err(ReadError::TimedOut);
            }
            // At most one read of a path is outstanding.
            if !node.hung.is_empty()
                && let Some(rule) = node.hung.get(path)
            {
                if director.hang_end(self.node, *rule).is_some() {
                    return Err(ReadError::TimedOut);
                }
                node.hung.remove(path);
            }
            match call(&mut node.fs) {
                Ok(answer) => return Ok(answer),
                Err(Refused::Errno(error)) => return Err(errno(error)),
                Err(Refused::Moment(moment)) => {
                    match director.moment(self.node, moment, self.monitor, &mut node.fs) {
                        Ok(MomentDo::Go) => {}
                        Ok(MomentDo::Kill) => {
                            node.struck = Some(KILLED);
                            node.fs.abandon();
                        }
                        Err(error) => world.stage_failed(&error),
                    }
                }
                Err(Refused::Hangs { rule, .. }) => {
                    let Some(HangEnd::Ticks(ticks)) = director.hang_end(self.node, rule) else {
                        node.hung.insert(path.to_owned(), rule);
                        return Err(ReadError::TimedOut);
                    };
                    let held = node
                        .fs
                        .tree()
                        .resolve(path)
                        .or_else(|error| node.fs.anchor().ok_or(error));
                    let held = held.map_err(errno)?;
                    for _ in 0..ticks {
                        world.hold_on(self.node, self.monitor);
                        if let Some(exit) = world.ends(self.node, self.monitor) {
                            world.node(self.node).struck = Some(exit);
                        }
                        if world.node(self.node).struck.is_some() {
                            return Err(ReadError::TimedOut);
                        }
                    }
                    let node = world.node(self.node);
                    return resumed(&mut node.fs, held).map_err(errno);
                }
            }
        }
    }
}

impl World<'_> {
    /// Ends the present tick and begins the next one, while a monitor's poll continues.
    fn hold_on(&mut self, node: &NodeName, monitor: MonitorId) {
        self.end_tick();
        self.begin_tick(Some((node, monitor)));
        if self.broken.is_none() {
            self.show(Some(node));
        }
    }

    /// How the present tick ends this monitor, if it does; marks the monitor as ended.
    fn ends(&mut self, node: &NodeName, monitor: MonitorId) -> Option<Exit> {
        let end = |act: &InstanceAct| match act {
            InstanceAct::End {
                monitor: ended,
                signal,
            } if *ended == monitor => Some(*signal),
            _ => None,
        };
        let at = self
            .turn
            .acts
            .iter()
            .position(|(named, act)| named == node && end(act).is_some())?;
        let (_, act) = self.turn.acts.remove(at)?;
        Some(match end(&act)? {
            Signal::Kill => KILLED,
            Signal::Term => Exit::Code(0),
        })
    }
}

fn errno(errno: Errno) -> ReadError {
    ReadError::Errno(errno.0)
}

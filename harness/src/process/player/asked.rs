//! Monitors that are asked for a page: a scrape begins in a tick in which one is due, and ends when the answer comes or
//! the timeout is over in simulated time.
//!
//! The monitor answers without a gate. While the story holds a read of it, ticks go on. Start at [`Player::scrape`].

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use observe::{Broken, Delivery, Medium, Observation, Pace, PageText, Scrape, ScrapeOutcome};
use platforms::NodeName;

use super::{
    Play, Player,
    waiting::{LOOK, Stillness, Waited},
};
use director::MonitorId;

use crate::process::{
    http,
    inbox::{EventSender, RuntimeEvent},
    node_runtime::Asking,
};

/// The pause between two looks whether a monitor listens.
const PAUSE: Duration = Duration::from_millis(5);

impl Player<'_> {
    /// Waits until a monitor listens at its port. One that a rule holds is not waited for.
    pub(super) fn await_listening(&mut self, node: &NodeName, monitor: MonitorId) -> Play<Waited> {
        let mut progress = Instant::now();
        loop {
            let node_runtime = self.node_runtime(node);
            let Some(instance) = node_runtime.instances.get(&monitor) else {
                return Ok(Waited::Gone);
            };
            let (pid, port) = (instance.program.pid(), instance.metrics_port);
            if http::listens(pid, port) {
                return Ok(Waited::Done);
            }
            if !node_runtime.hangs.is_empty() {
                return Ok(Waited::Held);
            }
            if self.is_out_of_patience(node, monitor, &mut progress) {
                return Err(Broken::Hung {
                    tick: self.tick(),
                    waiting_for: format!("it to listen at port {port} of 127.0.0.1"),
                });
            }
            self.goes_on()?;
            if let Some(event) = self.next(PAUSE) {
                self.react(event)?;
            }
        }
    }

    /// Asks a monitor for its page if that is due, or goes on with a scrape that has had no answer yet.
    pub(super) fn scrape(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        let (now, timeout) = (self.now_ns(), self.descriptor.schedule.timeout_ns());
        let is_asking = |player: &mut Self| {
            let instance = player.node_runtime(node).instances.get(&monitor);
            instance
                .and_then(|instance| instance.asking.as_ref())
                .map(|asking| asking.begun_ns)
        };
        if let Some(begun) = is_asking(self)
            && now >= begun + timeout
            && !self.await_answer(node, monitor)?
        {
            self.timed_out(node, monitor, begun);
        }
        if is_asking(self).is_none() {
            if !self.is_due() {
                return Ok(());
            }
            self.begin_scrape(node, monitor, now);
        }
        self.await_answer(node, monitor)?;
        Ok(())
    }

    fn begin_scrape(&mut self, node: &NodeName, monitor: MonitorId, now: u64) {
        let Some((path, form)) = self.descriptor.adapter().page() else {
            return;
        };
        let page = PageText::new(form, &self.descriptor.limits);
        let asked = (path.to_owned(), page);
        let sender = EventSender::new(node.clone(), self.arm.report.clone());
        let runtime = self.arm.runtime.handle().clone();
        let node_runtime = self.node_runtime(node);
        node_runtime.polled = true;
        // What it read before belongs to no scrape.
        node_runtime.forget_reads();
        let Some(instance) = node_runtime.instances.get_mut(&monitor) else {
            return;
        };
        let (pid, port) = (instance.program.pid(), instance.metrics_port);
        let reply = http::ask(&runtime, (pid, port), asked, move || {
            sender.report(RuntimeEvent::Answered);
        });
        instance.asking = Some(Asking {
            begun_ns: now,
            reply,
        });
    }

    /// Waits until the page has come, and notes it; `false` if the story holds a read, so that it does not come in this
    /// tick. A monitor that was held before the scrape began, and does nothing about it, is held still.
    fn await_answer(&mut self, node: &NodeName, monitor: MonitorId) -> Play<bool> {
        let before = self.node_runtime(node).hangs.len();
        let mut progress = Instant::now();
        let mut still = Stillness::default();
        loop {
            let node_runtime = self.node_runtime(node);
            let hangs = node_runtime.hangs.len();
            let settled = node_runtime
                .server
                .as_ref()
                .map_or(0, simfs_fuse::Server::settle);
            let Some(instance) = node_runtime.instances.get_mut(&monitor) else {
                return Ok(true);
            };
            let pid = instance.program.pid();
            let Some(asking) = instance.asking.take_if(|asking| asking.reply.is_finished()) else {
                if instance.asking.is_none() {
                    return Ok(true);
                }
                if hangs > before && !self.descriptor.has_own_timeout() {
                    return Ok(false);
                }
                if before > 0 && still.look(pid, settled) {
                    return Ok(false);
                }
                self.goes_on()?;
                let look = if before > 0 {
                    Duration::from_millis(2)
                } else {
                    LOOK
                };
                match self.next(look) {
                    Some(event) => {
                        self.react(event)?;
                        progress = Instant::now();
                        still = Stillness::default();
                    }
                    None if self.is_out_of_patience(node, monitor, &mut progress) => {
                        return Err(Broken::Hung {
                            tick: self.tick(),
                            waiting_for: "its answer to a scrape".to_owned(),
                        });
                    }
                    None => {}
                }
                continue;
            };
            let answer = self.arm.runtime.block_on(asking.reply);
            let answer = answer.unwrap_or_else(|error| Err(io::Error::other(error)));
            self.answered(node, asking.begun_ns, answer)?;
            return Ok(true);
        }
    }

    /// Notes a scrape that has an answer, or none because nobody listened.
    fn answered(
        &mut self,
        node: &NodeName,
        begun: u64,
        answer: io::Result<(u16, String)>,
    ) -> Play<()> {
        let outcome = match answer {
            Ok((status, text)) => ScrapeOutcome::Answered {
                status,
                text: self.shared_page(node, text),
            },
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(self.over_limit(format!("its page has {error}")));
            }
            Err(error) => ScrapeOutcome::Failed(error.to_string()),
        };
        self.note(node, begun, outcome);
        self.goes_on()
    }

    /// A page. Those that say something all together are kept until the drill is over, and once for all scrapes that
    /// follow one another with the same answer.
    fn shared_page(&mut self, node: &NodeName, text: String) -> Arc<str> {
        if self.descriptor.medium() != Medium::KeptPages {
            return text.into();
        }
        let before = self.node_runtime(node).page.take();
        let page = before.filter(|before| **before == *text);
        let page = page.unwrap_or_else(|| {
            self.budget.keep(text.len());
            text.into()
        });
        self.node_runtime(node).page = Some(Arc::clone(&page));
        page
    }

    /// Notes that a scrape which is due found nobody, because no monitor runs.
    pub(super) fn scrape_nobody(&mut self, node: &NodeName) {
        let is_alone = self.node_runtimes[node].instances.is_empty();
        if is_alone && self.descriptor.pace() == Pace::Asked && self.is_due() {
            let nobody = ScrapeOutcome::Failed("no monitor runs".to_owned());
            self.note(node, self.now_ns(), nobody);
        }
    }

    fn timed_out(&mut self, node: &NodeName, monitor: MonitorId, begun: u64) {
        if let Some(instance) = self.node_runtime(node).instances.get_mut(&monitor)
            && let Some(asking) = instance.asking.take()
        {
            asking.reply.abort();
        }
        self.note(node, begun, ScrapeOutcome::TimedOut);
    }

    /// Notes how a scrape ended, and what its page says.
    pub(super) fn note(&mut self, node: &NodeName, begun: u64, outcome: ScrapeOutcome) {
        let now = self.now_ns();
        let mut scrape = Scrape {
            at_ns: begun,
            took_ns: now - begun,
            outcome,
        };
        let said = match &scrape.outcome {
            ScrapeOutcome::Answered { status: 200, text } => {
                self.descriptor.adapter().page_says(text)
            }
            _ => Err(scrape.failure().unwrap_or_default()),
        };
        let is_kept = self.descriptor.medium() == Medium::KeptPages;
        let node_runtime = self.node_runtime(node);
        node_runtime.note_reads();
        // Who gives no page has looked all the same, and owes what it could have said.
        let is_look = match &scrape.outcome {
            ScrapeOutcome::Answered { .. } | ScrapeOutcome::Unread(_) => true,
            // The story holds a read.
            ScrapeOutcome::TimedOut => false,
            ScrapeOutcome::Failed(_) => {
                !node_runtime.instances.is_empty() && node_runtime.hangs.is_empty()
            }
        };
        node_runtime.tick.polls += u32::from(is_look);
        let is_unread = said.is_err();
        let (said, answer) = match said {
            Ok(said) => (said, "answered".to_owned()),
            Err(why) => (nothing_known(why.clone()), why),
        };
        // What kept pages mean is known at the end of the drill. Of the others nobody needs the text any more.
        if !is_kept {
            if let ScrapeOutcome::Answered { status, text } = &mut scrape.outcome {
                let is_unread = is_unread && *status == 200;
                *text = Arc::default();
                if is_unread {
                    scrape.outcome = ScrapeOutcome::Unread(answer.clone());
                }
            }
            self.budget.count(&said);
            let calls = &mut self.node_runtime(node).tick.calls;
            calls.push(said.answered(true, answer));
        }
        self.node_runtime(node).tick.scrapes.push(scrape);
    }
}

/// The statement that nothing is known of the node.
fn nothing_known(text: String) -> Delivery {
    let unknown = Observation {
        text,
        ..Observation::default()
    };
    vec![unknown].into()
}

//! Delivery of batches: attempts, waits, what counts as accepted, and when to save.
//!
//! A batch does not change between attempts. If it is given up it is dropped: its events never
//! counted as reported, so the next poll finds the same changes again. The content of the state
//! file is defined elsewhere.

use std::collections::VecDeque;
use std::time::Duration;

use proto::{HealthEvent, HealthEvents};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use terms::Check;

use crate::flags::Publish;
use crate::hands::ReadError;
use crate::log_record::{Level, LogRecord};
use crate::todo::{Outcome, SaveStep, Todo};

/// Events of one check, and what changes in memory when they are accepted.
#[derive(Debug, Clone)]
pub(crate) struct Batch<E> {
    pub(crate) check: Check,
    pub(crate) events: HealthEvents,
    pub(crate) effects: Vec<E>,
}

impl<E> Batch<E> {
    pub(crate) fn new(check: Check) -> Batch<E> {
        Batch {
            check,
            events: HealthEvents {
                version: proto::VERSION,
                events: Vec::new(),
            },
            effects: Vec::new(),
        }
    }
}

#[derive(Debug, Clone)]
struct Attempt<E> {
    batch: Batch<E>,
    number: u32,
    /// A wait before this attempt.
    wait: Option<Duration>,
    /// Returned to the caller, and not answered yet.
    is_out: bool,
    /// After the outcome of an attempt, the connector may have the batch although it did not accept
    /// it.
    is_in_doubt: bool,
}

/// The state of a batch after an attempt.
#[derive(Debug)]
pub(crate) enum Settled<E> {
    /// It is tried again.
    NotYet,
    Accepted(Vec<E>),
    GivenUp {
        effects: Vec<E>,
        /// The connector may have it although it did not accept it.
        is_in_doubt: bool,
    },
}

/// What is left to deliver of the last poll.
#[derive(Debug, Clone)]
pub(crate) struct Delivery<E> {
    publish: Publish,
    seed: u64,
    queue: VecDeque<Batch<E>>,
    current: Option<Attempt<E>>,
    records: VecDeque<LogRecord>,
    /// A batch of this poll was given up.
    pub(crate) gave_up: bool,
    /// The steps that were returned to the caller and not answered yet.
    saving: Option<Vec<SaveStep>>,
    save_failed: bool,
    socket_missing: bool,
}

impl<E> Delivery<E> {
    pub(crate) fn new(publish: Publish, node_name: &str) -> Delivery<E> {
        Delivery {
            publish,
            seed: node_name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                mix(hash ^ u64::from(byte))
            }),
            queue: VecDeque::new(),
            current: None,
            records: VecDeque::new(),
            gave_up: false,
            saving: None,
            save_failed: false,
            socket_missing: false,
        }
    }

    pub(crate) fn record(&mut self, record: LogRecord) {
        self.records.push_back(record);
    }

    /// Replaces the batches of an earlier poll by those of this one. Returns the effects of a
    /// dropped batch if the connector may have it.
    pub(crate) fn begin(&mut self, batches: Vec<Batch<E>>) -> Vec<E> {
        let dropped = self.current.take();
        self.queue = batches.into();
        self.saving = None;
        self.gave_up = false;
        let in_doubt = dropped.filter(|attempt| attempt.is_out || attempt.is_in_doubt);
        in_doubt.map_or_else(Vec::new, |attempt| attempt.batch.effects)
    }

    /// The number of the last attempt; 0 if there is none.
    pub(crate) fn attempt(&self) -> u32 {
        self.current.as_ref().map_or(0, |attempt| attempt.number)
    }

    /// The effects of all batches of this poll that are not settled, as if they were accepted.
    pub(crate) fn pending(&self) -> Vec<E>
    where
        E: Clone,
    {
        let current = self.current.iter().map(|attempt| &attempt.batch);
        let batches = current.chain(&self.queue);
        batches.flat_map(|batch| batch.effects.clone()).collect()
    }

    /// Drops the batches after the present one.
    pub(crate) fn drop_the_rest(&mut self) {
        self.queue.clear();
    }

    pub(crate) fn save_failed(&self) -> bool {
        self.save_failed
    }

    pub(crate) fn begin_save(&mut self, steps: Vec<SaveStep>) {
        self.saving = Some(steps);
    }

    /// Returns a record to log, or a save.
    pub(crate) fn next_record_or_save(&mut self) -> Option<Todo> {
        if let Some(record) = self.records.pop_front() {
            return Some(Todo::LogRecord(record));
        }
        self.saving.clone().map(Todo::Save)
    }

    /// The next attempt, or the wait before it; `None` when every batch is settled.
    pub(crate) fn next_attempt(&mut self) -> Option<Todo> {
        if self.current.is_none() {
            let batch = self.queue.pop_front()?;
            self.current = Some(Attempt {
                batch,
                number: 1,
                wait: None,
                is_out: false,
                is_in_doubt: false,
            });
        }
        let attempt = self.current.as_mut()?;
        if let Some(wait) = attempt.wait.take() {
            return Some(Todo::Wait(wait));
        }
        attempt.is_out = true;
        Some(Todo::Publish {
            check: attempt.batch.check,
            batch: attempt.batch.events.clone(),
            attempt: attempt.number,
        })
    }

    /// The batch that is being sent.
    pub(crate) fn under_way(&self) -> Option<(Check, &[HealthEvent])> {
        let batch = &self.current.as_ref()?.batch;
        Some((batch.check, &batch.events.events))
    }

    /// Settles the last attempt.
    pub(crate) fn published(&mut self, outcome: &Outcome, is_retryable: bool) -> Settled<E> {
        let Some(mut attempt) = self.current.take() else {
            return Settled::NotYet;
        };
        attempt.is_out = false;
        attempt.is_in_doubt |= outcome.leaves_doubt();
        let was_missing = self.socket_missing;
        self.socket_missing = *outcome == Outcome::SocketMissing;
        if *outcome == Outcome::Accepted {
            for event in &attempt.batch.events.events {
                let record = LogRecord::new(Level::Info, "health event sent")
                    .with("check", attempt.batch.check)
                    .with("fatal", event.is_fatal)
                    .with("healthy", event.is_healthy)
                    .with("message", &event.message);
                self.records.push_back(record);
            }
            return Settled::Accepted(attempt.batch.effects);
        }
        if is_retryable && attempt.number < self.publish.attempts {
            let wait = self.wait_before(attempt.number + 1, &attempt.batch);
            let record = LogRecord::new(Level::Debug, "publish is tried again")
                .with("check", attempt.batch.check)
                .with("attempt", attempt.number)
                .with("wait_ms", wait.as_millis());
            self.records.push_back(record);
            attempt.wait = Some(wait);
            attempt.number += 1;
            self.current = Some(attempt);
            return Settled::NotYet;
        }
        self.gave_up = true;
        if !(self.socket_missing && was_missing) {
            self.records.push_back(give_up_record(&attempt, outcome));
        }
        Settled::GivenUp {
            effects: attempt.batch.effects,
            is_in_doubt: attempt.is_in_doubt,
        }
    }

    /// The wait before attempt `number`: half as long again each time and, from 10 ms on, up to a
    /// tenth more at random, so that the monitors of many nodes do not retry at the same instant.
    fn wait_before(&self, number: u32, batch: &Batch<E>) -> Duration {
        let factor = 1.5_f64.powi(i32::try_from(number.saturating_sub(2)).unwrap_or(i32::MAX));
        let longest = Duration::from_secs(3600);
        let wait = self.publish.backoff.as_secs_f64() * factor;
        let wait = if wait < longest.as_secs_f64() {
            Duration::from_secs_f64(wait)
        } else {
            longest
        };
        if wait < Duration::from_millis(10) {
            return wait;
        }
        let stamp = batch
            .events
            .events
            .first()
            .and_then(|event| event.generated_timestamp)
            .map_or(0, |stamp| {
                stamp.seconds.unsigned_abs() ^ u64::from(stamp.nanos.unsigned_abs())
            });
        let chance = u32::try_from(mix(self.seed ^ stamp ^ u64::from(number)) % 1000)
            .expect("a remainder below one thousand");
        wait + wait * chance / 10_000
    }

    pub(crate) fn saved(&mut self, result: Result<(), ReadError>) {
        self.saving = None;
        let failed_before = self.save_failed;
        self.save_failed = result.is_err();
        match result {
            Err(error) if !failed_before => self.records.push_back(
                LogRecord::new(Level::Error, "failed to persist state to disk")
                    .with("error", error),
            ),
            Ok(()) if failed_before => self
                .records
                .push_back(LogRecord::new(Level::Info, "state is persisted again")),
            _ => {}
        }
    }
}

fn give_up_record<E>(attempt: &Attempt<E>, outcome: &Outcome) -> LogRecord {
    let (level, text, cause) = match outcome {
        Outcome::SocketMissing => (
            Level::Warn,
            "platform-connector unix socket missing; send skipped",
            None,
        ),
        Outcome::Status { code, message } => (
            Level::Error,
            "health events were not delivered",
            Some(format!("grpc code {code}: {message}")),
        ),
        Outcome::TimedOut => (
            Level::Error,
            "health events were not delivered",
            Some("timed out".to_owned()),
        ),
        Outcome::Io(kind) => (
            Level::Error,
            "health events were not delivered",
            Some(format!("connection failed: {kind:?}")),
        ),
        Outcome::Accepted => unreachable!("an accepted batch is not given up"),
    };
    let record = LogRecord::new(level, text)
        .with("check", attempt.batch.check)
        .with("attempts", attempt.number);
    match cause {
        Some(cause) => record.with("cause", cause),
        None => record,
    }
}

/// The first number that SplitMix64 returns for this seed.
fn mix(seed: u64) -> u64 {
    SplitMix64::seed_from_u64(seed).next_u64()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The wait in microseconds before attempt 2 of a batch with this timestamp, on that node.
    fn wait_us(node: &str, backoff_us: u64, seconds: i64) -> u128 {
        let publish = Publish {
            attempts: 5,
            backoff: Duration::from_micros(backoff_us),
            timeout: Duration::from_secs(10),
        };
        let mut batch: Batch<()> = Batch::new(Check::InfiniBandState);
        batch.events.events.push(HealthEvent {
            generated_timestamp: Some(prost_types::Timestamp { seconds, nanos: 5 }),
            ..HealthEvent::default()
        });
        let delivery = Delivery::new(publish, node);
        delivery.wait_before(2, &batch).as_micros()
    }

    #[test]
    fn nodes_and_times_wait_unlike_and_at_most_a_tenth_more() {
        let waits: Vec<u128> = (0..200)
            .map(|number| wait_us(&format!("node-{number}"), 1_000_000, 7))
            .collect();
        let unlike: BTreeSet<&u128> = waits.iter().collect();
        assert!(unlike.len() > 150, "{} of 200", unlike.len());
        assert!(
            waits
                .iter()
                .all(|wait| (1_000_000..1_100_000).contains(wait))
        );
        assert!(waits.iter().any(|wait| *wait > 1_090_000));
        let later: BTreeSet<u128> = (0..200)
            .map(|second| wait_us("node-1", 1_000_000, second))
            .collect();
        assert!(later.len() > 150, "{} of 200", later.len());
    }

    #[test]
    fn chance_begins_at_10_ms() {
        let short = (0..50).map(|number| wait_us(&format!("node-{number}"), 9_999, 7));
        assert!(short.into_iter().all(|wait| wait == 9_999));
        let long = (0..50).map(|number| wait_us(&format!("node-{number}"), 10_000, 7));
        assert!(long.into_iter().any(|wait| wait > 10_000));
    }

    fn delivery() -> Delivery<()> {
        let publish = Publish {
            attempts: 1,
            backoff: Duration::ZERO,
            timeout: Duration::from_secs(1),
        };
        Delivery::new(publish, "n1")
    }

    #[test]
    fn a_save_is_handed_out_until_it_is_answered() {
        let mut delivery = delivery();
        let steps = vec![SaveStep::CreateFolder("/s".to_owned())];
        delivery.begin_save(steps.clone());
        for _ in 0..2 {
            assert_eq!(
                delivery.next_record_or_save(),
                Some(Todo::Save(steps.clone()))
            );
        }
        delivery.saved(Ok(()));
        assert_eq!(delivery.next_record_or_save(), None);
    }

    #[test]
    fn a_failed_save_is_known_until_one_succeeds() {
        let mut delivery = delivery();
        assert!(!delivery.save_failed());
        delivery.saved(Err(ReadError::EIO));
        assert!(delivery.save_failed());
        delivery.saved(Ok(()));
        assert!(!delivery.save_failed());
    }
}

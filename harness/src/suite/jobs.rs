//! Runs many tasks in parallel and delivers their results in order.
//!
//! A job does one task after another. It has several workers, each with a thread, which take turns:
//! while the task of one only waits, another starts the next. Results are delivered on the caller's
//! thread, in the order of the tasks. A panic in a task becomes its result and does not affect the
//! others. A task that other load has disturbed can be postponed, and then runs alone ([`postponing`]).

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError, mpsc},
    thread,
};

use crate::turn::Turn;

/// Workers of a job: one is at work, the others may wait. Chosen.
const WORKERS: usize = 4;

/// A task that panicked, with the panic's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Panicked(pub(super) String);

/// Runs `tasks` tasks in `jobs` jobs and delivers each result in order.
///
/// `worker` creates a worker, counted from 0, which belongs to the job of that number modulo `jobs`
/// and uses the job's turns; `each` runs one task, counted from 0; `emit` receives the results in
/// order and may break off, after which no further task starts and no further result is delivered.
pub(super) fn in_order<W, T: Send>(
    jobs: usize,
    tasks: usize,
    worker: impl Fn(usize, &Turn) -> W + Sync,
    each: impl Fn(&mut W, usize) -> T + Sync,
    emit: impl FnMut(usize, Result<T, Panicked>) -> ControlFlow<()>,
) {
    let each = |worker: &mut W, task, _: Beside| Some(each(worker, task));
    postponing(
        jobs,
        &(0..tasks).collect::<Vec<_>>(),
        worker,
        each,
        |_| (),
        emit,
    );
}

/// What runs at the same time as a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// The tasks of other jobs.
    Others,
    /// Nothing: all others are done.
    Nothing,
}

/// Like [`in_order`], with tasks that can be postponed: one that returns `None` beside others runs once more, alone, when
/// all others are done, by a worker of its own, and returns a result then. The results after it wait for it.
///
/// The tasks, counted from 0, start in this order; `seen` gets each result as soon as it is there.
pub(super) fn postponing<W, T: Send>(
    jobs: usize,
    order: &[usize],
    worker: impl Fn(usize, &Turn) -> W + Sync,
    each: impl Fn(&mut W, usize, Beside) -> Option<T> + Sync,
    mut seen: impl FnMut(&Result<T, Panicked>),
    mut emit: impl FnMut(usize, Result<T, Panicked>) -> ControlFlow<()>,
) {
    let mut early = BTreeMap::new();
    let mut due = 0;
    let mut deliver = |task, done| {
        seen(&done);
        early.insert(task, done);
        while let Some(done) = early.remove(&due) {
            emit(due, done)?;
            due += 1;
        }
        ControlFlow::Continue(())
    };
    let mut postponed = BTreeSet::new();
    let all = Tasks(Mutex::new(order.iter().copied().collect()));
    let jobs = jobs.clamp(1, order.len().max(1));
    let over = all.run(
        jobs,
        Beside::Others,
        &worker,
        &each,
        |task, done| match done {
            Ok(None) => {
                postponed.insert(task);
                ControlFlow::Continue(())
            }
            Ok(Some(done)) => deliver(task, Ok(done)),
            Err(panic) => deliver(task, Err(panic)),
        },
    );
    if over.is_break() || postponed.is_empty() {
        return;
    }
    let rest = Tasks(Mutex::new(postponed.into_iter().collect()));
    // The last phase ends with its tasks, whether or not it is broken off.
    let _ = rest.run(1, Beside::Nothing, &worker, &each, |task, done| {
        let none = || Panicked("a task that ran alone was postponed".to_owned());
        deliver(task, done.and_then(|done| done.ok_or_else(none)))
    });
}

/// The tasks that no worker has taken yet.
struct Tasks(Mutex<VecDeque<usize>>);

impl Tasks {
    fn take(&self) -> Option<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }

    fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Runs the tasks; `receive` gets each result as it comes, and may break off.
    fn run<W, T: Send>(
        &self,
        jobs: usize,
        beside: Beside,
        worker: &(impl Fn(usize, &Turn) -> W + Sync),
        each: &(impl Fn(&mut W, usize, Beside) -> Option<T> + Sync),
        mut receive: impl FnMut(usize, Result<Option<T>, Panicked>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (sender, results) = mpsc::channel();
        let turns: Vec<Turn> = (0..jobs).map(|_| Turn::default()).collect();
        // Alone is alone: a task that waits lets no other one begin.
        let workers = if beside == Beside::Nothing {
            1
        } else {
            WORKERS
        };
        thread::scope(|scope| {
            for place in 0..jobs * workers {
                let turn = turns[place % jobs].clone();
                let sender = sender.clone();
                scope.spawn(move || {
                    let mut own = None;
                    loop {
                        turn.enter();
                        let Some(task) = self.take() else {
                            turn.leave();
                            break;
                        };
                        let done = catch_unwind(AssertUnwindSafe(|| {
                            each(
                                own.get_or_insert_with(|| worker(place, &turn)),
                                task,
                                beside,
                            )
                        }));
                        turn.leave();
                        let done = done.map_err(|panic| {
                            // A worker whose task panicked is not used again.
                            own = None;
                            Panicked(text_of(panic.as_ref()))
                        });
                        if sender.send((task, done)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for (task, done) in results {
                if receive(task, done).is_break() {
                    self.clear();
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })
    }
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a text".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    };

    use super::*;

    #[test]
    fn results_are_told_in_order_although_a_later_task_ends_first() {
        // Task 0 cannot end before task 1 has.
        let barrier = Barrier::new(2);
        let first_may_end = AtomicBool::new(false);
        let mut rendered = Vec::new();
        in_order(
            2,
            20,
            |_, _| (),
            |(), task| {
                if task == 0 {
                    barrier.wait();
                    assert!(first_may_end.load(Ordering::SeqCst));
                } else if task == 1 {
                    first_may_end.store(true, Ordering::SeqCst);
                    barrier.wait();
                }
                task * 2
            },
            |task, done| {
                rendered.push((task, done.unwrap()));
                ControlFlow::Continue(())
            },
        );
        assert_eq!(
            rendered,
            (0..20).map(|task| (task, task * 2)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_task_that_panics_is_told_and_the_others_go_on_with_a_fresh_worker() {
        let workers = AtomicUsize::new(0);
        let fallen = AtomicUsize::new(usize::MAX);
        let mut rendered = Vec::new();
        in_order(
            1,
            3,
            |_, _| workers.fetch_add(1, Ordering::Relaxed),
            |worker, task| {
                if task == 1 {
                    fallen.store(*worker, Ordering::Relaxed);
                    panic!("task 1 fell");
                }
                *worker
            },
            |_, done| {
                rendered.push(done);
                ControlFlow::Continue(())
            },
        );
        let fallen = fallen.load(Ordering::Relaxed);
        assert_eq!(rendered.len(), 3);
        assert_eq!(rendered[1], Err(Panicked("task 1 fell".to_owned())));
        assert!(rendered[2].as_ref().is_ok_and(|worker| *worker != fallen));
    }

    #[test]
    fn a_task_that_waits_lets_the_next_one_of_its_job_begin() {
        let (began, second_began) = mpsc::channel();
        let second_began = Mutex::new(second_began);
        let mut rendered = Vec::new();
        in_order(
            1,
            2,
            |_, turn| turn.clone(),
            |turn, task| {
                if task == 0 {
                    turn.aside(|| second_began.lock().unwrap().recv().unwrap());
                } else {
                    began.send(()).unwrap();
                }
                task
            },
            |task, _| {
                rendered.push(task);
                ControlFlow::Continue(())
            },
        );
        assert_eq!(rendered, [0, 1]);
    }

    #[test]
    fn after_a_break_nothing_more_is_told() {
        let mut rendered = Vec::new();
        in_order(
            3,
            100,
            |_, _| (),
            |(), task| task,
            |task, _| {
                rendered.push(task);
                if task == 4 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        assert_eq!(rendered, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_postponed_task_runs_alone_when_the_others_are_done_and_its_result_keeps_its_place() {
        let others_done = AtomicUsize::new(0);
        let mut rendered = Vec::new();
        postponing(
            3,
            &(0..20).collect::<Vec<_>>(),
            |_, _| (),
            |(), task, beside| {
                if beside == Beside::Nothing {
                    return Some((task, others_done.load(Ordering::SeqCst)));
                }
                if matches!(task, 2 | 19) {
                    return None;
                }
                others_done.fetch_add(1, Ordering::SeqCst);
                Some((task, 0))
            },
            |_| (),
            |task, done| {
                rendered.push((task, done.unwrap()));
                ControlFlow::Continue(())
            },
        );
        let expected = (0..20).map(|task| {
            let beside = if matches!(task, 2 | 19) { 18 } else { 0 };
            (task, (task, beside))
        });
        assert_eq!(rendered, expected.collect::<Vec<_>>());
    }

    #[test]
    fn tasks_start_in_the_order_that_is_given_and_are_seen_as_they_end() {
        let started = Mutex::new(Vec::new());
        let (mut seen, mut rendered) = (Vec::new(), Vec::new());
        postponing(
            1,
            &[2, 0, 1],
            |_, _| (),
            |(), task, _| {
                started.lock().unwrap().push(task);
                Some(task)
            },
            |done| seen.push(*done.as_ref().unwrap()),
            |task, _| {
                rendered.push(task);
                ControlFlow::Continue(())
            },
        );
        assert_eq!(*started.lock().unwrap(), [2, 0, 1]);
        assert_eq!(seen.len(), 3);
        assert_eq!(rendered, [0, 1, 2]);
    }

    #[test]
    fn a_run_that_is_broken_off_runs_no_postponed_task() {
        postponing(
            1,
            &[0, 1, 2, 3, 4],
            |_, _| (),
            |(), task, beside| {
                assert_eq!(beside, Beside::Others);
                (task != 3).then_some(task)
            },
            |_| (),
            |task, _| match task {
                2 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            },
        );
    }
}

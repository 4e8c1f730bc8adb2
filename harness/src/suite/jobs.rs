//! Runs many tasks in parallel and delivers their results in order.
//!
//! A job does one task after another. It has several workers, each with a thread, which take turns:
//! while the task of one only waits, another starts the next. Results are delivered on the caller's
//! thread, in the order of the tasks. A panic in a task becomes its result and does not affect the
//! others.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
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
    mut emit: impl FnMut(usize, Result<T, Panicked>) -> ControlFlow<()>,
) {
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    let jobs = jobs.clamp(1, tasks.max(1));
    let turns: Vec<Turn> = (0..jobs).map(|_| Turn::default()).collect();
    thread::scope(|scope| {
        for place in 0..jobs * WORKERS {
            let turn = turns[place % jobs].clone();
            let (sender, next, worker, each) = (sender.clone(), &next, &worker, &each);
            scope.spawn(move || {
                let mut own = None;
                loop {
                    turn.enter();
                    let task = next.fetch_add(1, Ordering::Relaxed);
                    if task >= tasks {
                        turn.leave();
                        break;
                    }
                    let done = catch_unwind(AssertUnwindSafe(|| {
                        each(own.get_or_insert_with(|| worker(place, &turn)), task)
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
        let mut early = BTreeMap::new();
        let mut due = 0;
        for (task, done) in results {
            early.insert(task, done);
            while let Some(done) = early.remove(&due) {
                if emit(due, done).is_break() {
                    next.store(tasks, Ordering::Relaxed);
                    return;
                }
                due += 1;
            }
        }
    });
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
    use std::sync::{Barrier, Mutex, atomic::AtomicBool};

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
}

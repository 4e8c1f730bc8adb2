//! The thread that sends invalidations to the kernel.
//!
//! An invalidation may wait in the kernel until a request is answered, so it is never sent by the
//! thread that answers requests, and never while the tree is locked.

use std::{
    ffi::OsStr,
    sync::{Arc, mpsc},
};

use fuser::{INodeNo, Notifier};
use simfs::Stale;

use crate::{request::Job, shared::Shared};

pub(crate) fn run(shared: &Arc<Shared>, jobs: &mpsc::Receiver<Job>, notifier: &Notifier) {
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Notify { stale, done } => {
                notify(shared, notifier, stale);
                // The waiting thread may have timed out.
                let _ = done.map(|done| done.send(()));
            }
            Job::Then {
                stale,
                pending,
                next,
            } => {
                notify(shared, notifier, stale);
                shared.follow(*pending, next);
            }
            Job::Stop => return,
        }
    }
}

fn notify(shared: &Shared, notifier: &Notifier, stale: Vec<Stale>) {
    let stale = shared.holds().notifiable(stale);
    for stale in stale {
        // An error means that the kernel does not know the node, or that the mount is gone: in both
        // cases there is nothing to invalidate.
        let _ = match stale {
            Stale::Entry { parent, name } => {
                notifier.inval_entry(INodeNo(parent.inode()), OsStr::new(&*name))
            }
            Stale::Inode(node) => notifier.inval_inode(INodeNo(node.inode()), 0, 0),
        };
    }
}

//! A thread that can wait for an answer of its own process. Start at [`leave_devices`].

use std::{fs, io};

use nix::{
    sched::{CloneFlags, unshare},
    unistd::close,
};

/// The descriptors of the calling thread (`proc_pid_fd(5)`).
const OWN: &str = "/proc/thread-self/fd";

/// The device of FUSE.
const DEVICE: &str = "/dev/fuse";

/// Gives the calling thread descriptors of its own, without those of `/dev/fuse`. What it opens from then on, no
/// other thread of the process has.
///
/// A thread that uses a mount of its own process must call this first. If the process is killed while the thread
/// waits for the answer to a request that the server has read, the thread goes on waiting (`request_wait_answer`,
/// fs/fuse/dev.c) until the kernel ends the connection, which it does when the last descriptor of the device is closed
/// (`fuse_dev_release`, there). If that were one of the waiting thread, the process would never end.
///
/// # Errors
/// What the kernel refuses, or a `/proc` that is not there.
pub fn leave_devices() -> io::Result<()> {
    unshare(CloneFlags::CLONE_FILES)?;
    for entry in fs::read_dir(OWN)? {
        let entry = entry?;
        // The descriptor by which this folder is read is none of the device, and is closed by its owner.
        if fs::read_link(entry.path()).is_ok_and(|file| file.as_os_str() == DEVICE)
            && let Some(descriptor) = entry.file_name().to_str()
            && let Ok(descriptor) = descriptor.parse::<i32>()
        {
            close(descriptor)?;
        }
    }
    Ok(())
}

//! The confinement of a monitor: what it can write, what it may use, and for whom that works.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{
    fs,
    os::unix::{
        fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
        net::UnixListener,
    },
    path::Path,
};

use rstest::rstest;

use crate::scratch::{NICDRILL, Ran, Scratch, can_play_processes, command};

/// Who runs the command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum User {
    /// Whoever runs the tests.
    Own,
    /// An ordinary user, for whom `/dev/fuse` has this mode.
    Nobody { fuse: &'static str },
}

const NOBODY: User = User::Nobody { fuse: "666" };

/// Becomes an ordinary user, in a mount namespace with another `/dev/fuse`.
const AS_NOBODY: &str = "mount -t tmpfs -o mode=755 nicdrill-test dev \
    && mknod dev/fuse c 10 229 && chmod $0 dev/fuse && mount --bind dev/fuse /dev/fuse \
    && exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"";

/// Runs the command as a user; `None`, with the reason on stdout, if that is not possible here.
pub(crate) fn run_as(user: User, scratch: &Scratch, words: &[&str]) -> Option<Ran> {
    if !can_play_processes() {
        return None;
    }
    let User::Nobody { fuse } = user else {
        return Some(scratch.run(words));
    };
    let folder = scratch.path(".");
    if fs::metadata(&folder).expect("a folder").uid() != 0 {
        println!("skipped: becoming another user needs root");
        return None;
    }
    // Everybody may write into the folder of the test.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("its owner");
    fs::create_dir_all(scratch.path("dev")).expect("a folder");
    let in_its_place = |words: &[&str]| {
        let mut command = command(Path::new("unshare"), &folder);
        command
            .args(["-m", "sh", "-c", AS_NOBODY, fuse])
            .args(words);
        Ran::of(&command.output().expect("util-linux is there"))
    };
    let can = in_its_place(&["test", "-x", NICDRILL]);
    if can.code != 0 {
        println!("skipped: another user cannot run the command here: {can}");
        return None;
    }
    Some(in_its_place(&[&[NICDRILL], words].concat()))
}

/// A monitor that runs a script and ends, with what it wrote.
fn looks(user: User, keys: &str, script: &str) -> Option<Ran> {
    let scratch = Scratch::new();
    let descriptor = format!(
        "descriptor_version: 1\nname: looks\n{keys}command:\n  - bash\n  - -c\n  - |\n    {}\n",
        script.replace('\n', "\n    ")
    );
    scratch.file("looks.yaml", &descriptor);
    scratch.file("open/empty", "");
    let opened = fs::Permissions::from_mode(0o777);
    fs::set_permissions(scratch.path("open"), opened).expect("its owner");
    let words = ["run", "start/baseline@h100-oci", "--arm", "process"];
    run_as(
        user,
        &scratch,
        &[&words[..], &["--monitor", "looks.yaml"]].concat(),
    )
}

/// Whether a monitor can write into a folder.
const WRITES: &str = "(: >\"$folder/nicdrill-test\") 2>/dev/null && echo can write || echo cannot";

#[rstest]
fn a_confined_monitor_writes_to_its_own_folders_only(
    #[values(User::Own, NOBODY)] user: User,
    #[values(
        (".", "cannot"),
        ("/tmp", "cannot"),
        ("/etc", "cannot"),
        ("/proc/self", "cannot"),
        ("{root}", "cannot"),
        ("open", "can write"),
        ("$TMPDIR", "can write"),
        ("/dev/shm", "can write"),
        ("{root}/var/run/nic_health_monitor", "can write"),
    )]
    case: (&str, &str),
) {
    let (folder, says) = case;
    let script = format!("folder={folder}; {WRITES}");
    if let Some(ran) = looks(user, "writable: [open]\n", &script) {
        assert_eq!(ran.code, 101, "{ran}");
        assert!(ran.out.contains(&format!("    {says}\n")), "{ran}");
    }
    assert!(!Path::new("/dev/shm/nicdrill-test").exists());
}

/// With the working folder open, also a path that is relative to it leads there.
#[rstest]
#[case::the_working_folder("writable: [.]\n")]
#[case::unconfined("confine: false\n")]
fn a_folder_that_is_named_is_the_hosts_own(
    #[values(User::Own, NOBODY)] user: User,
    #[case] keys: &str,
) {
    if let Some(ran) = looks(user, keys, &format!("folder=.; {WRITES}")) {
        assert!(ran.out.contains("    can write\n"), "{ran}");
    }
}

#[rstest]
#[case::no_privileges("", "grep NoNewPrivs: /proc/self/status", "NoNewPrivs:\\t1")]
#[case::no_new_mounts("", "mount -o remount,bind,rw / || echo refused", "refused")]
#[case::no_way_round("", "ls /proc/1/root/ || echo refused", "refused")]
#[case::no_other_processes("", "set -- /proc/[0-9]*; echo $# processes", "2 processes")]
#[case::no_parent_within_reach("", "echo parent $PPID", "parent 0")]
#[case::no_signal_ends_the_first_process(
    "",
    "for one in KILL TERM SEGV BUS ABRT STOP; do kill -$one 1; done; echo goes on",
    "goes on"
)]
#[case::no_signal_of_a_fault_ends_nicdrill(
    "confine: false\n",
    "for one in 1 2 3; do kill -SEGV 1; kill -BUS 1; done; echo goes on",
    "goes on"
)]
#[case::its_own_faults_end_it("", "bash -c 'kill -SEGV $$'; echo by $?", "by 139")]
#[case::no_other_network("", "sed -n 's/:.*//p' /proc/net/dev | xargs", "lo")]
#[case::unconfined(
    "confine: false\n",
    "grep NoNewPrivs: /proc/self/status",
    "NoNewPrivs:\\t0"
)]
#[case::files(
    "limits: { files: 16 }\n",
    "for fd in $(seq 3 20); do eval \"exec $fd</dev/null\" || { echo at $fd; break; }; done",
    "at 16"
)]
#[case::memory(
    "limits: { memory: 64MiB }\n",
    "head -c 200000000 /dev/zero | tail -n 1 >/dev/null || echo refused",
    "refused"
)]
#[case::enough_memory(
    "limits: { memory: 1GiB }\n",
    "head -c 20000000 /dev/zero | tail -n 1 >/dev/null && echo granted",
    "granted"
)]
#[case::enough_processes(
    "limits: { processes: 4 }\n",
    "for one in 1 2 3; do sleep 0.2 & done; wait; echo done",
    "done"
)]
fn a_monitor_has_no_privileges_and_its_limits(
    #[values(User::Own, NOBODY)] user: User,
    #[case] keys: &str,
    #[case] script: &str,
    #[case] says: &str,
) {
    if let Some(ran) = looks(user, keys, script) {
        assert_eq!(ran.code, 101, "{ran}");
        assert!(ran.out.contains(&format!("    {says}\n")), "{ran}");
    }
}

#[rstest]
fn a_confined_monitor_reads_what_its_user_reads(#[values(User::Own, NOBODY)] user: User) {
    let script = "head -n 1 /etc/passwd | cut -d : -f 1";
    if let Some(ran) = looks(user, "", script) {
        assert!(ran.out.contains("    root\n"), "{ran}");
    }
}

#[test]
fn a_socket_with_a_path_is_within_reach_of_a_confined_monitor() {
    let folder = Scratch::new();
    let socket = folder.path("host.sock");
    let _listening = UnixListener::bind(&socket).expect("a short path");
    let script = format!(
        "perl -MIO::Socket::UNIX -e \
         'print IO::Socket::UNIX->new(Peer => \"{}\") ? \"reached\\n\" : \"$!\\n\"'",
        socket.display()
    );
    if let Some(ran) = looks(User::Own, "", &script) {
        assert!(ran.out.contains("    reached\n"), "{ran}");
    }
}

/// The disk is opened for writing, and nothing is written.
#[test]
fn the_device_of_a_disk_is_within_reach_of_roots_monitor() {
    let script = "for disk in /dev/*; do [ -b $disk ] || continue; \
                  (: >>$disk) 2>/dev/null && { echo can write; exit; }; done; echo cannot";
    let disk = |entry: std::io::Result<fs::DirEntry>| {
        let kind = entry.and_then(|entry| entry.file_type());
        kind.is_ok_and(|kind| kind.is_block_device())
    };
    if !fs::read_dir("/dev").expect("a folder").any(disk) {
        println!("skipped: no disk is here");
        return;
    }
    if let Some(ran) = looks(User::Own, "", script) {
        let root = fs::metadata("/proc/self").expect("Linux").uid() == 0;
        let says = if root { "can write" } else { "cannot" };
        assert!(ran.out.contains(&format!("    {says}\n")), "{ran}");
    }
}

/// They are counted while they are started, so any number above the limit may be told.
#[rstest]
#[case::that_last("for one in 1 2 3 4 5 6 7; do sleep 100 & done; wait")]
#[case::that_a_run_leaves_behind("for one in 1 2 3 4 5 6 7; do sleep 100 & done")]
#[case::that_stand_from_poll_to_poll(
    "while set -- {root}/sys/class/infiniband/*; do kill $old; old=; \
     for one in 1 2 3 4 5 6 7; do sleep 100 & old=\"$old $!\"; done; done 2>/dev/null"
)]
fn a_monitor_with_too_many_processes_is_killed(
    #[values(User::Own, NOBODY)] user: User,
    #[case] script: &str,
) {
    if let Some(ran) = looks(user, "limits: { processes: 4 }\n", script) {
        assert_eq!(ran.code, 101, "{ran}");
        let told = " processes, and the limit is 4; all are killed\n";
        assert!(ran.out.contains(told), "{ran}");
    }
}

/// The drill is not to blame for it.
#[rstest]
#[case::gone("rm {socket}", "the socket was removed or renamed")]
#[case::a_file_in_its_place(
    "rm {socket}; : >{socket}",
    "something else was put in the place of the socket"
)]
#[case::a_folder_in_its_place(
    "rm {socket}; mkdir {socket}",
    "something else was put in the place of the socket"
)]
fn a_monitor_that_takes_its_socket_away_is_told_so(#[case] does: &str, #[case] told: &str) {
    let script = format!("{does}; while set -- {{root}}/sys/class/infiniband/*; do :; done");
    if let Some(ran) = looks(User::Own, "", &script) {
        assert_eq!(ran.code, 101, "{ran}");
        let told = format!(": {told} by somebody in the monitor's namespace");
        assert!(ran.out.contains(&told), "{ran}");
    }
}

#[rstest]
#[case::missing(
    "writable: [/no/such/folder]\n",
    102,
    "the monitor cannot be confined: `/no/such/folder`: No such file"
)]
#[case::everything(
    "writable: [/]\n",
    2,
    "`writable` has a path that cannot be opened alone"
)]
#[case::twice(
    "confine: false\nwritable: [/tmp]\n",
    2,
    "`writable` has no meaning with `confine: false`"
)]
#[case::too_few("limits: { files: 2 }\n", 2, "a limit is too low for any program")]
#[case::no_unit("limits: { memory: '5' }\n", 2, "invalid amount of memory `5`")]
fn what_cannot_be_is_refused(#[case] keys: &str, #[case] code: i32, #[case] says: &str) {
    if let Some(ran) = looks(User::Own, keys, "true") {
        assert_eq!(ran.code, code, "{ran}");
        assert!((ran.out.clone() + &ran.err).contains(says), "{ran}");
    }
}

/// With everything that isolation offers.
#[test]
fn an_ordinary_user_plays_drills_in_user_namespaces() {
    let scratch = Scratch::new();
    scratch.file("fixed.yaml", &crate::host_root::with_fixed_paths());
    let drills = [
        "port/cable-pulled@h100-oci",
        "restart/broken-while-away@h100-oci",
    ];
    let words = [&["run"], &drills[..], &["--arm", "process"]].concat();
    for more in [&[][..], &["--monitor", "fixed.yaml"]] {
        if let Some(ran) = run_as(NOBODY, &scratch, &[&words[..], more].concat()) {
            assert_eq!(ran.code, 0, "{ran}");
            assert!(ran.out.contains("process arm: 2 of 2 run"), "{ran}");
        }
    }
}

#[test]
fn what_the_machine_lacks_is_said_with_the_way_to_get_it() {
    let scratch = Scratch::new();
    let words = ["run", "start/baseline@h100-oci", "--require", "process"];
    if let Some(ran) = run_as(User::Nobody { fuse: "600" }, &scratch, &words) {
        assert_eq!(ran.code, 102, "{ran}");
        let (says, hint) = (
            "`/dev/fuse` cannot be opened: Permission denied",
            "chmod 666 /dev/fuse",
        );
        assert!(ran.out.contains(says), "{ran}");
        assert!(ran.err.contains(hint), "{ran}");
    }
}

//! What a run shares with the machine: mounts and namespaces. What it leaves there is in `leftovers.rs`.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rstest::rstest;

use crate::scratch::{NICDRILL, Scratch, can_play_processes, is_root, reference_descriptor};

/// How long something that must happen may take. It is a limit, not a pause.
const LIMIT: Duration = Duration::from_secs(20);

/// The pause between two looks.
pub(crate) const LOOK: Duration = Duration::from_millis(1);

fn can_mount() -> bool {
    let root = is_root();
    if !root {
        println!("skipped: mounting in the host's namespace needs root");
    }
    root
}

/// A process that is killed when dropped.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        Self(child.expect("it starts"))
    }

    /// Waits for the first line that it writes.
    fn says(&mut self) -> String {
        let mut line = String::new();
        let out = self.0.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        line
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program in a mount namespace of its own, so that it has copies of all mounts.
fn unshared(program: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", program]);
    command
}

/// Puts a program into the scratch folder; returns its path.
pub(crate) fn wrapper(scratch: &Scratch, name: &str, text: &str) -> String {
    scratch.file(name, text);
    let path = scratch.path(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    path.display().to_string()
}

/// Other programs create mount namespaces all the time, such as containers that start, and each has a
/// copy of every mount of the host.
#[test]
fn mount_namespaces_that_others_make_disturb_neither_a_run_nor_a_mount() {
    if !can_play_processes() || !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let mut mount = Running::start(
        Command::new(NICDRILL)
            .args(["mount", "h100-oci", "tree"])
            .current_dir(scratch.path(".")),
    );
    assert!(mount.says().contains("is mounted on"));
    let over = AtomicBool::new(false);
    let (ran, made) = thread::scope(|scope| {
        let others = scope.spawn(|| {
            let mut living = Vec::new();
            let mut made = 0;
            while !over.load(Ordering::Relaxed) {
                let mut other = Running::start(&mut unshared("echo made; exec sleep 60"));
                assert_eq!(other.says(), "made\n");
                living.push(other);
                living.drain(..living.len().saturating_sub(20));
                made += 1;
            }
            made
        });
        let drills = ["port/cable-pulled@h100-oci", "start/baseline@h100-oci"];
        let words = [&["run"], &drills[..], &["--require", "process"]].concat();
        let ran = scratch.run(&words);
        over.store(true, Ordering::Relaxed);
        (ran, others.join().expect("namespaces are made"))
    });
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("process arm: 2 of 2 run"), "{ran}");
    assert!(made > 0, "nobody made a namespace meanwhile");
    let mut holder = Running::start(&mut unshared(&format!(
        "cd {}/sys; echo there; exec sleep 60",
        scratch.path("tree").display()
    )));
    assert_eq!(holder.says(), "there\n");
    drop(mount.0.stdin.take());
    assert_eq!(mount.0.wait().expect("it ends").code(), Some(0));
    assert!(holder.0.try_wait().expect("a child").is_none());
    assert!(!scratch.path("tree").exists(), "the folder that was made");
}

/// Its standard input stays open, by whose end it would end too.
#[rstest]
#[case::in_use_by_nobody(&["umount"], false)]
#[case::in_use(&["umount", "-l"], true)]
fn a_mounted_tree_ends_when_it_is_unmounted(#[case] unmount: &[&str], #[case] used: bool) {
    if !can_play_processes() || !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let mut mount = Running::start(
        Command::new(NICDRILL)
            .args(["mount", "h100-oci", "tree"])
            .current_dir(scratch.path(".")),
    );
    assert!(mount.says().contains("is mounted on"));
    let in_it = Command::new("sh")
        .args(["-c", "cd tree/sys; echo there; exec sleep 60"])
        .current_dir(scratch.path("."))
        .stdout(Stdio::piped())
        .spawn();
    let mut user = Running(in_it.expect("a shell"));
    assert_eq!(user.says(), "there\n");
    if !used {
        drop(user);
    }
    let mut unmounting = Command::new(unmount[0]);
    unmounting.args(&unmount[1..]).arg("tree");
    let status = unmounting.current_dir(scratch.path(".")).status();
    assert!(status.expect("it starts").success(), "the tree is busy");
    assert!(soon(|| mount.0.try_wait().expect("a child").is_some()));
    assert_eq!(mount.0.wait().expect("it has ended").code(), Some(0));
    assert!(!scratch.path("tree").exists(), "the folder that was made");
}

/// A world of several nodes, in two jobs: the mounts of the other nodes and of the other job are on the
/// stage at the same time.
#[test]
fn a_monitor_sees_the_mount_of_its_own_node_only() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    // The host's own mounts are seen too, and other tests mount trees meanwhile: those of the stage are told
    // by the path that the monitor is given.
    let look = "#!/bin/sh\n\
                for word; do case $word in --state-file=*/root/*) root=${word#*=} ;; esac; done\n\
                root=${root%/root/*}/root\n\
                { echo \"$root\"; cat /proc/self/mountinfo; } >\"$0.$$\"\n\
                ls \"$(dirname \"$(dirname \"$root\")\")\" >>\"$0.names\"\n\
                exec \"$@\"\n";
    let wrap = wrapper(&scratch, "look", look);
    let drills = [
        "joint/somebody-elses-port@training-pod",
        "mpib/islands-switch-dies@mpib-eight",
    ];
    let words = [&["run"], &drills[..], &["--arm", "process", "--jobs", "2"]].concat();
    let ran = scratch.run(&[&words[..], &["--wrap", &wrap]].concat());
    assert_eq!(ran.code, 0, "{ran}");
    let mut looks = 0;
    for entry in fs::read_dir(scratch.path(".")).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with("look.") || name == "look.names" {
            continue;
        }
        looks += 1;
        let text = scratch.text(&name);
        let (root, mounts) = text.split_once('\n').expect("a line");
        let stage = Path::new(root).ancestors().nth(3).expect("its folder");
        let on_stage: Vec<&str> = mounts
            .lines()
            .filter(|line| {
                let at = line.split(' ').nth(4).expect("a mount point");
                Path::new(at).starts_with(stage)
            })
            .collect();
        let of = |kind: &str| on_stage.iter().filter(|line| line.contains(kind)).count();
        assert_eq!(of(" - fuse simfs "), 1, "{text}");
        // The cover of the whole stage, and the folder of the node.
        assert_eq!(of(" - tmpfs nicdrill "), 2, "{text}");
        assert_eq!(on_stage.len(), 3, "{text}");
    }
    assert!(looks >= 5, "{looks} monitors were started");
    let names = scratch.text("look.names");
    assert_eq!(names.lines().count(), looks, "{names}");
}

/// A daemon: it has left its process group, its session and its parent.
#[test]
fn a_daemon_does_not_outlive_the_drill_that_started_it() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let daemon = "#!/bin/sh\n\
        living=0\n\
        for file in /proc/[0-9]*/cmdline; do\n\
          tr '\\0' ' ' <\"$file\" 2>/dev/null | grep -q '^sleep 4242 ' && living=$((living + 1))\n\
        done\n\
        echo \"$living\" >>\"$0.living\"\n\
        rm -f \"$0.started\"\n\
        setsid sh -c 'setsid sh -c \"echo >$0; exec sleep 4242\" \"$0\" </dev/null >/dev/null 2>&1 &' \"$0.started\"\n\
        until [ -e \"$0.started\" ]; do :; done\n\
        exec \"$@\"\n";
    let wrap = wrapper(&scratch, "daemon", daemon);
    // Repeats follow one another, whereas drills may overlap.
    let words = ["run", "start/baseline@h100-oci", "--arm", "process"];
    let ran = scratch.run(&[&words[..], &["--repeat", "3", "--wrap", &wrap]].concat());
    assert_eq!(ran.code, 0, "{ran}");
    let living = scratch.text("daemon.living");
    // The probe is a drill too.
    assert!(living.lines().count() >= 4, "{living}");
    assert!(living.lines().all(|count| count == "0"), "{living}");
}

/// The reference monitor as a daemon: what is started ends, and what it leaves behind is judged, ended by
/// the scenario and ended with the drill.
#[test]
fn a_monitor_that_daemonises_itself_is_the_monitor_under_test() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let reference = reference_descriptor();
    // The first two processes end; the third is in a session of its own.
    let started = "command:\n  - sh\n  - -c\n  - setsid sh -c '\"$0\" \"$@\" &' \"$0\" \"$@\"\n";
    let daemon = reference
        .replacen("name: reference", "name: daemon\ndaemon: true", 1)
        .replacen("command:\n", started, 1)
        .replacen("memory: true\n", "", 1);
    let (daemon, _) = daemon.split_once("zoo:").expect("its last key");
    scratch.file("daemon.yaml", daemon);
    let drills = [
        "port/cable-pulled@h100-oci",
        "restart/killed-between-acceptance-and-save@h100-oci",
        "restart/broken-while-away@h100-oci",
        "restart/old-and-new-at-once@dgx-h100",
    ];
    let words = [&["run", "--monitor", "daemon.yaml"], &drills[..]].concat();
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("process arm: 4 of 4 run"), "{ran}");
    // A program that ends without leaving anything behind has ended.
    scratch.file(
        "ended.yaml",
        &daemon.replacen("setsid sh -c", "true sh -c", 1),
    );
    let ran = scratch.run(&["run", "--monitor", "ended.yaml", drills[0]]);
    assert_eq!(ran.code, 101, "{ran}");
    assert!(
        ran.out
            .contains("the monitor ended by itself at poll 0: exit code 0"),
        "{ran}"
    );
}

/// The reference monitor by the paths that it has without flags, none of which the host has; below `/`,
/// below a folder that exists, and below one that another bind has made.
#[test]
fn a_monitor_with_fixed_paths_finds_the_tree_there() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let reference = reference_descriptor();
    let fixed = ["--metadata-path", "--boot-id-path", "--proc-net-route-path"];
    let kept = reference
        .lines()
        .filter(|line| !fixed.iter().any(|flag| line.contains(flag)))
        .filter(|line| !line.starts_with("memory:"))
        .map(|line| line.replace("{root}/sys/class/", "/opt/nicdrill-test/class/"));
    let mut descriptor: String = kept.map(|line| line + "\n").collect();
    descriptor.push_str(
        "binds:\n\
        \x20 /nvsentinel/proc/net/route: \"{root}/proc/net/route\"\n\
        \x20 /nvsentinel/proc/sys/kernel/random/boot_id: \"{root}/proc/sys/kernel/random/boot_id\"\n\
        \x20 /opt/nicdrill-test: \"{root}/sys\"\n\
        \x20 /var/lib/nvsentinel: \"{root}/var/lib/nvsentinel\"\n",
    );
    scratch.file("fixed.yaml", &descriptor);
    let stories = [
        "port/cable-pulled@h100-oci",
        "restart/scope-narrowed-and-widened@dgx-h100",
        "start/baseline@h100-oci",
    ];
    let words = [&["run"], &stories[..], &["--monitor", "fixed.yaml"]].concat();
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("process arm: 3 of 3 run"), "{ran}");
    assert!(
        !Path::new("/nvsentinel").exists(),
        "the host is not changed"
    );
}

/// A monitor that prints what it finds at a path, and ends.
fn first_words(binds: &str, script: &str) -> crate::scratch::Ran {
    let scratch = Scratch::new();
    let descriptor = format!(
        "descriptor_version: 1\nname: looks\ncommand: [ sh, -c, '{script}' ]\nbinds: {{ {binds} }}\n"
    );
    scratch.file("looks.yaml", &descriptor);
    scratch.run(&["run", "start/baseline@h100-oci", "--monitor", "looks.yaml"])
}

#[rstest]
#[case::over_a_file_of_the_host(
    r#"/etc/hostname: "{root}/proc/sys/kernel/random/boot_id""#,
    "cmp /etc/hostname {root}/proc/sys/kernel/random/boot_id && echo alike",
    101,
    "    alike\n"
)]
#[case::over_a_folder_of_the_host(
    r#"/sys: "{root}/sys""#,
    "ls /sys/class/infiniband/mlx5_0/ports",
    101,
    "    1\n"
)]
#[case::beside_what_the_host_has(
    r#"/usr/lib/nicdrill-test/x: "{root}/proc/net/route""#,
    "test -s /usr/lib/nicdrill-test/x && test -e /usr/lib/os-release && echo both",
    101,
    "    both\n"
)]
#[case::not_in_the_tree(
    r#"/opt/x: "{root}/no/such/file""#,
    "true",
    102,
    "no/such/file` cannot be bound to `/opt/x`: No such file or directory"
)]
#[case::a_file_on_a_folder(
    r#"/usr: "{root}/proc/net/route""#,
    "true",
    102,
    "cannot be bound to `/usr`: the host has a folder at this path"
)]
#[case::below_proc_net(
    r#"/proc/net/route: "{root}/proc/net/route""#,
    "true",
    2,
    "`binds` has a path below `/proc/net`, where a mount does not stay"
)]
#[case::from_elsewhere(
    r#"/opt/x: "{root}/../x""#,
    "true",
    2,
    "`binds` names something that is not in the tree"
)]
#[case::nowhere(
    r#"relative: "{root}/sys""#,
    "true",
    2,
    "`binds` has a path at which nothing can be put"
)]
fn a_bind_is_found_at_its_path_or_refused(
    #[case] binds: &str,
    #[case] script: &str,
    #[case] code: i32,
    #[case] says: &str,
) {
    if !can_play_processes() {
        return;
    }
    let ran = first_words(binds, script);
    assert_eq!(ran.code, code, "{ran}");
    assert!((ran.out.clone() + &ran.err).contains(says), "{ran}");
}

/// Whether something becomes true within the limit.
pub(crate) fn soon(mut is: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !is() {
        if begun.elapsed() > LIMIT {
            return false;
        }
        thread::park_timeout(LOOK);
    }
    true
}

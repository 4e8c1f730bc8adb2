//! A program in namespaces of its own, with a tree over the host's `/sys`.

use std::{
    env,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The programs that are needed; Debian's packages of them are in `.ci/run`.
const NEEDED: [&str; 7] = [
    "ibstat",
    "ibstatus",
    "ibv_devices",
    "lspci",
    "lstopo-no-graphics",
    "prometheus-node-exporter",
    "unshare",
];

/// Whether the programs can be run here; prints what is missing.
///
/// # Panics
/// If the gate requires what is missing.
pub(crate) fn can_read() -> bool {
    for program in NEEDED {
        let found = Command::new("sh")
            .args(["-c", "command -v \"$0\" >/dev/null", program])
            .status();
        if !found.expect("a shell").success() {
            assert!(
                env::var_os("NICDRILL_FIELD").is_none(),
                "the field part needs `{program}`"
            );
            println!("skipped: `{program}` is not installed");
            return false;
        }
    }
    let required = env::var_os("NICDRILL_REQUIRE_FUSE").is_some();
    if !rustix::process::geteuid().is_root() {
        assert!(
            !required,
            "root is required: the tree is mounted on the host"
        );
        println!("skipped: only root mounts a tree on the host");
        return false;
    }
    match std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/fuse")
    {
        Ok(_) => true,
        Err(error) => {
            assert!(!required, "/dev/fuse is required: {error}");
            println!("skipped: /dev/fuse cannot be opened ({error})");
            false
        }
    }
}

/// A mounted tree, for programs that know no other path than `/sys`.
pub(crate) struct OverHost {
    root: PathBuf,
    scratch: tempfile::TempDir,
}

impl OverHost {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            scratch: tempfile::tempdir().expect("a folder"),
        }
    }

    /// What the program prints. Its network namespace is empty, because netlink would show the host's devices.
    pub(crate) fn output(&self, command: &[&str]) -> String {
        let output = self.command(command).output();
        let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The folder of the tree.
    pub(crate) fn root(&self) -> &str {
        self.root
            .to_str()
            .expect("a temporary folder has a plain name")
    }

    /// What a server answers to `GET /metrics`.
    pub(crate) fn scraped(&self, command: &str) -> String {
        scraped_by(command, |script| self.command(&["sh", "-c", script]))
    }

    fn command(&self, command: &[&str]) -> Command {
        let mut unshare = Command::new("unshare");
        unshare.args([
            "--mount",
            "--net",
            "sh",
            "-c",
            include_str!("over_host.sh"),
            "sh",
        ]);
        unshare
            .arg(&self.root)
            .arg(self.scratch.path())
            .args(command);
        unshare
    }
}

/// What a server answers to `GET /metrics`, which `shell` starts by a script. It gets a socket that listens, as from
/// systemd (`sd_listen_fds(3)`), so there is no port to choose and nothing to wait for.
pub(crate) fn scraped_by(command: &str, shell: impl FnOnce(&str) -> Command) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let script = format!("exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec {command}");
    let mut server = shell(&script)
        .stdin(OwnedFd::from(listener))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{command}: {error}"));
    let mut answer = String::new();
    let asked = TcpStream::connect(address).and_then(|mut stream| {
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
        stream.read_to_string(&mut answer)
    });
    server.kill().expect("it is a child");
    server.wait().expect("it is a child");
    asked.unwrap_or_else(|error| panic!("{command}: {error}"));
    answer
}

/// Runs this test again in a user namespace and a mount namespace, in which its user may mount, unless the user is
/// root already. Returns whether that was so.
///
/// # Panics
/// If the test fails there.
pub(crate) fn ran_as_root(test: &str) -> bool {
    if rustix::process::geteuid().is_root() {
        return false;
    }
    let own = env::current_exe().expect("a test has a file");
    let mut unshare = Command::new("unshare");
    unshare
        .args(["--user", "--map-root-user", "--mount"])
        .arg(own);
    unshare.args([test, "--exact", "--nocapture"]);
    let status = unshare.status().expect("`unshare` was found before");
    assert!(status.success(), "{test}, in a user namespace: {status}");
    true
}

//! A PostgreSQL server for one test, with its own folder and socket, removed with the test.
//!
//! It uses whatever package is installed. Without one, tests that need it are skipped with a message,
//! unless `CI` is set.
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    net::Ipv4Addr,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
    sync::atomic::{AtomicU8, Ordering},
    thread,
};

use postgres::{Client, NoTls};

/// How often a server is restarted while processes of a killed one still hold its memory.
const STARTS_MAX: u32 = 1000;

/// A server.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
    /// The user and group of the server, which refuses to run as root.
    owner: Option<(u32, u32)>,
    running: Option<Child>,
    /// Its address on the loopback interface, where it asks for a password.
    address: Option<Ipv4Addr>,
    /// A certificate and its key, in PEM.
    certificate: Option<(String, String)>,
}

/// The password at a server's address.
pub(crate) const PASSWORD: &str = "mellon";

impl Server {
    /// Starts a server with a socket; `None` if none is installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_as(None, None)
    }

    /// Starts a server with an address, where it asks for [`PASSWORD`], and speaks TLS if it is given a certificate and its key.
    pub(crate) fn start_at_address(certificate: Option<(String, String)>) -> Option<Self> {
        static STARTED: AtomicU8 = AtomicU8::new(1);
        // No two servers of a machine share it.
        let [.., high, low] = process::id().to_be_bytes();
        let last = STARTED.fetch_add(1, Ordering::Relaxed);
        Self::start_as(Some(Ipv4Addr::new(127, high, low, last)), certificate)
    }

    fn start_as(address: Option<Ipv4Addr>, certificate: Option<(String, String)>) -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(
                env::var_os("CI").is_none(),
                "a PostgreSQL server is required: install `postgresql`"
            );
            println!("skipped: no PostgreSQL server is installed");
            return None;
        };
        let mut server = Self {
            folder: tempfile::tempdir().unwrap(),
            programs,
            owner: owner(),
            running: None,
            address,
            certificate,
        };
        if let Some((user, group)) = server.owner {
            chown(server.folder.path(), Some(user), Some(group)).unwrap();
        }
        server.write("password", PASSWORD);
        let made = server
            .program("initdb")
            .args(["-D", "data", "-U", "postgres", "-E", "UTF8"])
            .args([
                "--auth-local=trust",
                "--auth-host=scram-sha-256",
                "--pwfile=password",
            ])
            .args(["--locale=C", "--no-sync"])
            .output()
            .unwrap();
        let reported = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "initdb: {reported}");
        if let Some((certificate, key)) = &server.certificate {
            server.write("server.crt", certificate);
            server.write("server.key", key);
        }
        server.start_again();
        Some(server)
    }

    /// Starts it again after [`Server::kill`].
    pub(crate) fn start_again(&mut self) {
        assert!(self.running.is_none(), "it is running");
        for _ in 0..STARTS_MAX {
            match self.try_to_start() {
                Ok(child) => {
                    self.running = Some(child);
                    return;
                }
                // The killed server's children end when they notice; until then they hold its memory.
                Err(reported)
                    if reported.contains("still in use") || reported.contains("lock file") => {}
                Err(reported) => panic!("the server does not start:\n{reported}"),
            }
        }
        panic!("the killed server's processes do not end");
    }

    /// Starts it and waits until it is ready; otherwise returns its output.
    fn try_to_start(&self) -> Result<Child, String> {
        let mut child = self
            .program("postgres")
            .args(["-D", "data", "-k"])
            .arg(self.folder.path())
            .args(["-c", "fsync=off"])
            .args(self.listening())
            .args(["-c", "dynamic_shared_memory_type=mmap"])
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut reported = String::new();
        while !reported.contains("ready to accept connections") {
            if log.read_line(&mut reported).unwrap() == 0 {
                child.wait().unwrap();
                return Err(reported);
            }
        }
        // Otherwise it would block on its log.
        thread::spawn(move || log.lines().map_while(Result::ok).for_each(drop));
        Ok(child)
    }

    /// Kills it, which closes all connections.
    pub(crate) fn kill(&mut self) {
        let mut child = self.running.take().expect("it is running");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Where it listens, and with which certificate.
    fn listening(&self) -> Vec<String> {
        let address = self.address.map(|address| address.to_string());
        let mut words = vec![format!(
            "--listen_addresses={}",
            address.unwrap_or_default()
        )];
        if self.certificate.is_some() {
            let file = |name| self.folder.path().join(name).display().to_string();
            words.push("--ssl=on".to_owned());
            words.push(format!("--ssl_cert_file={}", file("server.crt")));
            words.push(format!("--ssl_key_file={}", file("server.key")));
        }
        words
    }

    /// Writes a file that only the server can read.
    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if let Some((user, group)) = self.owner {
            chown(&path, Some(user), Some(group)).unwrap();
        }
    }

    /// The value for `--store` that names its address; the host is called by this name.
    pub(crate) fn url_of_address(&self, user: &str, name: &str) -> String {
        let address = self.address.expect("it has an address");
        format!("postgres://{user}@{name}/postgres?hostaddr={address}")
    }

    /// The value for `--store`.
    pub(crate) fn url(&self) -> String {
        let folder = self.folder.path().display();
        format!("postgres://postgres@/postgres?host={folder}")
    }

    /// A connection like an analyzer's.
    pub(crate) fn client(&self) -> Client {
        let folder = self.folder.path().display();
        let address = format!("host={folder} user=postgres dbname=postgres");
        Client::connect(&address, NoTls).unwrap()
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(self.folder.path()).env("LC_ALL", "C");
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.running.take() {
            signal("INT", child.id());
            // After an orderly end no shared memory is left.
            drop(child.wait());
        }
    }
}

/// Sends a signal to one process.
pub(crate) fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), pid.to_string()])
        .status();
    drop(sent);
}

/// The folder of the server's programs.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    // Debian keeps them there, by version.
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    let has = |folder: &Path, name: &str| folder.join(name).is_file();
    folders
        .into_iter()
        .find(|folder| has(folder, "initdb") && has(folder, "postgres"))
}

/// The user for running the server as root: the package's own, otherwise `nobody`.
fn owner() -> Option<(u32, u32)> {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| {
        let mut users = users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        let user = users.find(|user| user[0] == name)?;
        Some((user[2].parse().unwrap(), user[3].parse().unwrap()))
    };
    let owner = find("postgres").or_else(|| find("nobody"));
    Some(owner.expect("a user who is not root"))
}

//! Help lists exactly what is built; what is planned is rejected by name.

use std::collections::BTreeSet;

use rstest::rstest;

use crate::scratch::Scratch;

/// Every flag of `nicdrill run`.
const RUN_FLAGS: [&str; 36] = [
    "--against",
    "--allow-skips",
    "--arm",
    "--baseline",
    "--bless",
    "--budget",
    "--color",
    "--coverage",
    "--drill-limit",
    "--fail-fast",
    "--failed",
    "--filter",
    "--full",
    "--help",
    "--jobs",
    "--keep",
    "--known",
    "--monitor",
    "--needs",
    "--no-pin",
    "--not-judged",
    "--out",
    "--platform",
    "--profile",
    "--quiet",
    "--real-time-at-most",
    "--repeat",
    "--replace-out",
    "--report",
    "--require",
    "--seed",
    "--shard",
    "--slowest",
    "--store",
    "--verbose",
    "--wrap",
];

/// The flags or words at the beginning of the indented lines of a help page.
fn listed(page: &str) -> BTreeSet<&str> {
    page.lines()
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let first = words.next()?;
            match first.strip_suffix(',') {
                Some(_) => words.next(),
                None => Some(first),
            }
        })
        .collect()
}

fn help(words: &[&str]) -> String {
    let ran = Scratch::new().run(words);
    assert_eq!(ran.code, 0, "{ran}");
    ran.out
}

#[test]
fn every_flag_of_the_main_job_is_in_its_help_and_no_other() {
    let page = help(&["run", "--help"]);
    let flags: BTreeSet<&str> = listed(&page)
        .into_iter()
        .filter(|word| word.starts_with("--"))
        .collect();
    assert_eq!(flags, BTreeSet::from(RUN_FLAGS));
}

#[test]
fn every_word_that_is_built_is_in_the_help_and_no_other() {
    let page = help(&["--help"]);
    let (_, commands) = page.split_once("Commands:").unwrap();
    let (commands, _) = commands.split_once("Options:").unwrap();
    let built = [
        "accept",
        "check",
        "compare",
        "completions",
        "do",
        "explain",
        "fit",
        "help",
        "init",
        "link",
        "list",
        "lnet",
        "man",
        "monitor",
        "mount",
        "mpib",
        "platform",
        "proto",
        "record",
        "replay",
        "report",
        "rules",
        "run",
        "schema",
        "shell",
        "show",
        "suite",
        "world",
        "zoo",
    ];
    assert_eq!(listed(commands), BTreeSet::from(built));
}

/// Each exit code occurs in a test of `words.rs` or `processes.rs`. The help and the document on stops have the same codes
/// and ranks in the same words.
#[rstest]
#[case(&["help", "exit-codes"])]
#[case(&["--help"])]
#[case(&["run", "--help"])]
#[case(&["run", "-h"])]
fn every_exit_code_is_explained_in_the_words_of_the_document(#[case] words: &[&str]) {
    let page = help(words);
    let (_, page) = page.split_once("Exit codes:\n").expect("they are listed");
    let (table, rank) = page.split_once("If several apply").expect("their ranks");
    let mut told: Vec<(String, String)> = Vec::new();
    for line in table.lines() {
        match (line.trim().split_once("  "), told.last_mut()) {
            (Some((code, meaning)), _) => told.push((code.to_owned(), meaning.to_owned())),
            (None, Some((_, meaning))) => *meaning += &format!(" {}", line.trim()),
            (None, None) => panic!("{line}"),
        }
    }
    let document = include_str!("../../../docs/stops.md");
    let (_, rows) = document.split_once("<!-- exit codes -->").expect("a table");
    let rows = rows.lines().filter(|line| line.starts_with("| ")).skip(1);
    let rows: Vec<(String, String)> = rows
        .filter_map(|row| {
            let mut cells = row.split('|').map(str::trim).skip(1);
            Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
        })
        .collect();
    assert_eq!(told, rows);
    assert!(document.contains(&format!("If several apply{}", rank.trim_end())));
}

#[rstest]
#[case(&["platform", "list"], "h100-oci:vfs")]
#[case(&["platform", "show", "h100-oci"], "mlx5_0")]
#[case(&["platform", "topo", "h100-oci"], "GPU0")]
#[case(&["world", "list"], "storage-pair    a storage client and its server, each with four ports for storage, on two switches\nstorage-routed  a storage client and its server on two fabrics, with two routers that have a foot in each\n")]
#[case(&["world", "show", "storage-pair"], "\n  server  dgx-h100, without a monitor\n\nSwitches\n  leaf-1\n    mlx5_1/1 of every node that has it\n")]
#[case(&["world", "show", "storage-pair"], "\n  lnet/second-interface-carries\n")]
#[case(&["world", "show", "training-pod"], "  island-a\n    mlx5_1/1 of vm1, vm2\n")]
#[case(&["help"], "Usage: nicdrill")]
#[case(&["help", "run"], "--fail-fast")]
#[case(&["help", "fit"], "--force")]
#[case(&["help", "replay"], "--world <FILE>")]
#[case(&["help", "scenario"], "in_poll")]
#[case(&["help", "faults"], "cut")]
#[case(&["help", "platform"], "# Platforms")]
#[case(&["help", "descriptor"], "\n  listings_per_poll\n      how many listings")]
#[case(&["help", "promises"], "\n  gone_device\n      the class folder does not list a device\n      by the documents: fatal\n")]
#[case(&["help", "lines"], "speaks: lines")]
#[case(&["help", "needs"], "\n  never_alarms\n")]
#[case(&["help", "exit-codes"], "  101  a monitor crashed or hung")]
#[case(&["zoo", "--list"], "forgetful")]
#[case(&["link", "show", "link/cable-pulled@dgx-a100", "--at", "12s"], "PortState:        Down (Neigh Unknown)")]
#[case(&["link", "show", "port/speed-drop-is-silent@dgx-a100"], "neither end of any remembers a thing")]
#[case(&["link", "show", "joint/one-leaf-under-four-nodes", "--at", "12s"], "== node-1 mlx5_2 port 1, there: leaf-3 port 1\n$ opasaquery -o portinfo -vvv\nunavailable: the subnet manager does not reach it\n")]
#[case(&["link", "show", "joint/one-leaf-under-four-nodes", "node-3/mlx5_2", "--at", "5s"], "== node-3 mlx5_2 port 1, there: leaf-3 port 3\n")]
#[case(&["link", "show", "link/cable-pulled@dgx-a100", "--at", "12s"], "LinkDownReason: Neigh Unknown    NeighborLinkDownReason: None\n$ opasaquery -o portinfo -vvv\nunavailable: the subnet manager does not reach it\n")]
#[case(&["link", "show", "fabric/subnet-manager-dies@dgx-a100", "mlx5_0", "--at", "12s"], "here\n$ opaportinfo\nSubnet:")]
#[case(&["link", "show", "fabric/subnet-manager-dies@dgx-a100", "mlx5_0", "--at", "12s"], ", there\n$ opasaquery -o portinfo -vvv\nunavailable: no subnet manager answers\n")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "client", "--view", "net", "--at", "12s"], "              fatal_error: 1\n              health value: 1000")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "client", "--view", "net", "--at", "12s"], "    - net type: lo\n")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "client", "--view", "local-recovery", "--at", "12s"], "\nlocal NI recovery:")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "client", "--at", "500ms"], "workload storage, at 0.5s\n")]
#[case(&["lnet", "show", "lnet/resends-hide-a-lossy-path", "--at", "20s", "--trace"], "remote_dropped, and it is resent\n")]
#[case(&["lnet", "show", "lnet/cable-out-for-five-seconds", "client", "--over", "9s..12s"], "in recovery  errors  resend_count  response_timeout_count\n9s    up 1000 ")]
#[case(&["lnet", "show", "lnet/cable-out-for-five-seconds", "client", "--over", "9s..12s"], "\n10s   fatal 1000 ")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--why", "1"], "\n  first timer to run out: none\n  blamed: no interface\n")]
#[case(&["lnet", "show", "lnet/router-dies-and-another-carries", "client", "--at", "12s"], "# lnetctl route show -v on client, workload storage, at 12s\nroute:\n    - net: o2ib1\n      gateway: 10.1.3.1@o2ib\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], "\nhost-1 hfi1_2/1  Down (Neigh Unknown)  Polling   Neigh Unknown   None                    None                   30s\nleaf-3 port 1    Down (Neigh Unknown)  Polling   Neigh Unknown   None                    None                   30s\n-> the cable: neither end took it down\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], "\n-> the switch port took it down: Switch Mgmt\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], "\n-> the host's port stays down: SMA disabled\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], "\n-> the host's port stays down: No Loc Media\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], "\nleaf-4 port 1    1        None              FM Bounce                 10s\n-> the host's port took it down: FM Bounce\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], "\nhost-2 hfi1_3/1  leaf-4 port 2  200 Gb/sec (2X NDR)  400 Gb/sec (4X NDR)\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], "\nhost-3 hfi1_3/1  leaf-4 port 3  symbol_error 7\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--summary", "--at", "5s"], "\n== not active: no link\n\n== active again: no link\n\n== slow: no link\n\n== counting errors: no link\n")]
#[case(&["link", "show", "joint/one-leaf-under-four-nodes", "--summary", "--at", "12s"], "\n-> the switch port or the switch: it gave no reason\n")]
#[case(&["link", "show", "joint/one-leaf-under-four-nodes", "--summary", "--at", "12s"], "\n-> switch leaf-3: all 4 of its links, each time the switch port or the switch: it gave no reason\n")]
#[case(&["link", "show", "joint/host-loses-power", "--summary", "--at", "12s"], "\n-> host vm1: all 4 of its links, each time the host's port or the host: it gave no reason\n")]
#[case(&["link", "show", "link/flapping-link-is-quarantined@dgx-a100", "--summary", "--at", "25s"], "\n-> the switch port took it down: FM Bounce; it is up, and the subnet manager keeps it so: Flapping\n")]
#[case(&["link", "show", "link/no-subnet-manager-after-a-bounce@dgx-a100", "--summary", "--at", "30s"], "\n-> the host's port took it down: FM Bounce; it is up and waits for a subnet manager, and none answers\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--switch", "leaf-3"], "\n2     Down (Switch Mgmt)    Disabled  Switch Mgmt     None                    Switch Mgmt            1    host-2 hfi1_2/1  Down (Switch Mgmt)\n")]
#[case(&["link", "show", "link/cable-port-or-host", "--fm-log"], "    15.1s  host-2 hfi1_2/1: #4 Disappearance from fabric; NodeType: hfi LINKED:LinkDownReason: Switch Mgmt [60] \n")]
#[case(&["link", "show", "link/cable-port-or-host", "host-1/hfi1_3", "--fm-log"], "the fabric manager\n\n    30.1s  host-1 hfi1_3/1: #4 Disappearance")]
#[case(&["link", "show", "link/cable-port-or-host", "host-3/hfi1_3", "--fm-log"], "the fabric manager\n\nit wrote nothing\n")]
#[case(&["link", "show", "link/cable-port-or-host", "host-2/hfi1_2", "--dmesg"], "at 40s\n\n== host-2\n$ dmesg\n[  615.000000] hfi1 0000:4f:00.0: hfi1_2: 8051: Link down\n[  615.000000] hfi1 0000:4f:00.0: hfi1_2: Link down reason: Neighbor link down message 60, Switch management\n[  615.000000] hfi1 0000:4f:00.0: hfi1_2: set_link_state: current ACTIVE, new OFFLINE \n")]
#[case(&["link", "show", "link/fabric-manager-fails-over", "--fm-log"], "the fabric manager\n\n== manager 1, ran 0s to 20s\n    10.1s  host-1 hfi1_2/1: #4 Disappearance")]
#[case(&["link", "show", "link/fabric-manager-fails-over", "--fm-log"], "\n\n== manager 2, ran from 30s without earlier logs\nit wrote nothing\n\nLinkDownErrorLogs of manager 2: leaf-3 port 2 (1), host-3 hfi1_2/1 (1), leaf-3 port 3 (1)\n")]
#[case(&["link", "show", "link/fabric-manager-fails-over", "--fm-log", "--at", "25s"], "\nLinkDownErrorLogs of manager 1: host-1 hfi1_2/1 (1), leaf-3 port 1 (1), leaf-3 port 2 (1)\n")]
#[case(&["link", "show", "link/fabric-manager-fails-over", "host-1/hfi1_2", "--fm-log"], "\nLinkDownErrorLogs of manager 2: empty\n")]
#[case(&["link", "show", "link/subnet-manager-fails-over@dgx-a100", "--fm-log"], "\n== manager 2, ran 30s to 35s without earlier logs, then from 36s without earlier logs\n")]
#[case(&["link", "show", "joint/host-reboots-in-good-order", "--summary", "--at", "12s"], "\n-> host vm1 does not answer: it reboots or has no power\n")]
#[case(&["link", "show", "joint/host-reboots-in-good-order", "--summary"], "\n-> host vm1 booted at 70s\n")]
#[case(&["link", "show", "joint/driver-unloaded", "--summary", "--at", "12s"], "\n-> host vm1 answers and lists no device: its driver does not run\n")]
#[case(&["link", "show", "link/omni-path-heat-and-power", "--summary", "--at", "20s"], "\nhfi1_0/1              Active                LinkUp    None            None                    None                   10s\nswitch 0xbfff port 1  Down (SMA Disabled)   Polling   None            SMA Disabled            None                   10s\n")]
#[case(&["link", "show", "link/omni-path-heat-and-power", "--dmesg", "--at", "20s"], "hfi1 0000:18:00.0: hfi1_0: Aborted freeze recovery. Please REBOOT system\n[  615.000000] hfi1 0000:40:00.0: hfi1_1: qual_power: Port disabled due to system power restrictions\n")]
#[case(&["link", "show", "link/lanes-lost-until-the-policy-bounces@dgx-a100", "--summary", "--at", "15s"], "\nmlx5_0/1  switch 0xbfff port 1  200 Gb/sec (4X HDR)  200 Gb/sec (4X HDR)  mlx5_0/1 receives over 3 of 4\n")]
#[case(&["link", "show", "link/lanes-lost-until-the-policy-bounces@dgx-a100", "--at", "15s"], ", here\nslow: it sends over 4 and receives over 3 of 4 lanes\n$ opaportinfo\n")]
#[case(&["link", "show", "link/lanes-lost-until-the-policy-bounces@dgx-a100", "--at", "15s"], ", there\nslow: it sends over 3 and receives over 4 of 4 lanes\n$ opasaquery")]
#[case(&["link", "show", "link/cable-port-or-host", "--switch", "leaf-4"], "host port        its state  lanes lost\n1     Active  ")]
#[case(&["link", "show", "link/neighbour-reboots@dgx-a100", "--summary", "--at", "12s"], "\n-> the other host's port took it down: Reboot\n")]
#[case(&["link", "show", "link/neighbour-reboots@dgx-a100", "--at", "12s"], "\n== mlx5_0 port 1, there: another host's port 1\n")]
#[case(&["link", "show", "link/sweeps-once-a-minute@dgx-a100", "--summary", "--at", "50s"], "\nmlx5_0/1              Init (LinkUp)  LinkUp    None            FM Bounce")]
#[case(&["link", "show", "link/cable-pulled@dgx-a100", "--at", "10500ms"], " at 10.5s\n")]
#[case(&["lnet", "show", "lnet/second-interface-carries"], "# lnetctl stats show on server, workload storage, at 65s")]
#[case(&["mpib", "show", "joint/job-dies-half-a-minute-later", "--timeline"], "\n10s vm1 SUP mlx5_1: event IBV_EVENT_PORT_ERR (10); MPIB reads none\n10s vm2 SUP QP 2 to vm1: post clear-to-send, 64 bytes; try 1 of 8\n14.294967296s ")]
#[case(&["mpib", "show", "mpib/no-agent-no-isolation"], "vm1: init returned ncclSystemError: no hints at `/tmp/mpib/hints`\n")]
#[case(&["mpib", "show", "mpib/prefixes-that-disagree"], "hazard: vm1 to vm5: posted on SUP, which has no route between islands\n")]
#[case(&["monitor", "--help"], "--state-polling-interval")]
fn a_page_is_printed(#[case] words: &[&str], #[case] part: &str) {
    let ran = Scratch::new().run(words);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains(part), "{ran}");
}

#[test]
fn a_matrix_becomes_metadata_and_a_damaged_one_is_refused_with_its_place() {
    let scratch = Scratch::new();
    let matrix = scratch.run(&["platform", "topo", "h100-oci"]);
    assert_eq!(matrix.code, 0, "{matrix}");
    scratch.file("matrix.txt", &matrix.out);
    let read = scratch.run(&["platform", "topo", "matrix.txt"]);
    assert_eq!(read.code, 0, "{read}");
    let metadata: serde_json::Value = serde_json::from_str(&read.out).unwrap();
    let nics = metadata["nic_topology"].as_object().unwrap();
    assert_eq!(nics.len(), 18);
    let levels = nics["mlx5_0"].as_array().unwrap();
    assert_eq!(levels.len(), 8);
    let piped = scratch.shell("$NICDRILL platform topo - < matrix.txt");
    assert_eq!(piped.out, read.out);

    let cut: Vec<&str> = matrix.out.lines().take(4).collect();
    scratch.file("cut.txt", &cut.join("\n"));
    let refused = scratch.run(&["platform", "topo", "cut.txt"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.err.contains("cut.txt: line "), "{refused}");
    assert!(refused.err.contains("hint: "), "{refused}");
}

/// What a usage line names is accepted, each optional word with the others and without them.
#[rstest]
#[case(&["lnet", "show"], "lnet/second-interface-carries", 4)]
#[case(&["link", "show"], "link/cable-port-or-host", 5)]
#[case(&["mpib", "show"], "mpib/no-agent-no-isolation", 1)]
fn a_usage_line_of_a_laboratory_names_what_is_accepted(
    #[case] command: &[&str],
    #[case] drill: &str,
    #[case] lines: usize,
) {
    let page = help(&[command, &["--help"]].concat());
    let (_, usage) = page.split_once("Usage: ").expect("a usage");
    let (usage, _) = usage.split_once("\n\n").expect("a blank line behind it");
    let usage: Vec<&str> = usage.lines().map(str::trim).collect();
    assert_eq!(usage.len(), lines, "{page}");
    for line in usage {
        let words = line
            .replace("[OPTIONS] ", "")
            .replace("<DRILL>", drill)
            .replace("<VIEW>", "net")
            .replace("<TIME>", "12s")
            .replace("<FROM..TO>", "9s..12s")
            .replace("<MESSAGE|failed>", "failed")
            .replace("<SWITCH>", "leaf-4")
            .replace("NODE", "client")
            .replace("PORT", "host-4/hfi1_2");
        let whole = words.replace(['[', ']'], "");
        let mut bare = String::new();
        for part in words.split('[') {
            bare += part.split_once(']').map_or(part, |(_, behind)| behind);
        }
        for words in [whole, bare] {
            let words: Vec<&str> = words.split_whitespace().skip(1).collect();
            let ran = Scratch::new().run(&words);
            assert_eq!(ran.code, 0, "{words:?}: {ran}");
        }
    }
}

/// The error of a combination that is refused shows the usage lines of the help, and so none of those that are refused.
#[rstest]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--why", "1", "--trace"])]
#[case(&["lnet", "show", "lnet/second-interface-carries", "client", "--why", "1"])]
#[case(&["lnet", "show", "lnet/second-interface-carries", "client", "--over", "1s..2s", "--at", "3s"])]
#[case(&["lnet", "show", "--trace"])]
#[case(&["link", "show", "link/cable-port-or-host", "--summary", "--fm-log"])]
#[case(&["link", "show", "link/cable-port-or-host", "host-4/hfi1_2", "--summary"])]
#[case(&["link", "show", "--switch", "leaf-4"])]
fn a_refused_combination_shows_the_usage_of_the_help(#[case] words: &[&str]) {
    let page = help(&[words[0], words[1], "--help"]);
    let (_, usage) = page.split_once("Usage: ").expect("a usage");
    let (usage, _) = usage.split_once("\n\n").expect("a blank line behind it");
    let ran = Scratch::new().run(words);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains(&format!("\nUsage: {usage}\n\n")),
        "{usage}: {ran}"
    );
}

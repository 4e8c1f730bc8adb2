//! The kernel-log monitor: the event of each line, and what a reboot clears.

use cluster::{
    Clearing, Conditions,
    kernel_log::{
        AGENT, CHECK, Functions, KernelLogMonitor, KernelLogProfile, LOCKUP_LINES, pci_address,
    },
    quarantine::{Quarantine, Rulesets},
};
use proto::{HealthEvent, RecommendedAction};
use rstest::rstest;

use crate::words::at;

fn functions() -> Functions {
    let pairs = [
        ("0000:03:00.0", "mlx5_0"),
        ("0000:65:00.0", "mlx5_5"),
        ("0000:12:00.0", "ens3"),
    ];
    pairs
        .map(|(pci, name)| (pci.to_owned(), name.to_owned()))
        .into()
}

fn read(profile: KernelLogProfile, line: &str) -> Option<HealthEvent> {
    KernelLogMonitor::new("node-1", profile).line(at(1.0), line, &functions())
}

/// Checks which pattern matches the line, whether its event is fatal, and which NIC it names.
fn check(profile: KernelLogProfile, line: &str, code: &str, is_fatal: bool, nic: Option<&str>) {
    let event = read(profile, line).unwrap();
    let action = if is_fatal {
        RecommendedAction::ReplaceVm
    } else {
        RecommendedAction::None
    };
    let named = event
        .entities_impacted
        .first()
        .map(|entity| entity.entity_value.as_str());
    assert_eq!(event.error_code, [code]);
    assert_eq!(
        (event.is_fatal, event.is_healthy, named),
        (is_fatal, false, nic)
    );
    assert_eq!(
        (event.agent.as_str(), event.check_name.as_str()),
        (AGENT, CHECK)
    );
    assert_eq!(
        (event.component_class.as_str(), event.message.as_str()),
        ("NIC", line)
    );
    assert_eq!(event.recommended_action(), action);
    assert!(
        event
            .entities_impacted
            .iter()
            .all(|entity| entity.entity_type == "NIC")
    );
}

#[rstest]
#[case(
    "cmd_exec_timeout",
    true,
    Some("mlx5_0"),
    "mlx5_core 0000:03:00.0: wait_func:964:(pid 112): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource"
)]
#[case(
    "cmd_exec_timeout",
    true,
    Some("mlx5_0"),
    "mlx5_core 0000:03:00.0: cmd[0]: CREATE_MKEY(0x200) Async, timeout. Will cause a leak of a command resource"
)]
#[case(
    "health_poll_failed",
    true,
    None,
    "mlx5_core 0000:d2:00.0: poll_health:174: device's health compromised - reached miss count."
)]
#[case(
    "unrecoverable_err",
    true,
    None,
    "mlx5_core: INFO: synd 0x8: unrecoverable hardware error."
)]
#[case(
    "netdev_watchdog",
    false,
    None,
    "NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 0 timed out"
)]
#[case(
    "netdev_watchdog",
    false,
    Some("mlx5_5"),
    "mlx5_core 0000:65:00.0 ens15np0: NETDEV WATCHDOG: CPU: 94: transmit queue 3 timed out 5032 ms"
)]
#[case(
    "mlx5_tx_timeout_detected",
    false,
    Some("mlx5_5"),
    "mlx5_core 0000:65:00.0 ens15np0: TX timeout detected"
)]
#[case(
    "mlx5_rx_timeout_detected",
    false,
    Some("mlx5_5"),
    "mlx5_core 0000:65:00.0 ens15np0: RX timeout on channel: 20, ICOSQ: 0x1ee0, RQ: 0x1e43, CQ: 0x3ea6"
)]
#[case(
    "pci_power_insufficient",
    false,
    Some("ens3"),
    "mlx5_core 0000:12:00.0: mlx5_pcie_event:299: Detected insufficient power on the PCIe slot (27W)."
)]
#[case(
    "port_module_high_temp",
    false,
    None,
    "mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, High Temperature"
)]
#[case(
    "module_unplugged",
    false,
    None,
    "mlx5_core 0000:41:00.1: Port module event: module 1, Cable unplugged"
)]
#[case(
    "access_reg_failed",
    false,
    None,
    "mlx5_cmd_out_err:838:(pid 1441871): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2), syndrome (0x305684), err(-22)"
)]
fn a_line_is_found_by_its_pattern(
    #[case] code: &str,
    #[case] is_fatal: bool,
    #[case] nic: Option<&str>,
    #[case] line: &str,
) {
    check(KernelLogProfile::DEPLOYED, line, code, is_fatal, nic);
}

#[rstest]
#[case::link_words("mlx5_core 0000:03:00.0 ens1: Link down")]
#[case::another_driver("NETDEV WATCHDOG: eth0 (igb): transmit queue 0 timed out")]
#[case::another_order("timeout. Will cause a leak of a command resource, mlx5_core")]
#[case::another_register("mlx5_cmd_out_err:838: QUERY_HCA_CAP(0x100) failed")]
#[case::plugged("mlx5_core 0000:41:00.1: Port module event: module 1, Cable plugged")]
fn another_line_makes_no_event(#[case] line: &str) {
    assert_eq!(read(KernelLogProfile::DEPLOYED, line), None);
}

#[rstest]
#[case::no_kernel_prints_it(
    "mlx5_core 0000:03:00.0: wait_func:964:(pid 112): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource",
    None
)]
#[case::nor_that(
    "mlx5_core 0000:d2:00.0: poll_health:174: device's health compromised - reached miss count.",
    None
)]
#[case::unrecoverable(
    "mlx5_core: INFO: synd 0x8: unrecoverable hardware error.",
    Some("unrecoverable_err")
)]
#[case::any_drivers_watchdog(
    "NETDEV WATCHDOG: eth0 (igb): transmit queue 0 timed out",
    Some("netdev_watchdog")
)]
#[case::a_nics_bus_error(
    "0000:03:00.0: PCIe Bus Error: severity=Uncorrected (Fatal)",
    Some("pcie_fatal")
)]
#[case::anothers_bus_error("0000:99:00.0: PCIe Bus Error: severity=Uncorrected (Fatal)", None)]
fn the_first_design_finds(#[case] line: &str, #[case] code: Option<&str>) {
    let event = read(KernelLogProfile::FIRST, line);
    assert_eq!(
        event.as_ref().map(|event| event.error_code[0].as_str()),
        code
    );
    assert!(event.is_none_or(|event| event.is_fatal));
}

#[test]
fn every_line_is_an_event_of_its_own() {
    let line = "mlx5_core 0000:65:00.0 ens15np0: TX timeout detected";
    let mut monitor = KernelLogMonitor::new("node-1", KernelLogProfile::DEPLOYED);
    let seen = (0..3).filter_map(|_| monitor.line(at(1.0), line, &functions()));
    assert_eq!(seen.count(), 3);
}

const HEAD: &str = "watchdog: BUG: soft lockup - CPU#94 stuck for 226906s! [swapper/94:0]";
const PROOF: &str = "RIP: 0010:mlx5e_poll_ico_cq+0x8b/0x1a0 [mlx5_core]";

/// Which of these lines cause an event; `…` stands for that many irrelevant lines.
fn lockups(lines: &[(&str, u32, f64)]) -> Vec<usize> {
    let mut monitor = KernelLogMonitor::new("node-1", KernelLogProfile::DEPLOYED);
    let mut found = Vec::new();
    for (n, (line, times, s)) in lines.iter().enumerate() {
        for _ in 0..*times {
            if monitor.line(at(*s), line, &functions()).is_some() {
                found.push(n);
            }
        }
    }
    found
}

#[rstest]
#[case::proven(&[(HEAD, 1, 0.0), (PROOF, 1, 0.0)], &[1])]
#[case::proof_alone(&[(PROOF, 1, 0.0)], &[])]
#[case::the_last_line_that_counts(&[(HEAD, 1, 0.0), ("x", LOCKUP_LINES - 1, 0.0), (PROOF, 1, 0.0)], &[2])]
#[case::the_first_that_does_not(&[(HEAD, 1, 0.0), ("x", LOCKUP_LINES, 0.0), (PROOF, 1, 0.0)], &[])]
#[case::a_new_headline_begins_anew(&[(HEAD, 1, 0.0), ("x", 149, 0.0), (HEAD, 1, 0.0), ("x", 149, 0.0), (PROOF, 1, 0.0)], &[4])]
#[case::a_guess_is_no_proof(&[(HEAD, 1, 0.0), (" ? mlx5e_napi_poll+0x10/0x20", 1, 0.0)], &[])]
#[case::the_other_frame(&[(HEAD, 1, 0.0), (" mlx5e_napi_poll+0x10/0x20", 1, 0.0)], &[1])]
#[case::quiet_for_half_an_hour(&[(HEAD, 1, 0.0), (PROOF, 1, 0.0), (HEAD, 1, 1799.9), (PROOF, 1, 1799.9)], &[1])]
#[case::and_no_longer(&[(HEAD, 1, 0.0), (PROOF, 1, 0.0), (HEAD, 1, 1800.0), (PROOF, 1, 1800.0)], &[1, 3])]
fn a_soft_lockup_takes_two_lines(#[case] lines: &[(&str, u32, f64)], #[case] found: &[usize]) {
    assert_eq!(lockups(lines), found);
}

#[test]
fn a_soft_lockup_speaks_of_the_node_and_says_how_long() {
    let mut monitor = KernelLogMonitor::new("node-1", KernelLogProfile::DEPLOYED);
    assert_eq!(monitor.line(at(0.0), HEAD, &functions()), None);
    let event = monitor.line(at(0.0), PROOF, &functions()).unwrap();
    assert!(event.is_fatal && event.entities_impacted.is_empty());
    assert_eq!(event.error_code, ["mlx5_napi_soft_lockup"]);
    assert_eq!(event.metadata["cpu"], "94");
    assert_eq!(event.metadata["durationSeconds"], "226906");
    assert_eq!(
        event.message,
        format!(
            "kernel soft lockup: CPU#94 stuck for 226906s in mlx5 NAPI poll loop (evidence: {PROOF})"
        )
    );
}

#[rstest]
#[case::as_deployed(KernelLogProfile::DEPLOYED, true)]
#[case::mended(KernelLogProfile::MENDED, false)]
fn a_reboot_clears_the_condition_and_as_deployed_not_the_cordon(
    #[case] profile: KernelLogProfile,
    #[case] stays_cordoned: bool,
) {
    let mut monitor = KernelLogMonitor::new("node-1", profile);
    let line = "mlx5_core 0000:03:00.0: unrecoverable hardware error";
    let fault = monitor.line(at(1.0), line, &functions()).unwrap();
    let healthy = monitor.rebooted(at(60.0));
    let mut conditions = Conditions::default();
    let mut quarantine = Quarantine::new(Rulesets::shipped());
    for event in [&fault, &healthy] {
        conditions.apply(Clearing::ALL, [event]);
        quarantine.take(event);
    }
    assert_eq!(conditions.faulty().count(), 0);
    assert_eq!(quarantine.is_cordoned("node-1"), stays_cordoned);
    assert!(healthy.entities_impacted.is_empty() && healthy.error_code.is_empty());
}

#[rstest]
#[case("mlx5_core 0000:03:00.0: x", Some("0000:03:00.0"))]
#[case("a 0000:03:00.0 b 0000:04:00.0", Some("0000:03:00.0"))]
#[case("dead:be:ef.1", Some("dead:be:ef.1"))]
#[case("0000:03:00", None)]
#[case("äöü 0000:0g:00.0", None)]
#[case("", None)]
fn the_first_pci_address_of_a_line_is_meant(#[case] line: &str, #[case] address: Option<&str>) {
    assert_eq!(pci_address(line), address);
}

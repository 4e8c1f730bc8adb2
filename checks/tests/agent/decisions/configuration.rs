//! The flags and folders that the document prints, with their defaults.

use checks::Flags;
use checks::flags::FLAGS;
use terms::Check;

/// The defaults of the document's table of flags, and of the two folders in the file beside it.
#[test]
fn every_flag_of_the_document_has_its_default() {
    let default = |name: &str| FLAGS.iter().find(|flag| flag.name == name).unwrap().default;
    for (name, text) in [
        (
            "checks",
            "InfiniBandStateCheck,InfiniBandDegradationCheck,EthernetStateCheck,EthernetDegradationCheck",
        ),
        ("config", "/etc/nic-health-monitor/config.toml"),
        ("metadata-path", "/var/lib/nvsentinel/gpu_metadata.json"),
        ("state-polling-interval", "1s"),
        (
            "platform-connector-socket",
            "unix:///var/run/nvsentinel.sock",
        ),
        ("metrics-port", "2112"),
        ("state-file", "/var/run/nic_health_monitor/state.json"),
        ("boot-id-path", "/nvsentinel/proc/sys/kernel/random/boot_id"),
        ("processing-strategy", "EXECUTE_REMEDIATION"),
        ("counter-polling-interval", "1s"),
        ("escalate-after", "30s"),
        ("disappearance-polls", "1"),
        ("read-timeout", "2s"),
        ("publish-timeout", "10s"),
    ] {
        assert_eq!(default(name), Some(text), "--{name}");
    }
    let flags = Flags::from_args(["--node-name", "n1", "--state-polling-interval=5s"]).unwrap();
    let (settings, _) = flags.settings().unwrap();
    assert_eq!(settings.node_name, "n1");
    assert_eq!(settings.state_polling_interval.as_secs(), 5);
    assert_eq!(settings.counter_polling_interval.as_secs(), 1);
    assert!(settings.checks.contains(&Check::EthernetState));
}

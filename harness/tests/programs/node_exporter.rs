//! `prometheus-node-exporter`, its collectors `infiniband` and `netclass`.

use platforms::{CounterValue, Machine, NetDev, Port};

use crate::{Facts, Program, Unreadable, devices, over_host::OverHost};

pub(crate) const NODE_EXPORTER: Program = Program {
    name: "prometheus-node-exporter",
    shown,
    expected,
};

/// The exporter's name of each counter, without prefix and suffix, its file, and what its value is multiplied
/// with: data counters count words of four bytes (IBTA volume 1, 16.1.4).
const COUNTERS: [(&str, &str, u64); 21] = [
    (
        "excessive_buffer_overrun_errors",
        "excessive_buffer_overrun_errors",
        1,
    ),
    ("link_downed", "link_downed", 1),
    ("link_error_recovery", "link_error_recovery", 1),
    (
        "local_link_integrity_errors",
        "local_link_integrity_errors",
        1,
    ),
    ("multicast_packets_received", "multicast_rcv_packets", 1),
    ("multicast_packets_transmitted", "multicast_xmit_packets", 1),
    (
        "port_constraint_errors_received",
        "port_rcv_constraint_errors",
        1,
    ),
    (
        "port_constraint_errors_transmitted",
        "port_xmit_constraint_errors",
        1,
    ),
    ("port_data_received_bytes", "port_rcv_data", 4),
    ("port_data_transmitted_bytes", "port_xmit_data", 4),
    ("port_discards_transmitted", "port_xmit_discards", 1),
    ("port_errors_received", "port_rcv_errors", 1),
    ("port_packets_received", "port_rcv_packets", 1),
    ("port_packets_transmitted", "port_xmit_packets", 1),
    (
        "port_receive_remote_physical_errors",
        "port_rcv_remote_physical_errors",
        1,
    ),
    (
        "port_receive_switch_relay_errors",
        "port_rcv_switch_relay_errors",
        1,
    ),
    ("port_transmit_wait", "port_xmit_wait", 1),
    ("symbol_error", "symbol_error", 1),
    ("unicast_packets_received", "unicast_rcv_packets", 1),
    ("unicast_packets_transmitted", "unicast_xmit_packets", 1),
    ("vl15_dropped", "VL15_dropped", 1),
];

/// The series whose values the table has.
const NET: [&str; 8] = [
    "up",
    "carrier",
    "carrier_changes_total",
    "mtu_bytes",
    "speed_bytes",
    "iface_id",
    "flags",
    "info",
];

fn shown(host: &OverHost) -> Facts {
    let text = host.scraped(
        "prometheus-node-exporter --web.systemd-socket --collector.disable-defaults \
         --collector.infiniband --collector.netclass",
    );
    let mut facts = Facts::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((series, value)) = line.rsplit_once(' ') else {
            continue;
        };
        let name = series.split('{').next().unwrap_or_default();
        let of_net = name.strip_prefix("node_network_");
        let wanted = name.starts_with("node_infiniband_")
            || name == "node_scrape_collector_success"
            || of_net.is_some_and(|name| NET.contains(&name));
        if wanted {
            let number: f64 = value.trim().parse().expect("a number");
            facts.insert(series.to_owned(), number.to_string());
        }
    }
    facts
}

fn expected(machine: &Machine, unreadable: Unreadable) -> Facts {
    let mut facts = Facts::new();
    // One port whose rate cannot be read, or one device without a `board_id`, ends the whole collector; without
    // the class there is nothing to collect.
    let has_boards = devices(machine).all(|(_, rdma)| rdma.board_id.is_some());
    let works = unreadable != Unreadable::Rate && has_boards && machine.class_present;
    if works {
        for (_, rdma) in devices(machine) {
            let info = format!(
                "node_infiniband_info{{board_id={:?},device=\"{}\",firmware_version={:?},hca_type={:?}}}",
                rdma.board_id.as_deref().unwrap_or_default(),
                rdma.name,
                rdma.fw_ver,
                rdma.hca_type.as_deref().unwrap_or_default(),
            );
            facts.insert(info, "1".to_owned());
            for (number, port) in &rdma.ports {
                of_port(rdma.name.as_str(), number.0, port, &mut facts);
            }
        }
    }
    for (collector, works) in [("infiniband", works), ("netclass", true)] {
        let series = format!("node_scrape_collector_success{{collector=\"{collector}\"}}");
        facts.insert(series, u8::from(works).to_string());
    }
    let functions = machine.functions.values();
    let visible = functions.filter(|function| !function.in_other_namespace);
    for netdev in visible.flat_map(|function| &function.netdevs) {
        of_interface(netdev, &mut facts);
    }
    for netdev in machine.interfaces.values() {
        of_interface(netdev, &mut facts);
    }
    facts
}

fn of_port(device: &str, number: u8, port: &Port, facts: &mut Facts) {
    let mut put = |name: &str, value: u64| {
        let series = format!("node_infiniband_{name}{{device=\"{device}\",port=\"{number}\"}}");
        facts.insert(series, value.to_string());
    };
    put("state_id", port.state.0.into());
    put("physical_state_id", port.phys_state.0.into());
    // Gb/s in bytes.
    put(
        "rate_bytes_per_second",
        u64::from(port.rate.gbps()) * 125_000_000,
    );
    for (name, file, unit) in COUNTERS {
        if let Some(CounterValue::Count(count)) = port.counters.get(file) {
            put(&format!("{name}_total"), count * unit);
        }
    }
}

fn of_interface(netdev: &NetDev, facts: &mut Facts) {
    let device = &netdev.name;
    let mut put = |name: &str, value: i64| {
        facts.insert(
            format!("node_network_{name}{{device=\"{device}\"}}"),
            value.to_string(),
        );
    };
    put("up", i64::from(netdev.operstate == "up"));
    if netdev.admin_up {
        put("carrier", i64::from(netdev.carrier));
    }
    let changes = netdev.carrier_up_count + netdev.carrier_down_count;
    put(
        "carrier_changes_total",
        i64::try_from(changes).expect("few"),
    );
    put("mtu_bytes", netdev.mtu.into());
    put("iface_id", netdev.ifindex.into());
    put("flags", 0x1002 | i64::from(netdev.admin_up));
    let speed = netdev.speed_mbps.filter(|_| netdev.admin_up);
    // An unknown speed, -1, is exported too (`--collector.netclass.ignore-invalid-speed`).
    if let Some(speed) = speed {
        put("speed_bytes", speed * 125_000);
    }
    let duplex = match speed {
        None => "",
        Some(speed) if speed < 0 => "unknown",
        Some(_) => "full",
    };
    let hex = |bytes: &[u8]| -> String {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(":")
    };
    let broadcast = match netdev.arp_type {
        32 => "00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff".to_owned(),
        772 => hex(&vec![0; netdev.address.len()]),
        _ => hex(&vec![0xff; netdev.address.len()]),
    };
    let info = format!(
        "node_network_info{{address=\"{}\",broadcast=\"{broadcast}\",device=\"{device}\",\
         duplex=\"{duplex}\",ifalias=\"\",operstate=\"{}\"}}",
        hex(&netdev.address),
        netdev.operstate,
    );
    facts.insert(info, "1".to_owned());
}

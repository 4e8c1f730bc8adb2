//! `ibstat`, `ibstatus` (infiniband-diags) and `ibv_devices` (ibverbs-utils).

use platforms::{CharDevice, Function, LinkLayer, Machine, PhysState, Port, PortState, Rate, Rdma};

use crate::{Facts, Program, Unreadable, devices, over_host::OverHost, victim};

pub(crate) const IBSTAT: Program = Program {
    name: "ibstat",
    shown: |host| of_blocks(&host.output(&["ibstat"])),
    expected: ibstat,
};

pub(crate) const IBSTATUS: Program = Program {
    name: "ibstatus",
    shown: |host| of_blocks(&host.output(&["ibstatus"])),
    expected: ibstatus,
};

pub(crate) const IBV_DEVICES: Program = Program {
    name: "ibv_devices",
    shown: ibv_devices_shown,
    expected: ibv_devices,
};

/// Reads `name: value` lines below the headings `CA 'mlx5_0'`, `Port 1:` and
/// `Infiniband device 'mlx5_0' port 1 status:`.
fn of_blocks(text: &str) -> Facts {
    let (mut device, mut port) = (String::new(), String::new());
    let mut facts = Facts::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = |word: &str| word.trim_matches('\'').to_owned();
        match words[..] {
            // Not the line `CA type:` of a device without a type.
            ["CA", of] if of.starts_with('\'') => (device, port) = (name(of), String::new()),
            ["Port", number] => port = format!("/{}", number.trim_end_matches(':')),
            ["Infiniband", "device", of, "port", number, ..] => {
                (device, port) = (name(of), format!("/{number}"));
            }
            _ => {
                if let Some((key, value)) = line.split_once(':') {
                    let key = format!("{device}{port} {}", key.trim());
                    facts.insert(key, value.trim().to_owned());
                }
            }
        }
    }
    facts
}

/// `ibstat.c`: the words of the states. It shows channel adapters, switches and routers (`node_type` 1 to 3), which
/// Elastic Fabric Adapters are not, by name, and ends at the first one with a port whose file cannot be read.
fn ibstat(machine: &Machine, unreadable: Unreadable) -> Facts {
    let mut facts = Facts::new();
    let broken = victim(machine).filter(|_| unreadable != Unreadable::Nothing);
    let mut all: Vec<&Rdma> = devices(machine).map(|(_, rdma)| rdma).collect();
    all.sort_by_key(|rdma| rdma.name.as_str());
    let shown = all
        .into_iter()
        .filter(|rdma| rdma.node_type.starts_with(['1', '2', '3']))
        .take_while(|rdma| broken.is_none_or(|broken| broken.name != rdma.name));
    for rdma in shown {
        let mut put =
            |name: &str, value: String| facts.insert(format!("{}{name}", rdma.name), value);
        put(" CA type", rdma.hca_type.clone().unwrap_or_default());
        put(" Number of ports", rdma.ports.len().to_string());
        put(" Firmware version", rdma.fw_ver.clone());
        put(" Hardware version", rdma.hw_rev.clone().unwrap_or_default());
        put(" Node GUID", format!("{:#018x}", rdma.node_guid));
        put(
            " System image GUID",
            format!("{:#018x}", rdma.sys_image_guid),
        );
        for (number, port) in &rdma.ports {
            let mut put = |name: &str, value: String| put(&format!("/{number} {name}"), value);
            let state = match port.state {
                PortState::DOWN => "Down",
                PortState::INIT => "Initializing",
                PortState::ARMED => "Armed",
                PortState::ACTIVE => "Active",
                _ => "?",
            };
            let phys_state = match port.phys_state {
                PhysState::SLEEP => "Sleep",
                PhysState::POLLING => "Polling",
                PhysState::DISABLED => "Disabled",
                PhysState::TRAINING => "PortConfigurationTraining",
                PhysState::LINK_UP => "LinkUp",
                PhysState::RECOVERY => "LinkErrorRecovery",
                PhysState::PHY_TEST => "PhyTest",
                _ => "?",
            };
            put("State", state.to_owned());
            put("Physical state", phys_state.to_owned());
            put("Rate", port.rate.gbps().to_string());
            put("Base lid", port.lid.to_string());
            put("LMC", port.lid_mask_count.to_string());
            put("SM lid", port.sm_lid.to_string());
            put("Capability mask", format!("{:#010x}", port.cap_mask));
            put("Port GUID", format!("{:#018x}", port_guid(port)));
            put("Link layer", layer(port));
        }
    }
    facts
}

/// The second half of the first GID.
fn port_guid(port: &Port) -> u64 {
    let bytes = gid(port)[8..].try_into().expect("half of a GID");
    u64::from_be_bytes(bytes)
}

fn gid(port: &Port) -> [u8; 16] {
    port.gids.get(&0).map_or([0; 16], |gid| gid.bytes)
}

fn layer(port: &Port) -> String {
    match (&port.layer_text, port.layer) {
        (Some(text), _) => text.to_string(),
        (None, LinkLayer::InfiniBand) => "InfiniBand".to_owned(),
        (None, LinkLayer::Ethernet) => "Ethernet".to_owned(),
    }
}

/// The script prints what the kernel does, and one line if there is nothing to print.
fn ibstatus(machine: &Machine, unreadable: Unreadable) -> Facts {
    let mut facts = Facts::new();
    if !machine.class_present {
        let text = "device '*': sys files not found (/sys/class/infiniband/*/ports)";
        facts.insert(" Fatal error".to_owned(), text.to_owned());
    }
    let broken = victim(machine).filter(|_| unreadable == Unreadable::Rate);
    for (_, rdma) in devices(machine) {
        for (number, port) in &rdma.ports {
            let mut put = |name: &str, value: String| {
                facts.insert(format!("{}/{number} {name}", rdma.name), value);
            };
            let gid = gid(port);
            let words: Vec<String> = gid
                .chunks(2)
                .map(|word| format!("{:02x}{:02x}", word[0], word[1]))
                .collect();
            put("default gid", words.join(":"));
            put("base lid", format!("{:#x}", port.lid));
            put("sm lid", format!("{:#x}", port.sm_lid));
            put("state", state(port.state).to_owned());
            put("phys state", phys_state(port.phys_state).to_owned());
            let is_unread = broken.is_some_and(|broken| broken.name == rdma.name);
            let text = if is_unread {
                "unknown".to_owned()
            } else {
                rate(port.rate)
            };
            put("rate", text);
            put("link_layer", layer(port));
        }
    }
    facts
}

fn state(state: PortState) -> &'static str {
    match state {
        PortState::DOWN => "1: DOWN",
        PortState::INIT => "2: INIT",
        PortState::ARMED => "3: ARMED",
        PortState::ACTIVE => "4: ACTIVE",
        _ => "?",
    }
}

fn phys_state(state: PhysState) -> &'static str {
    match state {
        PhysState::SLEEP => "1: Sleep",
        PhysState::POLLING => "2: Polling",
        PhysState::DISABLED => "3: Disabled",
        PhysState::TRAINING => "4: PortConfigurationTraining",
        PhysState::LINK_UP => "5: LinkUp",
        PhysState::RECOVERY => "6: LinkErrorRecovery",
        PhysState::PHY_TEST => "7: Phy Test",
        _ => "?",
    }
}

fn rate(rate: Rate) -> String {
    format!("{} Gb/sec ({}X {:?})", rate.gbps(), rate.width, rate.speed)
}

fn ibv_devices_shown(host: &OverHost) -> Facts {
    let text = host.output(&["ibv_devices"]);
    // Two lines of heading.
    let rows = text.lines().skip(2).filter_map(|line| {
        let (name, guid) = line.trim().split_once(char::is_whitespace)?;
        Some((name.to_owned(), guid.trim().to_owned()))
    });
    rows.collect()
}

/// Cards that no provider of rdma-core 44 knows: BCM57608, and the vendor of CN5000.
fn has_provider(function: &Function) -> bool {
    (function.vendor, function.device) != (0x14e4, 0x1760) && function.vendor != 0x434e
}

/// The devices with a `uverbs` that a provider of rdma-core knows; none of the host's.
fn ibv_devices(machine: &Machine, _: Unreadable) -> Facts {
    let known = devices(machine).filter(|(function, rdma)| {
        has_provider(function) && !rdma.missing.contains(&CharDevice::Uverbs)
    });
    known
        .map(|(_, rdma)| (rdma.name.to_string(), format!("{:016x}", rdma.node_guid)))
        .collect()
}

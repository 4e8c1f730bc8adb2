//! `lspci` (pciutils), with numbers in place of names.

use platforms::{Bridge, BridgePort, Function, Gpu, Machine, PciAddress};

use crate::{Facts, Program, Unreadable, over_host::OverHost};

pub(crate) const LSPCI: Program = Program {
    name: "lspci",
    shown,
    expected,
};

/// `-D` prints domains, `-n` numbers.
fn shown(host: &OverHost) -> Facts {
    let mut facts = Facts::new();
    let mut at = String::new();
    for line in host.output(&["lspci", "-vvnD"]).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !line.starts_with(char::is_whitespace) {
            let [pci, class, id, ..] = words[..] else {
                continue;
            };
            at = pci.to_owned();
            facts.insert(
                format!("{at} class"),
                class.trim_end_matches(':').to_owned(),
            );
            facts.insert(format!("{at} id"), id.to_owned());
            continue;
        }
        let found = match words[..] {
            ["Subsystem:", id] => ("subsystem", id.to_owned()),
            ["LnkSta:", "Speed", speed, "Width", width, ..] => {
                let plain = |word: &str| word.trim_end_matches(',').to_owned();
                ("link", format!("{} {}", plain(speed), plain(width)))
            }
            ["NUMA", "node:", node] => ("NUMA node", node.to_owned()),
            ["Kernel", "driver", "in", "use:", driver] => ("driver", driver.to_owned()),
            ["Bus:", primary, secondary, subordinate, ..] => {
                let bus = |word: &str| {
                    let (_, number) = word.split_once('=').unwrap_or_default();
                    number.trim_end_matches(',').to_owned()
                };
                let buses = [primary, secondary, subordinate].map(bus);
                ("buses", buses.join(" "))
            }
            ["Capabilities:", _, "Express", "(v2)", ref port @ ..] => {
                let port = port.join(" ");
                let (port, _) = port.split_once([',', '(']).unwrap_or((&port, ""));
                ("port", port.trim().to_owned())
            }
            [
                "Initial",
                "VFs:",
                _,
                "Total",
                "VFs:",
                total,
                "Number",
                "of",
                "VFs:",
                count,
                ..,
            ] => {
                let plain = |word: &str| word.trim_end_matches(',').to_owned();
                ("VFs", format!("{} of {}", plain(count), plain(total)))
            }
            _ => continue,
        };
        facts.insert(format!("{at} {}", found.0), found.1);
    }
    facts
}

fn expected(machine: &Machine, _: Unreadable) -> Facts {
    let mut facts = Facts::new();
    for function in machine.functions.values() {
        of_function(function, &mut facts);
    }
    for gpu in machine.gpus.iter() {
        of_gpu(gpu, &mut facts);
    }
    for bridge in machine.bridges.iter() {
        of_bridge(bridge, &mut facts);
    }
    facts
}

/// What every function has.
struct Common<'a> {
    pci: PciAddress,
    class: u32,
    id: [u16; 2],
    port: &'a str,
    link: (&'a str, u8),
    numa: i32,
    driver: Option<&'a str>,
}

impl Common<'_> {
    fn put(&self, facts: &mut Facts) {
        let pci = self.pci;
        let mut put = |name: &str, value: String| facts.insert(format!("{pci} {name}"), value);
        put("class", format!("{:04x}", self.class >> 8));
        put("id", format!("{:04x}:{:04x}", self.id[0], self.id[1]));
        put("port", self.port.to_owned());
        let (speed, width) = self.link;
        put("link", format!("{} x{width}", link_speed(speed)));
        if self.numa >= 0 {
            put("NUMA node", self.numa.to_string());
        }
        if let Some(driver) = self.driver {
            put("driver", driver.to_owned());
        }
    }
}

/// `link_speed` of ls-caps.c.
fn link_speed(text: &str) -> &'static str {
    match text {
        "2.5 GT/s PCIe" => "2.5GT/s",
        "5.0 GT/s PCIe" => "5GT/s",
        "8.0 GT/s PCIe" => "8GT/s",
        "16.0 GT/s PCIe" => "16GT/s",
        "32.0 GT/s PCIe" => "32GT/s",
        "64.0 GT/s PCIe" => "64GT/s",
        _ => "unknown",
    }
}

fn of_function(function: &Function, facts: &mut Facts) {
    let common = Common {
        pci: function.pci,
        class: function.class,
        id: [function.vendor, function.device],
        port: "Endpoint",
        link: (&function.pcie_speed, function.pcie_width),
        numa: function.numa,
        driver: function.driver.as_deref(),
    };
    common.put(facts);
    let mut put =
        |name: &str, value: String| facts.insert(format!("{} {name}", function.pci), value);
    let [vendor, device] = [function.subsystem_vendor, function.subsystem_device];
    put("subsystem", format!("{vendor:04x}:{device:04x}"));
    if let Some(total) = function.sriov_totalvfs {
        put("VFs", format!("{} of {total}", function.virtfns.len()));
    }
}

fn of_gpu(gpu: &Gpu, facts: &mut Facts) {
    let common = Common {
        pci: gpu.pci,
        class: 0x03_02_00,
        id: [gpu.vendor, gpu.device],
        port: "Endpoint",
        link: (&gpu.pcie_speed, gpu.pcie_width),
        numa: gpu.numa,
        driver: gpu.driver.as_deref(),
    };
    common.put(facts);
    facts.insert(
        format!("{} subsystem", gpu.pci),
        format!("{:04x}:0000", gpu.vendor),
    );
}

fn of_bridge(bridge: &Bridge, facts: &mut Facts) {
    let (id, port) = match bridge.port {
        BridgePort::Root => ([0x8086, 0x352a], "Root Port"),
        BridgePort::Upstream => ([0x1000, 0xc030], "Upstream Port"),
        BridgePort::Downstream => ([0x1000, 0xc030], "Downstream Port"),
    };
    let common = Common {
        pci: bridge.pci,
        class: 0x06_04_00,
        id,
        port,
        link: (&bridge.pcie_speed, bridge.pcie_width),
        numa: bridge.numa,
        driver: Some("pcieport"),
    };
    common.put(facts);
    let buses = [bridge.pci.bus, bridge.secondary, bridge.subordinate];
    let buses = buses.map(|bus| format!("{bus:02x}"));
    facts.insert(format!("{} buses", bridge.pci), buses.join(" "));
}

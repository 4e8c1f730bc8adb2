//! Writes a profile as the text of its file, in the style of the shipped ones.

use std::fmt::{Display, Write as _};

use crate::profile::{Device, Model, Profile};
use crate::provenance::Entry;
use crate::{Identifiers, TopoLevel};

/// The text of the profile's file; parsing it gives the profile. Variants are left out.
pub(super) fn yaml(profile: &Profile) -> String {
    let mut lines = Lines(String::new());
    lines.add(format_args!(
        "platform_version: {}",
        profile.platform_version
    ));
    lines.add(format_args!("name: {}", quoted(&profile.name)));
    lines.add(format_args!("about: {}", quoted(&profile.about)));
    gpus(profile, &mut lines);
    if !profile.cpus.is_empty() {
        let cpus = profile.cpus.iter();
        let cpus = cpus.map(|(node, list)| format!("{node}: {}", quoted(list)));
        lines.add(format_args!("cpus: {{ {} }}", joined(cpus)));
    }
    lines.add(format_args!("models:"));
    for (name, of) in &profile.models {
        lines.add(format_args!("  {name}: {{ {} }}", model(of)));
    }
    lines.add(format_args!("devices:"));
    for of in &profile.devices {
        lines.add(format_args!("  - {{ {} }}", device(of, profile)));
    }
    if !profile.skipped.is_empty() {
        lines.add(format_args!("skipped:"));
    }
    for skipped in &profile.skipped {
        let pci = skipped
            .pci
            .map(|pci| format!("pci: {}, ", quoted(&pci.to_string())));
        lines.add(format_args!(
            "  - {{ name: {}, {}why: {} }}",
            quoted(&skipped.name),
            pci.unwrap_or_default(),
            quoted(&skipped.why)
        ));
    }
    if !profile.interfaces.is_empty() {
        lines.add(format_args!("interfaces:"));
    }
    for interface in &profile.interfaces {
        let mut text = format!("name: {}", quoted(&interface.name));
        if !interface.lowers.is_empty() {
            let lowers = interface.lowers.iter().map(|lower| quoted(lower));
            text += &format!(", lowers: [{}]", joined(lowers));
        }
        if let Some(speed) = interface.speed_mbps {
            text += &format!(", speed_mbps: {speed}");
        }
        lines.add(format_args!("  - {{ {text} }}"));
    }
    if let Some(route) = &profile.default_route {
        lines.add(format_args!("default_route: {}", quoted(route)));
    }
    let roles = profile.roles;
    lines.add(format_args!(
        "roles: {{ management: {}, compute: {}, storage: {} }}",
        roles.management, roles.compute, roles.storage
    ));
    if !profile.counters.is_empty() {
        let counters = profile.counters.iter();
        let counters = counters.map(|(name, value)| format!("{name}: {value}"));
        lines.add(format_args!("counters: {{ {} }}", joined(counters)));
    }
    if let Some(vfs) = &profile.vfs {
        let of = vfs.of.iter().map(|name| quoted(name));
        lines.add(format_args!(
            "vfs: {{ each: {}, of: [{}] }}",
            vfs.each,
            joined(of)
        ));
    }
    identifiers(&profile.identifiers, &mut lines);
    if !profile.notes.is_empty() {
        lines.add(format_args!("notes:"));
    }
    for note in &profile.notes {
        lines.add(format_args!("  - {}", quoted(note)));
    }
    lines.add(format_args!("provenance:"));
    for of in &profile.provenance {
        entry(of, &mut lines);
    }
    lines.0
}

struct Lines(String);

impl Lines {
    fn add(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("writing to a string cannot fail");
    }
}

fn gpus(profile: &Profile, lines: &mut Lines) {
    let gpus = &profile.gpus;
    lines.add(format_args!("gpus:"));
    lines.add(format_args!("  model: {}", quoted(&gpus.model)));
    if !gpus.have_matrix() {
        lines.add(format_args!("  vendor: {:#06x}", gpus.vendor));
    }
    lines.add(format_args!("  device: {:#06x}", gpus.device));
    if gpus.kernel_driver != "nvidia" {
        lines.add(format_args!(
            "  kernel_driver: {}",
            quoted(&gpus.kernel_driver)
        ));
    }
    lines.add(format_args!(
        "  driver_version: {}",
        quoted(&gpus.driver_version)
    ));
    let pci = gpus.pci.iter().map(|pci| quoted(&pci.to_string()));
    lines.add(format_args!("  pci: [{}]", joined(pci)));
    lines.add(format_args!("  numa: [{}]", joined(gpus.numa.iter())));
    if !gpus.numa_texts.is_empty() {
        let texts = gpus.numa_texts.iter();
        let texts = texts.map(|(node, text)| format!("{node}: {}", quoted(text)));
        lines.add(format_args!("  numa_texts: {{ {} }}", joined(texts)));
    }
    if let Some(level) = gpus.between {
        lines.add(format_args!("  between: {level}"));
    }
}

fn identifiers(kept: &Identifiers, lines: &mut Lines) {
    if kept.is_empty() {
        return;
    }
    lines.add(format_args!("identifiers:"));
    if let Some(host) = &kept.host {
        lines.add(format_args!("  host: {}", quoted(host)));
    }
    if !kept.gpus.is_empty() {
        lines.add(format_args!("  gpus:"));
    }
    for gpu in &kept.gpus {
        let (uuid, serial) = (quoted(&gpu.uuid), always_quoted(&gpu.serial));
        lines.add(format_args!("    - {{ uuid: {uuid}, serial: {serial} }}"));
    }
    if !kept.devices.is_empty() {
        lines.add(format_args!("  devices:"));
    }
    for (name, of) in &kept.devices {
        let mut keys = Vec::new();
        keys.extend(
            of.node_desc
                .as_ref()
                .map(|it| format!("node_desc: {}", quoted(it))),
        );
        for (key, guid) in [
            ("node_guid", of.node_guid),
            ("sys_image_guid", of.sys_image_guid),
        ] {
            keys.extend(guid.map(|guid| format!("{key}: \"{guid}\"")));
        }
        if !of.addresses.is_empty() {
            let addresses = of.addresses.iter().map(|it| format!("\"{it}\""));
            keys.push(format!("addresses: [{}]", joined(addresses)));
        }
        lines.add(format_args!(
            "    {}: {{ {} }}",
            quoted(name),
            keys.join(", ")
        ));
    }
    if !kept.interfaces.is_empty() {
        let of = kept.interfaces.iter();
        let of = of.map(|(name, address)| format!("{}: \"{address}\"", quoted(name)));
        lines.add(format_args!("  interfaces: {{ {} }}", joined(of)));
    }
}

fn model(model: &Model) -> String {
    let mut keys = vec![
        format!("vendor: {:#06x}", model.vendor),
        format!("device: {:#06x}", model.device),
    ];
    keys.extend(model.vf_device.map(|id| format!("vf_device: {id:#06x}")));
    keys.push(format!("subsystem_vendor: {:#06x}", model.subsystem_vendor));
    keys.push(format!("subsystem_device: {:#06x}", model.subsystem_device));
    if model.revision != 0 {
        keys.push(format!("revision: {:#04x}", model.revision));
    }
    let fw_ver = Some(model.fw_ver.clone());
    for (key, text) in [
        ("hca_type", &model.hca_type),
        ("vf_hca_type", &model.vf_hca_type),
        ("fw_ver", &fw_ver),
        ("board_id", &model.board_id),
        ("hw_rev", &model.hw_rev),
    ] {
        keys.extend(text.as_ref().map(|text| format!("{key}: {}", quoted(text))));
    }
    let vfs = model.sriov_totalvfs;
    keys.extend(vfs.map(|total| format!("sriov_totalvfs: {total}")));
    keys.push(format!("pcie_speed: {}", quoted(&model.pcie_speed)));
    keys.push(format!("pcie_width: {}", model.pcie_width));
    keys.join(", ")
}

fn device(device: &Device, profile: &Profile) -> String {
    let netdevs = device.netdevs.iter().map(|name| quoted(name));
    let rate = device.rate.to_string();
    let rate = rate.rsplit_once('(').map_or("", |(_, words)| words);
    let mut keys = vec![
        format!("name: {}", quoted(&device.name)),
        format!("pci: {}", quoted(&device.pci.to_string())),
        format!("model: {}", device.model),
        format!("driver: {}", device.driver),
        format!("numa: {}", device.numa),
        format!("netdevs: [{}]", joined(netdevs)),
        format!("rate: {}", rate.trim_end_matches(')')),
        format!("role: {}", device.role),
    ];
    if !device.topo.0.is_empty() {
        keys.push(format!("topo: {}", row(&device.topo.0)));
    }
    let path = format!("devices.{}.cabled", device.name);
    let mut named = profile.provenance.iter().flat_map(|entry| &entry.of);
    if device.cabled != [1] || named.any(|of| *of == path) {
        keys.push(format!("cabled: [{}]", joined(device.cabled.iter())));
    }
    if device.ports != 1 {
        keys.push(format!("ports: {}", device.ports));
    }
    keys.join(", ")
}

/// `PXB NODE*3 SYS*4`.
fn row(levels: &[TopoLevel]) -> String {
    let runs = levels.chunk_by(|a, b| a == b);
    let runs = runs.map(|run| match run {
        [one] => one.to_string(),
        many => format!("{}*{}", many[0], many.len()),
    });
    runs.collect::<Vec<_>>().join(" ")
}

fn entry(entry: &Entry, lines: &mut Lines) {
    let of = entry.of.iter().map(|path| quoted(path));
    lines.add(format_args!("  - of: [{}]", joined(of)));
    for (mark, text) in [
        ("sourced", &entry.sourced),
        ("captured", &entry.captured),
        ("inferred", &entry.inferred),
        ("plausible", &entry.plausible),
    ] {
        if let Some(text) = text {
            lines.add(format_args!("    {mark}: {}", quoted(text)));
        }
    }
}

fn joined(words: impl Iterator<Item = impl Display>) -> String {
    let words: Vec<String> = words.map(|word| word.to_string()).collect();
    words.join(", ")
}

/// The text unquoted if YAML parses it as a text, otherwise in JSON quotes, which YAML accepts.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(plain)
        && !matches!(
            text,
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if is_word {
        text.to_owned()
    } else {
        always_quoted(text)
    }
}

fn always_quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

//! Checks of texts with a fixed spelling in the kernel or on the command line.

use super::Check;
use crate::ProblemKind;
use crate::profile::Model;

/// Speeds of a PCIe lane, as `pci_speed_string` spells them, and in tenths of a Gb/s.
pub(super) const PCIE_SPEEDS: &[(&str, u32)] = &[
    ("2.5 GT/s PCIe", 25),
    ("5.0 GT/s PCIe", 50),
    ("8.0 GT/s PCIe", 80),
    ("16.0 GT/s PCIe", 160),
    ("32.0 GT/s PCIe", 320),
    ("64.0 GT/s PCIe", 640),
];

/// Widths of a PCIe link (`PCI_EXP_LNKSTA_NLW`).
const PCIE_WIDTHS: &[u8] = &[1, 2, 4, 8, 12, 16, 32];

/// The longest name of an interface (`IFNAMSIZ` without the terminating zero), in bytes.
const LONGEST_INTERFACE: usize = 15;

/// The longest name of an RDMA device (`IB_DEVICE_NAME_MAX` without the terminating zero), in
/// bytes.
const LONGEST_DEVICE: usize = 63;

/// Whether this can be the name of a platform or variant: it is used in a file's name, before a colon, between commas
/// and among wildcards.
///
/// # Errors
/// If it is empty, or has anything but small letters, digits, `-`, `_` and `.`.
pub fn platform_name(name: &str) -> Result<(), ProblemKind> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        Ok(())
    } else {
        Err(ProblemKind::PlatformName(name.to_owned()))
    }
}

impl Check<'_> {
    pub(super) fn spelling(&mut self) {
        self.own_name();
        for (name, model) in &self.platform.profile.models {
            self.model(name, model);
        }
        let devices = &self.platform.profile.devices;
        for (number, device) in devices.iter().enumerate() {
            if !is_file_name(&device.name, LONGEST_DEVICE) {
                let (name, longest) = (device.name.clone(), LONGEST_DEVICE);
                self.flag_device(number, "name", ProblemKind::NoFileName { name, longest });
            }
            for (place, name) in device.netdevs.iter().enumerate() {
                if !is_file_name(name, LONGEST_INTERFACE) {
                    let (name, longest) = (name.clone(), LONGEST_INTERFACE);
                    let key = format!("netdevs.{place}");
                    self.flag_device(number, &key, ProblemKind::NoFileName { name, longest });
                }
            }
        }
        let interfaces = &self.platform.profile.interfaces;
        for (number, interface) in interfaces.iter().enumerate() {
            if !is_file_name(&interface.name, LONGEST_INTERFACE) {
                let (name, longest) = (interface.name.clone(), LONGEST_INTERFACE);
                let path = format!("interfaces.{number}.name");
                self.flag(&path, ProblemKind::NoFileName { name, longest });
            }
        }
    }

    /// The names of the platform and of its variants.
    fn own_name(&mut self) {
        let profile = &self.platform.profile;
        if let Err(problem) = platform_name(&profile.name) {
            self.flag("name", problem);
        }
        for variant in profile.variants.keys() {
            if let Err(problem) = platform_name(variant) {
                self.flag(&format!("variants.{variant}"), problem);
            }
        }
    }

    fn model(&mut self, name: &str, model: &Model) {
        let path = |key: &str| format!("models.{name}.{key}");
        if !PCIE_SPEEDS
            .iter()
            .any(|(text, _)| *text == model.pcie_speed)
        {
            let allowed: Vec<String> = PCIE_SPEEDS
                .iter()
                .map(|(it, _)| format!("`{it}`"))
                .collect();
            let problem = ProblemKind::Spelling {
                what: "speed of a PCIe link",
                text: model.pcie_speed.clone(),
                hint: format!("the kernel writes one of {}", allowed.join(", ")),
            };
            self.flag(&path("pcie_speed"), problem);
        }
        if !PCIE_WIDTHS.contains(&model.pcie_width) {
            let allowed: Vec<String> = PCIE_WIDTHS.iter().map(ToString::to_string).collect();
            let problem = ProblemKind::Spelling {
                what: "width of a PCIe link",
                text: model.pcie_width.to_string(),
                hint: format!("lanes come as {}", allowed.join(", ")),
            };
            self.flag(&path("pcie_width"), problem);
        }
        if model.vendor != 0x15b3 {
            return;
        }
        let pairs = [
            ("hca_type", &model.hca_type, Some(model.device)),
            ("vf_hca_type", &model.vf_hca_type, model.vf_device),
        ];
        for (key, text, device) in pairs {
            if let (Some(text), Some(device)) = (text, device)
                && *text != format!("MT{device}")
            {
                let problem = ProblemKind::Spelling {
                    what: "`hca_type` of this device id",
                    text: text.clone(),
                    hint: format!("mlx5 writes `MT` and the id in decimal, here `MT{device}`"),
                };
                self.flag(&path(key), problem);
            }
        }
    }
}

/// Whether it can be the name of a folder in sysfs (`dev_valid_name`, `ib_device_rename`).
pub(super) fn is_file_name(name: &str, longest: usize) -> bool {
    let fits = (1..=longest).contains(&name.len());
    let odd = |c: char| c == '/' || c == ':' || c.is_whitespace() || c.is_control();
    fits && name != "." && name != ".." && !name.contains(odd)
}

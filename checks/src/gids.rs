//! GID tables: which entries of a port are valid, their types, and their net devices.
//!
//! This is diagnostic output and never gives an event (`lsd 9.1`). With an empty table every queue
//! pair fails with ENODATA; with a type that peers do not share the connection fails. Tables are
//! read on request, not in every poll, because a real one has 256 entries.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use crate::hands::{Answer, Hands, ReadError, Request};
use crate::metrics::{Family, GIDS, Sample, SampleValue};
use crate::name::{DeviceName, PortNumber};

/// The types that a RoCE port has (`Documentation/ABI/stable/sysfs-class-infiniband`).
const ROCE_TYPES: [&str; 2] = ["IB/RoCE v1", "RoCE v2"];

/// The ports whose GID tables are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GidPorts {
    pub(crate) node: String,
    pub(crate) class_folder: String,
    pub(crate) ports: Vec<(DeviceName, PortNumber)>,
}

/// The valid entries of one table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GidTable {
    /// Number of entries by type and net device; either is `None` if it cannot be read.
    pub(crate) entries: BTreeMap<(Option<String>, Option<String>), u64>,
}

impl GidTable {
    /// Reads the table of a port below `folder` (`getGIDCount` of `lsd 9.1`).
    pub(crate) fn read(hands: &dyn Hands, folder: &str) -> Result<GidTable, ReadError> {
        let list = Request::List(format!("{folder}/gids"));
        let mut indices = match hands.fetch(&[list]).pop() {
            Some(Ok(Answer::Names(names))) => names,
            Some(Err(error)) => return Err(error),
            _ => return Err(ReadError::EIO),
        };
        indices.sort_unstable();
        let reads: Vec<Request> = indices
            .iter()
            .map(|index| Request::Read(format!("{folder}/gids/{index}")))
            .collect();
        let answers = hands.fetch(&reads);
        // Some drivers fail the read of an unset entry; an entry whose read hangs may be set.
        if answers.contains(&Err(ReadError::TimedOut)) {
            return Err(ReadError::TimedOut);
        }
        let valid = indices
            .iter()
            .zip(&answers)
            .filter(|(_, answer)| is_valid(answer));
        let reads: Vec<Request> = valid
            .flat_map(|(index, _)| {
                ["types", "ndevs"]
                    .map(|of| Request::Read(format!("{folder}/gid_attrs/{of}/{index}")))
            })
            .collect();
        let mut table = GidTable::default();
        for pair in hands.fetch(&reads).chunks(2) {
            let [kind, owner] = pair else { continue };
            *table.entries.entry((text(kind), text(owner))).or_default() += 1;
        }
        Ok(table)
    }

    /// The number of valid entries.
    pub(crate) fn valid(&self) -> u64 {
        self.entries.values().sum()
    }
}

/// The first net device of an RDMA device by name; `None` if there is none or none can be read
/// (`getNetDevForIBDevice` of `lsd 9.1`).
fn net_device(hands: &dyn Hands, folder: &str) -> Option<String> {
    let list = Request::List(format!("{folder}/device/net"));
    match hands.fetch(&[list]).pop() {
        Some(Ok(Answer::Names(names))) => names.into_iter().min(),
        _ => None,
    }
}

/// The link-local prefix without an interface identifier: an entry that is not filled in.
const EMPTY: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0);

/// Whether the entry is set. An unset entry is all zeros, is the link-local prefix alone, or cannot
/// be read. The kernel writes a GID as an IPv6 address (`_show_port_gid_attr`, `%pI6`).
fn is_valid(answer: &Result<Answer, ReadError>) -> bool {
    let gid = text(answer).and_then(|text| text.parse::<Ipv6Addr>().ok());
    gid.is_some_and(|gid| !gid.is_unspecified() && gid != EMPTY)
}

fn text(answer: &Result<Answer, ReadError>) -> Option<String> {
    let Ok(Answer::Bytes(bytes)) = answer else {
        return None;
    };
    let text = String::from_utf8_lossy(bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

impl GidPorts {
    /// Whether there is no port to count.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// Reads every table. Each port has a value for both RoCE types, so that a type without entries
    /// is shown as 0; a table that cannot be read has no value.
    #[must_use]
    pub fn count(&self, hands: &dyn Hands) -> Family {
        let mut samples = Vec::new();
        for (device, port) in &self.ports {
            let folder = format!("{}/{device}/ports/{port}", self.class_folder);
            let Ok(table) = GidTable::read(hands, &folder) else {
                continue;
            };
            let net_device = net_device(hands, &format!("{}/{device}", self.class_folder));
            let mut counts: BTreeMap<(Option<String>, Option<String>), u64> = BTreeMap::new();
            for ((kind, owner), count) in table.entries {
                let owner = owner.or_else(|| net_device.clone());
                *counts.entry((kind, owner)).or_default() += count;
            }
            for kind in ROCE_TYPES {
                if !counts
                    .keys()
                    .any(|(known, _)| known.as_deref() == Some(kind))
                {
                    counts.insert((Some(kind.to_owned()), net_device.clone()), 0);
                }
            }
            samples.extend(counts.into_iter().map(|((kind, owner), count)| {
                let labels = [
                    &self.node,
                    device.as_str(),
                    &port.to_string(),
                    kind.as_deref().unwrap_or_default(),
                    owner.as_deref().unwrap_or_default(),
                ];
                Sample {
                    labels: labels.map(str::to_owned).into(),
                    value: SampleValue::Number(count),
                }
            }));
        }
        Family {
            series: GIDS,
            samples,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hands::Clocks;

    /// Files by path; a folder is the part before the last `/`.
    struct Files(Vec<(&'static str, &'static str)>);

    impl Hands for Files {
        fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>> {
            let one = |request: &Request| {
                let path = request.path();
                if let Request::List(_) = request {
                    let names = self.0.iter().filter_map(|(file, _)| {
                        let (folder, name) = file.rsplit_once('/')?;
                        (folder == path).then(|| name.to_owned())
                    });
                    let names: Vec<String> = names.collect();
                    let there = !names.is_empty() || path == "/c/mlx5_1/ports/1/gids";
                    return there
                        .then_some(Answer::Names(names))
                        .ok_or(ReadError::ENOENT);
                }
                let file = self.0.iter().find(|(file, _)| *file == path);
                let (_, text) = file.ok_or(ReadError::EINVAL)?;
                Ok(Answer::Bytes(text.as_bytes().to_vec()))
            };
            requests.iter().map(one).collect()
        }

        fn clocks(&self) -> Result<Clocks, ReadError> {
            Ok(Clocks::default())
        }
    }

    fn rendered(ports: &[&str], hands: &dyn Hands) -> Vec<String> {
        let ports = GidPorts {
            node: "n1".to_owned(),
            class_folder: "/c".to_owned(),
            ports: ports
                .iter()
                .map(|name| (DeviceName::from(*name), PortNumber(1)))
                .collect(),
        };
        let lines = ports.count(hands).lines().into_iter();
        lines
            .map(|(_, labels, value)| {
                let labels: Vec<String> = labels.into_iter().map(|(_, text)| text).collect();
                format!("{} {value}", labels.join(","))
            })
            .collect()
    }

    #[test]
    fn valid_entries_are_counted_by_type_and_owner() {
        let files = Files(vec![
            (
                "/c/mlx5_0/ports/1/gids/0",
                "fe80:0000:0000:0000:ba3f:d2ff:fec3:65c4\n",
            ),
            (
                "/c/mlx5_0/ports/1/gids/1",
                "fe80:0000:0000:0000:ba3f:d2ff:fec3:65c4\n",
            ),
            (
                "/c/mlx5_0/ports/1/gids/2",
                "0000:0000:0000:0000:0000:ffff:0a33:ba20\n",
            ),
            (
                "/c/mlx5_0/ports/1/gids/3",
                "0000:0000:0000:0000:0000:0000:0000:0000\n",
            ),
            // The link-local prefix without an interface identifier.
            (
                "/c/mlx5_0/ports/1/gids/4",
                "fe80:0000:0000:0000:0000:0000:0000:0000\n",
            ),
            ("/c/mlx5_0/ports/1/gids/5", "garbage\n"),
            ("/c/mlx5_0/ports/1/gid_attrs/types/0", "IB/RoCE v1\n"),
            ("/c/mlx5_0/ports/1/gid_attrs/types/1", "RoCE v2\n"),
            ("/c/mlx5_0/ports/1/gid_attrs/types/2", "RoCE v2\n"),
            ("/c/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0\n"),
            ("/c/mlx5_0/ports/1/gid_attrs/ndevs/1", "eth0\n"),
            // The owner of the third entry cannot be read: the device's interface is used for it.
            ("/c/mlx5_0/device/net/eth0", ""),
        ]);
        assert_eq!(
            rendered(&["mlx5_0"], &files),
            [
                "n1,mlx5_0,1,IB/RoCE v1,eth0 1",
                "n1,mlx5_0,1,RoCE v2,eth0 2"
            ]
        );
    }

    #[test]
    fn an_empty_table_is_zero_and_an_unreadable_one_is_absent() {
        let files = Files(vec![("/c/mlx5_1/device/net/eth1", "")]);
        assert_eq!(
            rendered(&["mlx5_1", "mlx5_2"], &files),
            [
                "n1,mlx5_1,1,IB/RoCE v1,eth1 0",
                "n1,mlx5_1,1,RoCE v2,eth1 0"
            ]
        );
    }

    #[test]
    fn there_is_none_to_be_counted_without_a_port() {
        let of = |ports: &[PortNumber]| GidPorts {
            node: "n1".to_owned(),
            class_folder: "/c".to_owned(),
            ports: ports
                .iter()
                .map(|port| (DeviceName::from("mlx5_0"), *port))
                .collect(),
        };
        assert!(of(&[]).is_empty());
        assert!(!of(&[PortNumber(1)]).is_empty());
    }
}

//! Dumps of a node's tree: one line per file, or a JSON map of paths and texts.

use super::Snapshot;

/// Reads a dump: lines such as `mlx5_0/ports/1/state = 4: ACTIVE` and `eth0/device ->
/// ../0000:0c:00.0`, or a JSON map from paths to texts. Folders above the device or interface are
/// ignored, except a PCI address.
///
/// # Errors
/// If the dump is empty of usable lines: the first invalid line, or that the JSON is not a map of
/// texts.
pub fn from_dump(text: &str) -> Result<Snapshot, String> {
    let mut snapshot = Snapshot::default();
    if text.trim_start().starts_with('{') {
        let files: std::collections::BTreeMap<String, String> = serde_json::from_str(text)
            .map_err(|error| format!("this is no map of paths and texts: {error}"))?;
        for (path, text) in files {
            place(&mut snapshot, &path, Some(&text), None);
        }
        return Ok(snapshot);
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((path, target)) = line.split_once(" -> ") {
            place(&mut snapshot, path, None, Some(target));
        } else if let Some((path, text)) = line.split_once(" =") {
            place(&mut snapshot, path, Some(text.trim_start()), None);
        } else {
            return Err(format!(
                "line {number} is neither `path = text` nor `path -> target`: `{line}`"
            ));
        }
    }
    Ok(snapshot)
}

/// Adds a file or link to the snapshot; unknown paths are left out.
fn place(snapshot: &mut Snapshot, path: &str, text: Option<&str>, target: Option<&str>) {
    let path = path.trim().trim_start_matches('/');
    let names: Vec<&str> = path.split('/').collect();
    let class = names
        .iter()
        .rposition(|name| matches!(*name, "infiniband" | "net"));
    let (class, below) = match class {
        Some(place) => (names[place], &names[place + 1..]),
        // The path has no class: recognise the device by its ports, or by files that only an RDMA
        // device has.
        None => {
            let rdma = names.get(1).is_some_and(|name| {
                matches!(
                    *name,
                    "ports"
                        | "hca_type"
                        | "board_id"
                        | "fw_ver"
                        | "hw_rev"
                        | "node_type"
                        | "node_guid"
                        | "node_desc"
                        | "sys_image_guid"
                )
            });
            (if rdma { "infiniband" } else { "net" }, &names[..])
        }
    };
    let Some((owner, rest)) = below.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return;
    };
    let address = names
        .iter()
        .take_while(|name| !matches!(**name, "infiniband" | "net"))
        .filter(|name| name.parse::<crate::PciAddress>().is_ok())
        .last();
    if let Some(address) = address {
        snapshot.link(format!("{class}/{owner}/device"), *address);
    }
    let path = format!("{class}/{owner}/{}", rest.join("/"));
    match (text, target) {
        (_, Some(target)) => snapshot.link(path, target),
        // Dumps show an unreadable file as empty.
        (Some(""), None) => snapshot.unreadable(path, "empty in the dump"),
        // Some dumps mask a value by the file's own name.
        (Some(text), None) if rest.last() == Some(&text.trim()) => {
            snapshot.unreadable(path, "masked in the dump");
        }
        (Some(text), None) => snapshot.file(path, text),
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_a_json_map_give_the_same_files() {
        let lines = "mlx5_0/fw_ver = 28.41.1000\nmlx5_0/ports/1/state = 4: ACTIVE\nib0/device -> ../../0000:0c:00.0/\nib0/speed =\n";
        let json = r#"{"/sys/class/infiniband/mlx5_0/fw_ver": "28.41.1000\n",
            "/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n",
            "/sys/bus/pci/devices/0000:0c:00.0/net/ib0/speed": ""}"#;
        for text in [lines, json] {
            let snapshot = from_dump(text).expect("it can be read");
            assert_eq!(
                snapshot.text("infiniband/mlx5_0/fw_ver"),
                Some("28.41.1000")
            );
            assert_eq!(
                snapshot.text("infiniband/mlx5_0/ports/1/state"),
                Some("4: ACTIVE")
            );
            assert_eq!(snapshot.target("net/ib0/device"), Some("0000:0c:00.0"));
            assert_eq!(snapshot.text("net/ib0/speed"), None);
            assert_eq!(snapshot.unread().count(), 1);
            assert_eq!(snapshot.names("infiniband").len(), 1);
        }
    }

    #[test]
    fn a_file_whose_text_is_its_own_name_was_masked() {
        let snapshot = from_dump("mlx5_0/hca_type = hca_type\n").expect("it can be read");
        assert_eq!(snapshot.text("infiniband/mlx5_0/hca_type"), None);
        let unread: Vec<_> = snapshot.unread().collect();
        assert_eq!(
            unread,
            [("infiniband/mlx5_0/hca_type", "masked in the dump")]
        );
    }

    #[test]
    fn a_line_that_says_nothing_is_refused_by_its_number() {
        let error = from_dump("mlx5_0/fw_ver = 1\nwhat is this\n").expect_err("no dump");
        assert!(error.starts_with("line 2 "), "{error}");
    }
}

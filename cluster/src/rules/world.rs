//! Parses a cabling file, which has the switch of each port and nothing else:
//!
//! ```toml
//! world_version = 1
//! [switches]
//! leaf-3 = ["node-1/mlx5_2/1", "node-2/mlx5_2/1"]
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{
    cabling::{CabledPort, Cabling},
    place::{Place, RuleError},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorldText {
    world_version: Spanned<u32>,
    switches: BTreeMap<String, Vec<Spanned<String>>>,
}

/// Parses the cabling of a world.
///
/// # Errors
/// The first mistake, with its place.
pub fn read_cabling(file: &str, text: &str) -> Result<Cabling, RuleError> {
    let place = Place { file, text };
    let hint = "the file holds `world_version = 1` and a table `[switches]`";
    let parsed: WorldText = place.read(hint)?;
    place.version("world_version", &parsed.world_version)?;
    let mut cabling = Cabling::default();
    for (switch, ports) in &parsed.switches {
        for reported in ports {
            let port = port(reported.get_ref()).ok_or_else(|| {
                let cause = format!("invalid port `{}`: `node/device/port`", reported.get_ref());
                place.error(reported.span(), cause, "as in `node-1/mlx5_2/1`")
            })?;
            if let Some(other) = cabling.switch(&port) {
                let cause = format!("`{}` is plugged into `{other}` already", reported.get_ref());
                return Err(place.error(reported.span(), cause, "a port has one cable"));
            }
            cabling.plug(port, switch);
        }
    }
    Ok(cabling)
}

fn port(reported: &str) -> Option<CabledPort> {
    let mut parts = reported.split('/').map(str::to_owned);
    let port = CabledPort {
        node: parts.next()?,
        device: parts.next()?,
        port: parts.next()?,
    };
    let is_whole = [&port.node, &port.device, &port.port]
        .iter()
        .all(|part| !part.is_empty());
    (is_whole && parts.next().is_none()).then_some(port)
}

//! Parses a cabling file, which has the switch of each port and nothing else:
//!
//! ```toml
//! world_version = 1
//! [switches]
//! leaf-3 = ["node-1/mlx5_2/1", "node-2/mlx5_2/1"]
//! ```

use std::collections::BTreeMap;

use files::{FileError, Mistakes, toml::Source};
use serde::Deserialize;
use toml::{Spanned, de::DeValue};

use super::{
    cabling::{CabledPort, Cabling},
    place::{Place, RuleError},
    reader::in_order,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorldText {
    world_version: Spanned<u32>,
    switches: BTreeMap<String, Vec<Spanned<String>>>,
}

/// The keys that it has, with values in which nothing is wrong.
const STAND_IN: &str = "world_version = 1\nswitches = {}\n";

/// Where the keys are told.
const KEYS: &str = "the file holds `world_version = 1` and a table `[switches]`";

/// Parses the cabling of a world.
///
/// # Errors
/// The first mistake, with its place.
pub fn read_cabling(file: &str, text: &str) -> Result<Cabling, RuleError> {
    read_every_cable(file, text).map_err(|mut mistakes| mistakes.swap_remove(0))
}

/// Parses the cabling of a world like [`read_cabling`].
///
/// # Errors
/// Every mistake, at least one, in the order of the text.
pub fn read_every_cable(file: &str, text: &str) -> Result<Cabling, Vec<RuleError>> {
    let keys = KEYS;
    let place = Place(Source { file, text, keys });
    let mut found = Mistakes::default();
    let cabling = place.world(&mut found).map(|world| {
        found.take(place.version("world_version", &world.world_version));
        let mut cabling = Cabling::default();
        for (switch, ports) in &world.switches {
            for reported in ports {
                found.take(place.plug(&mut cabling, reported, switch));
            }
        }
        cabling
    });
    found.or(cabling).map_err(in_order)
}

impl Place<'_> {
    /// The keys of the file, so far as they can be read.
    fn world(&self, found: &mut Mistakes) -> Option<WorldText> {
        let table = found.take(self.0.table())?;
        let value = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
        self.0.part(value, STAND_IN, found).value
    }

    /// Plugs the cable of a port in.
    fn plug(
        &self,
        cabling: &mut Cabling,
        reported: &Spanned<String>,
        switch: &str,
    ) -> Result<(), FileError> {
        let text = reported.get_ref();
        let port = port(text).ok_or_else(|| {
            let cause =
                format!("invalid port `{text}`: `node/device/port`, of which the port is 1 to 255");
            self.error(reported.span(), cause, "as in `node-1/mlx5_2/1`")
        })?;
        if let Some(other) = cabling.switch(&port) {
            let cause = format!("`{text}` is plugged into `{other}` already");
            return Err(self.error(reported.span(), cause, "a port has one cable"));
        }
        cabling.plug(port, switch);
        Ok(())
    }
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
    let is_number = port.port.parse::<u8>().is_ok_and(|number| number > 0);
    (is_whole && is_number && parts.next().is_none()).then_some(port)
}

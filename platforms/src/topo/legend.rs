//! The NIC legend, which maps labels such as `NIC3` to devices.
//!
//! A legend may be missing or incomplete; the other NICs then have no name. Names follow the
//! kernel's rules (`IB_DEVICE_NAME_MAX`, rdma/ib_user_verbs.h).

use std::collections::{BTreeMap, BTreeSet};

use super::error::{TopoError, TopoFault};
use super::glyphs::{Glyph, Place, Reader};
use crate::DeviceName;

/// The longest name of a device, in bytes; the kernel's limit of 64 includes the terminating zero.
const NAME_BYTES_MAX: usize = 63;

/// Reads the legend from the lines below the matrix: names by label. `labels` are the NICs'.
pub(super) fn read(
    lines: &[Vec<Glyph>],
    labels: &[&str],
) -> Result<BTreeMap<String, DeviceName>, TopoError> {
    let mut names = BTreeMap::new();
    let mut taken: BTreeSet<DeviceName> = BTreeSet::new();
    let mut entry_above = false;
    for (number, line) in lines.iter().enumerate() {
        let mut reader = Reader::new(line, Place { line: 0, column: 0 });
        reader.skip_blanks();
        let (place, found) = (reader.place(), reader.found());
        let is_blank = reader.peek().is_none();
        let Some(label) = take_label(&mut reader) else {
            if entry_above && !is_blank {
                // It may be the end of a name that the terminal wrapped.
                return Err(TopoError::at(place, TopoFault::Legend { found }));
            }
            entry_above = false;
            continue;
        };
        entry_above = true;
        let why = match labels.contains(&label.as_str()) {
            false => Some("no column"),
            true => names.contains_key(&label).then_some("there already"),
        };
        if let Some(why) = why {
            return Err(TopoError::at(place, TopoFault::LegendLabel { label, why }));
        }
        reader.skip_blanks();
        let (place, found) = (reader.place(), reader.found());
        let fault = || TopoError::at(place, TopoFault::Legend { found });
        let name = take_name(&mut reader).ok_or_else(fault)?;
        // The tool ends every line, so a text that ends within its last line was cut.
        let ends_in_name = line.last().is_some_and(|glyph| !glyph.char.is_whitespace());
        if number + 1 == lines.len() && ends_in_name {
            return Err(TopoError::at(place, TopoFault::LegendCut(name.0)));
        }
        // `mlx5_` is the beginning of a name, whose end may be in the next line.
        let is_whole = name.0.ends_with(|char: char| char.is_ascii_alphanumeric());
        if !is_whole && !lines.get(number + 1).is_some_and(|line| goes_on(line)) {
            let found = name.0;
            return Err(TopoError::at(place, TopoFault::Legend { found }));
        }
        if labels.contains(&name.as_str()) || !taken.insert(name.clone()) {
            return Err(TopoError::at(place, TopoFault::NameTwice(name.0)));
        }
        names.insert(label, name);
    }
    Ok(names)
}

/// Whether a line is neither blank nor an entry.
fn goes_on(line: &[Glyph]) -> bool {
    let mut reader = Reader::new(line, Place { line: 0, column: 0 });
    reader.skip_blanks();
    reader.peek().is_some() && take_label(&mut reader).is_none()
}

/// Takes `NIC3:`.
fn take_label(reader: &mut Reader) -> Option<String> {
    let mut ahead = reader.clone();
    let number = ahead
        .take("NIC")
        .then(|| ahead.take_while(|char| char.is_ascii_digit()))?;
    let is_label = !number.is_empty() && ahead.take(":");
    *reader = ahead;
    is_label.then(|| format!("NIC{number}"))
}

/// Takes a name and the blanks after it, if the line ends there.
fn take_name(reader: &mut Reader) -> Option<DeviceName> {
    let name =
        reader.take_while(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.'));
    reader.skip_blanks();
    let begins = name.starts_with(|char: char| char.is_ascii_alphabetic());
    let fits = begins && name.len() <= NAME_BYTES_MAX && reader.peek().is_none();
    fits.then_some(DeviceName(name))
}

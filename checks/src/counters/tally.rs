//! Counters that cannot grow any more: they stand at the maximum of their field.

use std::collections::BTreeSet;

use super::table::CounterId;
use crate::name::{DeviceName, PortNumber};

/// The counters that stood at their maximum when they were last read.
pub(crate) type Saturated = BTreeSet<(CounterId, DeviceName, PortNumber)>;

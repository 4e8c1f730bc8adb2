//! Saturated counters: those at the maximum of their field, which cannot grow.

use std::collections::BTreeSet;

use super::table::CounterId;
use crate::name::{DeviceName, PortNumber};

/// The counters that stood at their maximum when they were last read.
pub(crate) type Saturated = BTreeSet<(CounterId, DeviceName, PortNumber)>;

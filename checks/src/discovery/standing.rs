//! Reads the facts that are constant while a device keeps its identity: filters, function, vendor,
//! NUMA node, type.
//!
//! If a fact could not be read, the device is not placed, and the fact is read again in the next
//! poll.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::identity::Draft;
use super::{Discovery, Learnt, Route, fetch_one, slot_key};
use crate::config::NameVerdict;
use crate::hands::{Answer, Hands, ReadError, Request};
use crate::log_record::{Level, LogRecord};
use crate::metadata::Row;
use crate::name::{AssignedRole, DeviceName, PciFunction};
use crate::scope::{self, Placement, Reason};
use crate::snapshot::{Blind, Cause, Facts, Identity, Snapshot};

/// The PCI vendor of NVIDIA networking, once Mellanox (PCI ID database).
const VENDOR: &str = "0x15b3";
/// The driver whose devices are monitored.
const DRIVER: &str = "mlx5_core";

impl Discovery {
    /// Gives every draft its facts, from memory or newly read.
    pub(super) fn read_standing(
        &self,
        hands: &dyn Hands,
        drafts: &mut [Draft],
        snapshot: &mut Snapshot,
        learnt: &mut Learnt,
    ) {
        let mut route = None;
        for draft in drafts {
            let Some(identity) = draft.identity.take() else {
                continue;
            };
            let is_known = draft
                .known
                .as_deref()
                .is_some_and(|facts| facts.identity == identity && facts.placement.is_ok());
            if is_known {
                continue;
            }
            learnt.facts_changed = true;
            let function = match &identity {
                Identity::Link(target) => PciFunction::from_class_link(target),
                Identity::Folder(function) => function.clone(),
            };
            let placement = match self.config.judge_name(&draft.name) {
                NameVerdict::Excluded => Ok(Placement::Out(Reason::Excluded)),
                NameVerdict::NotPinned => Ok(Placement::Out(Reason::NotPinned)),
                verdict => {
                    let pinned = verdict == NameVerdict::Pinned;
                    let routed = route.get_or_insert_with(|| {
                        if pinned {
                            Ok(BTreeSet::new())
                        } else {
                            self.routed_devices(hands, snapshot, learnt)
                        }
                    });
                    self.placement(hands, &draft.name, pinned, routed, snapshot)
                }
            };
            let key = slot_key(&draft.name, function.as_ref());
            let topology = self.metadata.as_ref();
            let is_in_topology = topology
                .is_none_or(|topology| matches!(topology.row(draft.name.as_str()), Row::Full(_)));
            draft.known = Some(Arc::new(Facts {
                identity,
                function,
                key,
                placement,
                is_in_topology,
            }));
        }
    }

    /// The devices behind the interface of the default route.
    fn routed_devices(
        &self,
        hands: &dyn Hands,
        snapshot: &mut Snapshot,
        learnt: &mut Learnt,
    ) -> Result<BTreeSet<String>, Blind> {
        let mut route = self.route.clone();
        if let Route::Unread(_) = route
            && self.policy.takes_unreadable_route_for_none()
        {
            route = Route::Absent;
        }
        if let Route::Unread(_) = route {
            route = match fetch_one(hands, &Request::Read(self.route_path.clone())) {
                Ok(Answer::Bytes(bytes)) => Route::read(Ok(&bytes)),
                Ok(_) => Route::Unread(ReadError::EIO),
                Err(error) => Route::read(Err(error)),
            };
            learnt.route = Some(route.clone());
        }
        let warn = |snapshot: &mut Snapshot, why: &str| {
            let record = LogRecord::new(Level::Warn, "no device is excluded by the default route");
            snapshot.records.push(record.with("why", why));
        };
        match route {
            Route::Unread(error) => {
                let cause = Cause::Failed(error);
                snapshot.troubles.push((self.route_path.clone(), cause));
                Err(Blind::Unreadable(cause))
            }
            Route::Absent => {
                warn(snapshot, "no default route in the route table");
                Ok(BTreeSet::new())
            }
            Route::Interface(interface) => {
                let net = &self.config.sys_class_net;
                let path = format!("{net}/{interface}/device/infiniband");
                match fetch_one(hands, &Request::List(path.clone())) {
                    Ok(Answer::Names(names)) => Ok(names.into_iter().collect()),
                    Err(error) if error.is_absence() => {
                        let why = format!("interface {interface} has no RDMA device behind it");
                        warn(snapshot, &why);
                        Ok(BTreeSet::new())
                    }
                    Err(error) => {
                        snapshot.troubles.push((path, Cause::Failed(error)));
                        Err(Blind::Unreadable(Cause::Failed(error)))
                    }
                    Ok(_) => Err(Blind::Unreadable(Cause::Garbled)),
                }
            }
        }
    }

    fn placement(
        &self,
        hands: &dyn Hands,
        name: &DeviceName,
        pinned: bool,
        routed: &Result<BTreeSet<String>, Blind>,
        snapshot: &mut Snapshot,
    ) -> Result<Placement, Blind> {
        let mut requests = vec![Request::ReadLink(self.path(name, "device/physfn"))];
        if !name.is_mlx5_number() {
            requests.push(Request::ReadLink(self.path(name, "device/driver")));
        }
        let mut answers = hands.fetch(&requests).into_iter();
        let physfn = answers.next().unwrap_or(Err(ReadError::EIO));
        match physfn {
            _ if !self.policy.skips_virtual_functions() => {}
            // An entry of that name marks a VF, whatever it is; `EINVAL` means that it is not a
            // link.
            Ok(_) | Err(ReadError::EINVAL) => {
                return Ok(Placement::Out(Reason::VirtualFunction));
            }
            Err(ReadError::ENOENT) => {}
            Err(error) => return Err(self.blind(requests[0].path(), error, snapshot)),
        }
        if self.policy.requires_totalvfs() {
            let request = Request::Read(self.path(name, "device/sriov_totalvfs"));
            if fetch_one(hands, &request).is_err() {
                return Ok(Placement::Out(Reason::VirtualFunction));
            }
        }
        if let Some(driver) = answers.next()
            && !self
                .policy
                .is_ours(self.is_our_vendor(hands, name, driver, snapshot)?)
        {
            return Ok(Placement::Out(Reason::ForeignVendor));
        }
        let metadata = match &self.metadata {
            Some(metadata) if !pinned => metadata,
            _ => return Ok(Placement::Fixed(AssignedRole::Pinned)),
        };
        let routed = routed.as_ref().map_err(|blind| *blind)?;
        if routed.contains(name.as_str()) && self.policy.skips_default_route() {
            return Ok(Placement::Out(Reason::DefaultRoute));
        }
        let numa_node = self.read_number(hands, name, "device/numa_node", snapshot)?;
        let hca_type = if scope::wants_hca_type(metadata, name) {
            Some(self.read_text(hands, name, "hca_type", snapshot)?)
        } else {
            None
        };
        let why = match metadata.row(name.as_str()) {
            Row::Full(_) => None,
            Row::Short => Some("its row in nic_topology is short"),
            Row::Missing => Some("it is not in nic_topology"),
        };
        if let Some(why) = why {
            let record = LogRecord::new(Level::Warn, "device is classified as all-SYS");
            snapshot
                .records
                .push(record.with("device", name).with("why", why));
        }
        Ok(scope::place(
            metadata,
            name,
            numa_node,
            hca_type.as_deref(),
            &*self.policy,
        ))
    }

    /// A device with the driver's default name is monitored without a further read; otherwise the driver's
    /// link decides and, if that cannot be read, the vendor.
    fn is_our_vendor(
        &self,
        hands: &dyn Hands,
        name: &DeviceName,
        driver: Result<Answer, ReadError>,
        snapshot: &mut Snapshot,
    ) -> Result<bool, Blind> {
        if let Ok(Answer::Target(target)) = driver {
            return Ok(target.rsplit('/').next() == Some(DRIVER));
        }
        let path = self.path(name, "device/vendor");
        match fetch_one(hands, &Request::Read(path.clone())) {
            Ok(Answer::Bytes(bytes)) => Ok(String::from_utf8_lossy(&bytes).trim() == VENDOR),
            // Neither driver nor vendor: a software device.
            Err(ReadError::ENOENT) => Ok(false),
            Ok(_) => Err(Self::garbled(&path, snapshot)),
            Err(error) => Err(self.blind(&path, error, snapshot)),
        }
    }

    fn read_text(
        &self,
        hands: &dyn Hands,
        name: &DeviceName,
        file: &str,
        snapshot: &mut Snapshot,
    ) -> Result<String, Blind> {
        let path = self.path(name, file);
        match fetch_one(hands, &Request::Read(path.clone())) {
            Ok(Answer::Bytes(bytes)) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Ok(_) => Err(Self::garbled(&path, snapshot)),
            Err(error) => Err(self.blind(&path, error, snapshot)),
        }
    }

    fn read_number(
        &self,
        hands: &dyn Hands,
        name: &DeviceName,
        file: &str,
        snapshot: &mut Snapshot,
    ) -> Result<i64, Blind> {
        let text = self.read_text(hands, name, file, snapshot)?;
        text.parse()
            .map_err(|_| Self::garbled(&self.path(name, file), snapshot))
    }
}

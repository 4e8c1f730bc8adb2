//! What the known platforms say about network cards: what a dump lacks is chosen after them.

use std::collections::BTreeSet;

use super::CaptureError;
use crate::profile::Model;
use crate::{Driver, Platforms, Rate};

/// The known cards, each with its driver and its rate.
pub(super) struct KnownCards<'a>(Vec<Card<'a>>);

#[derive(Clone, Copy)]
struct Card<'a> {
    driver: &'a Driver,
    model: &'a Model,
    rate: Rate,
}

impl<'a> KnownCards<'a> {
    pub(super) fn of(known: &'a Platforms) -> Self {
        let cards = known.iter().flat_map(|(_, platform)| {
            let profile = platform.profile();
            profile.devices.iter().filter_map(|device| {
                let model = profile.models.get(&device.model)?;
                Some(Card {
                    driver: platform.driver(&device.driver)?,
                    model,
                    rate: device.rate,
                })
            })
        });
        Self(cards.collect())
    }

    /// The PCI vendor of the cards of a kernel driver, if all known ones are one vendor's.
    pub(super) fn vendor(&self, kernel_driver: &str) -> Option<u16> {
        let of_driver = self
            .0
            .iter()
            .filter(|it| it.driver.kernel_driver == kernel_driver);
        only(of_driver.map(|it| it.model.vendor))
    }

    /// The kernel driver of this vendor's cards, if it is one for all known ones.
    pub(super) fn kernel_driver(&self, vendor: u16) -> Option<&'a str> {
        let of_vendor = self.0.iter().filter(|it| it.model.vendor == vendor);
        only(of_vendor.map(|it| it.driver.kernel_driver.as_str()))
    }

    /// Whether a virtual function of a known card has these ids.
    pub(super) fn is_virtual(&self, vendor: Option<u16>, device: Option<u16>) -> bool {
        device.is_some()
            && self.0.iter().any(|it| {
                vendor.is_none_or(|vendor| it.model.vendor == vendor)
                    && it.model.vf_device == device
            })
    }

    /// A card of this driver and vendor: with the same PCI device id, otherwise of the same rate.
    pub(super) fn like(
        &self,
        driver: &Driver,
        vendor: u16,
        device: Option<u16>,
        rate: Rate,
    ) -> Option<&'a Model> {
        let fits = |it: &&Card<'_>| {
            it.driver.kernel_driver == driver.kernel_driver && it.model.vendor == vendor
        };
        let fitting = || self.0.iter().filter(fits);
        let same = fitting().find(|it| Some(it.model.device) == device);
        let same = same.or_else(|| fitting().find(|it| it.rate == rate));
        same.map(|it| it.model)
    }

    /// The PCI device id of any card of this driver and vendor.
    pub(super) fn any_device(&self, driver: &Driver, vendor: u16) -> Option<u16> {
        let mut fitting = self.0.iter().filter(|it| {
            it.driver.kernel_driver == driver.kernel_driver && it.model.vendor == vendor
        });
        fitting.next().map(|it| it.model.device)
    }
}

/// The value, if all are equal.
fn only<T: Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut values: BTreeSet<T> = values.collect();
    let first = values.pop_first();
    first.filter(|_| values.is_empty())
}

/// The driver file for a kernel driver and a link layer, if there is one.
pub(super) fn driver_file<'a>(
    drivers: &[&'a Driver],
    device: &str,
    module: &str,
    layer: Option<&str>,
) -> Result<&'a Driver, CaptureError> {
    let shows = |driver: &&&Driver| {
        let own = driver.layer.to_string();
        let shown = driver.link_layer_text.as_ref().unwrap_or(&own);
        layer.is_none_or(|layer| shown == layer)
    };
    let of_module = drivers.iter().filter(|it| it.kernel_driver == module);
    let fitting: Vec<&&Driver> = of_module.filter(shows).collect();
    match (fitting.as_slice(), layer) {
        ([driver], _) | ([driver, ..], Some(_)) => Ok(driver),
        ([_, _, ..], None) => Err(CaptureError::NoLayer {
            device: device.to_owned(),
        }),
        ([], _) => Err(CaptureError::NoDriver {
            device: device.to_owned(),
            driver: module.to_owned(),
            layer: layer.unwrap_or("unread").to_owned(),
        }),
    }
}

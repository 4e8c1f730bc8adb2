//! How a variant is laid over its base, and whether every name in the result leads somewhere.

use std::sync::Arc;

use crate::profile::{Change, Device, Profile, Variant};
use crate::{Platform, PlatformError, yaml};

impl Platform {
    /// This platform, as its base, then each of its variants.
    pub(crate) fn with_variants(self) -> Result<Vec<Self>, PlatformError> {
        let base = Arc::clone(&self.profile);
        let mut all = vec![self];
        for (name, variant) in &base.variants {
            let mut platform = Self {
                variant: Some(name.clone()),
                ..all[0].clone()
            };
            platform.profile = Arc::new(platform.with(variant)?);
            all.push(platform);
        }
        Ok(all)
    }

    /// Whether every name leads somewhere, so that making a machine cannot fail.
    pub(crate) fn resolve(&self) -> Result<(), PlatformError> {
        let profile = &self.profile;
        for device in &profile.devices {
            if !self.drivers.contains_key(&device.driver) {
                let known = self.drivers.keys().map(String::as_str);
                return Err(self.unknown("driver", &device.driver, known));
            }
            if !profile.models.contains_key(&device.model) {
                let known = profile.models.keys().map(String::as_str);
                return Err(self.unknown("model", &device.model, known));
            }
        }
        for name in profile.vfs.iter().flat_map(|vfs| &vfs.of) {
            self.place(profile, name)?;
        }
        Ok(())
    }

    /// The profile with the variant laid over it.
    fn with(&self, variant: &Variant) -> Result<Profile, PlatformError> {
        let mut profile = (*self.profile).clone();
        for change in &variant.change {
            for name in &change.devices {
                let place = self.place(&profile, name)?;
                change.apply(&mut profile.devices[place]);
            }
        }
        for name in &variant.drop {
            let place = self.place(&profile, name)?;
            profile.devices.remove(place);
        }
        profile.about = format!("{}; {}", profile.about, variant.about);
        profile.devices.extend(variant.add.iter().cloned());
        profile
            .interfaces
            .extend(variant.interfaces.iter().cloned());
        if let Some(interface) = &variant.default_route {
            profile.default_route = Some(interface.clone()).filter(|name| name != "none");
        }
        if let Some(numa) = &variant.gpu_numa {
            profile.gpus.numa.clone_from(numa);
        }
        if let Some(vfs) = &variant.vfs {
            profile.vfs = Some(vfs.clone());
        }
        if let Some(roles) = variant.roles {
            profile.roles = roles;
        }
        Ok(profile)
    }

    fn place(&self, profile: &Profile, name: &str) -> Result<usize, PlatformError> {
        let mut names = profile.devices.iter().map(|device| device.name.as_str());
        names.position(|known| known == name).ok_or_else(|| {
            self.unknown(
                "device",
                name,
                profile.devices.iter().map(|device| device.name.as_str()),
            )
        })
    }

    fn unknown<'a>(
        &self,
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> PlatformError {
        let known: Vec<&str> = known.collect();
        let hint = match yaml::nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", known.join(", ")),
        };
        PlatformError::Unknown {
            platform: self.name(),
            what,
            name: name.to_owned(),
            hint,
        }
    }
}

impl Change {
    fn apply(&self, device: &mut Device) {
        fn set<T: Clone>(field: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                field.clone_from(value);
            }
        }
        set(&mut device.name, &self.name);
        set(&mut device.model, &self.model);
        set(&mut device.driver, &self.driver);
        set(&mut device.netdevs, &self.netdevs);
        set(&mut device.rate, &self.rate);
        set(&mut device.role, &self.role);
        set(&mut device.topo, &self.topo);
        set(&mut device.cabled, &self.cabled);
        set(&mut device.ports, &self.ports);
    }
}

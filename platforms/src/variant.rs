//! Applies a variant to its base, and checks that every name in the result exists.

use std::sync::Arc;

use files::nearest;

use crate::Platform;
use crate::profile::{Change, Device, Profile, Variant};
use crate::source::Mistake;

impl Platform {
    /// This platform as its base, then each of its variants, as far as its names exist, and the names that do not.
    pub(crate) fn with_variants(self) -> Vec<(Self, Vec<Mistake>)> {
        let base = Arc::clone(&self.profile);
        let mut all = vec![(self, Vec::new())];
        for (name, variant) in &base.variants {
            let mut platform = Self {
                variant: Some(name.clone()),
                ..all[0].0.clone()
            };
            let (profile, unknown) = platform.with(variant);
            platform.profile = Arc::new(profile);
            all.push((platform, unknown));
        }
        all
    }

    /// Every name that does not exist; without one, building a machine cannot fail.
    pub(crate) fn resolve(&self) -> Vec<Mistake> {
        let profile = &self.profile;
        let mut unknown = Vec::new();
        for (number, device) in profile.devices.iter().enumerate() {
            let path = |key| self.path_of_device(number, key);
            if !self.drivers.contains_key(&device.driver) {
                let known = self.drivers.keys().map(String::as_str);
                unknown.push(self.unknown(&path("driver"), "driver", &device.driver, known));
            }
            if !profile.models.contains_key(&device.model) {
                let known = profile.models.keys().map(String::as_str);
                unknown.push(self.unknown(&path("model"), "model", &device.model, known));
            }
        }
        for name in profile.vfs.iter().flat_map(|vfs| &vfs.of) {
            let place = self.place(profile, name, || self.path_of("vfs.of"));
            unknown.extend(place.err().map(|mistake| *mistake));
        }
        unknown
    }

    /// Whether every name of its devices exists.
    pub(crate) fn can_be_built(&self) -> bool {
        let mut devices = self.profile.devices.iter();
        devices.all(|device| {
            self.drivers.contains_key(&device.driver)
                && self.profile.models.contains_key(&device.model)
        })
    }

    /// The profile with the variant applied, and the names of devices that do not exist. What a device that does not exist
    /// would be called is not known: behind a change of its name, none is looked for.
    fn with(&self, variant: &Variant) -> (Profile, Vec<Mistake>) {
        let mut profile = (*self.profile).clone();
        let mut unknown = Vec::new();
        let mut are_names_known = true;
        let below = |key: String| {
            let variant = self.variant.as_deref().unwrap_or_default();
            format!("variants.{variant}.{key}")
        };
        for (number, change) in variant.change.iter().enumerate() {
            for name in &change.devices {
                let path = || below(format!("change.{number}.devices"));
                match self.place(&profile, name, path) {
                    Ok(place) => change.apply(&mut profile.devices[place]),
                    Err(mistake) if are_names_known => {
                        unknown.push(*mistake);
                        are_names_known = change.name.is_none();
                    }
                    Err(_) => {}
                }
            }
        }
        for name in &variant.drop {
            match self.place(&profile, name, || below("drop".to_owned())) {
                Ok(place) => {
                    profile.devices.remove(place);
                }
                Err(mistake) if are_names_known => unknown.push(*mistake),
                Err(_) => {}
            }
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
        (profile, unknown)
    }

    fn place(
        &self,
        profile: &Profile,
        name: &str,
        path: impl Fn() -> String,
    ) -> Result<usize, Box<Mistake>> {
        let mut names = profile.devices.iter().map(|device| device.name.as_str());
        names.position(|known| known == name).ok_or_else(|| {
            let known = profile.devices.iter().map(|device| device.name.as_str());
            Box::new(self.unknown(&path(), "device", name, known))
        })
    }

    fn unknown<'a>(
        &self,
        path: &str,
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Mistake {
        let known: Vec<&str> = known.collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if what == "driver" => format!(
                "there are: {}; to use a driver of your own, name its file too, or the folder that holds both files",
                known.join(", ")
            ),
            None => format!("there are: {}", known.join(", ")),
        };
        let error = format!(
            "platform `{}` names {what} `{name}`, which does not exist",
            self.name()
        );
        Mistake {
            path: path.to_owned(),
            about: (what, name.to_owned()),
            needs: match what {
                "device" => &["devices"],
                "model" => &["models"],
                _ => &[],
            },
            error: self.source.wrong(path, error).hint(hint),
        }
    }

    /// The path in the file of the value at `path`: in the variant if that states it.
    pub(crate) fn path_of(&self, path: &str) -> String {
        let Some(variant) = &self.variant else {
            return path.to_owned();
        };
        let own = format!("variants.{variant}.{path}");
        let is_there = |path: &str| {
            let places = self.source.places();
            places.is_some_and(|places| places.find(path).is_some())
        };
        if is_there(&own) {
            own
        } else if is_there(path) {
            path.to_owned()
        } else {
            format!("variants.{variant}")
        }
    }

    /// The path of a device's key in the file: in the variant if that adds or changes it.
    pub(crate) fn path_of_device(&self, number: usize, key: &str) -> String {
        let Some(variant) = &self.variant else {
            return format!("devices.{number}.{key}");
        };
        let name = &self.profile.devices[number].name;
        let Some(places) = self.source.places() else {
            return format!("variants.{variant}");
        };
        let added = format!("variants.{variant}.add.{name}.{key}");
        if places.find(&added).is_some() {
            return added;
        }
        let changes = (0..).map(|change| format!("variants.{variant}.change.{change}"));
        let mut changes = changes.take_while(|change| places.find(change).is_some());
        let changed = changes.find(|change| {
            let is_it = places.says(&format!("{change}.devices"), name)
                || places.says(&format!("{change}.name"), name);
            is_it && places.find(&format!("{change}.{key}")).is_some()
        });
        match changed {
            Some(change) => format!("{change}.{key}"),
            None => format!("devices.{}.{key}", self.base_name(name)),
        }
    }

    /// The name that a device of the variant has in the base.
    fn base_name<'a>(&'a self, name: &'a str) -> &'a str {
        let variant = self.variant.as_ref();
        let variant = variant.and_then(|variant| self.profile.variants.get(variant));
        let mut changes = variant.into_iter().flat_map(|variant| &variant.change);
        let renamed = changes.find(|change| change.name.as_deref() == Some(name));
        let before = renamed.and_then(|change| change.devices.first());
        before.map_or(name, String::as_str)
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

//! The catalogue: every platform and variant, the shipped ones and a vendor's.
//!
//! It reads and checks the files; a platform in the catalogue can build machines without errors.
//! Start at [`Platforms::shipped`] and [`Platforms::get`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use files::{FileError, yaml};
use include_dir::{Dir, include_dir};

use crate::name::{NAME_HINT, name_mistake};
use crate::profile::Profile;
use crate::rest::CountersAtRest;
use crate::source::{Mistake, Source, first};
use crate::{Driver, Platform};

/// Every platform known, shipped ones and a vendor's own.
#[derive(Clone, Debug)]
pub struct Platforms {
    all: BTreeMap<String, Platform>,
}

/// The PCI vendor of NVIDIA's network cards, which monitors watch by default (`lsd 5.3`).
pub const NVIDIA_NETWORKING: u16 = 0x15b3;

/// What a mistake in a name of the file's own is about.
pub(crate) const A_NAME: &str = "name";

static DRIVERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/drivers");
static PROFILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/profiles");

impl Platforms {
    /// The shipped platforms.
    ///
    /// # Panics
    /// If a shipped file is invalid, which a test excludes.
    #[must_use]
    pub fn shipped() -> Self {
        Self::read(&[]).expect("the shipped platforms are read by a test")
    }

    /// The shipped platforms and those in `texts`: file name and text of each file of a vendor's
    /// folder. A file with the key `driver_version` is a driver, any other a platform.
    ///
    /// # Errors
    /// The first file that is invalid or does not fit the others.
    pub fn read(texts: &[(&str, &str)]) -> Result<Self, FileError> {
        let shipped: Vec<(String, &str)> = Self::shipped_texts().collect();
        let shipped = shipped.iter().map(|(file, text)| (file.as_str(), *text));
        let all: Vec<(&str, &str)> = shipped.chain(texts.iter().copied()).collect();
        Self::of_texts(&all)
    }

    /// The texts of the shipped files, by file name, as starting points for new ones.
    pub fn shipped_texts() -> impl Iterator<Item = (String, &'static str)> {
        let folders = [("drivers", &DRIVERS), ("profiles", &PROFILES)].into_iter();
        let files = folders.flat_map(|(folder, dir)| dir.files().map(move |file| (folder, file)));
        files.map(|(folder, file)| {
            let name = format!("{folder}/{}", file.path().display());
            (name, file.contents_utf8().expect("a text in UTF-8"))
        })
    }

    /// The texts that are not shipped, by file name.
    pub fn own_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let profiles = self.all.values().map(|platform| &platform.source);
        let drivers = self.all.values().next().into_iter();
        let drivers = drivers.flat_map(|platform| platform.drivers.values().map(|it| &it.source));
        let texts = profiles.chain(drivers);
        let shipped: BTreeMap<String, &str> = Self::shipped_texts().collect();
        let texts: BTreeMap<&str, &str> = texts
            .map(|source| (source.file.as_str(), source.text.as_str()))
            .filter(|(file, text)| shipped.get(*file) != Some(text))
            .collect();
        texts.into_iter()
    }

    /// Every platform and variant, by name (`h100-oci`, `h100-oci:no-default-route`).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Platform)> {
        self.all
            .iter()
            .map(|(name, platform)| (name.as_str(), platform))
    }

    /// The platform of this name; a variant follows a colon.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Platform> {
        self.all.get(name)
    }

    /// The same platforms for a monitor that watches the cards of these PCI vendors, and where NVIDIA is one of them the cards
    /// that the documents take for NVIDIA's ([`Platform::watches`]). One that does not need the matrix of
    /// GPUs and NICs starts on machines without it too.
    #[must_use]
    pub fn for_monitor(mut self, vendors: &BTreeSet<u16>, needs_topology: bool) -> Self {
        let vendors = Arc::new(vendors.clone());
        for platform in self.all.values_mut() {
            platform.vendors = Arc::clone(&vendors);
            platform.by_name = vendors.contains(&NVIDIA_NETWORKING);
            platform.needs_topology = needs_topology;
        }
        self
    }

    /// The same platforms for a monitor that goes by the PCI vendor alone.
    #[must_use]
    pub fn by_vendor_alone(mut self) -> Self {
        for platform in self.all.values_mut() {
            platform.by_name = false;
        }
        self
    }

    fn of_texts(texts: &[(&str, &str)]) -> Result<Self, FileError> {
        let is_driver = |text: &str| text.lines().any(|line| line.starts_with("driver_version:"));
        let mut drivers: BTreeMap<String, Driver> = BTreeMap::new();
        for (file, text) in texts.iter().filter(|(_, text)| is_driver(text)) {
            let mut driver: Driver = yaml::read(file, text)?;
            driver.source = Arc::new(Source::new(file, text));
            first(of_driver(&driver, drivers.contains_key(&driver.name)))?;
            drivers.insert(driver.name.clone(), driver);
        }
        let counters = Arc::new(CountersAtRest::of(&drivers, &BTreeMap::new()));
        let drivers = Arc::new(drivers);
        let vendors = Arc::new(BTreeSet::from([NVIDIA_NETWORKING]));
        let mut all: BTreeMap<String, Platform> = BTreeMap::new();
        for (file, text) in texts.iter().filter(|(_, text)| !is_driver(text)) {
            let profile: Arc<Profile> = Arc::new(yaml::read(file, text)?);
            let source = Arc::new(Source::new(file, text));
            let is_known = all.contains_key(&profile.name);
            first(of_profile(&source, &profile, is_known))?;
            let counters = if profile.counters.is_empty() {
                Arc::clone(&counters)
            } else {
                Arc::new(CountersAtRest::of(&drivers, &profile.counters))
            };
            let base = Platform {
                profile,
                variant: None,
                counters,
                drivers: Arc::clone(&drivers),
                vendors: Arc::clone(&vendors),
                by_name: true,
                needs_topology: true,
                source,
            };
            for (platform, unknown) in base.with_variants() {
                first(unknown)?;
                first(platform.resolve())?;
                all.insert(platform.name(), platform);
            }
        }
        Ok(Self { all })
    }
}

/// What a driver cannot be read with; `is_known` says whether there is another one of its name.
pub(crate) fn of_driver(driver: &Driver, is_known: bool) -> Vec<Mistake> {
    let source = &driver.source;
    let version = versioned(source, "driver_version", driver.driver_version);
    let mut mistakes: Vec<Mistake> = version.into_iter().collect();
    mistakes.extend(driver.complete());
    mistakes.extend(named(source, "name", &driver.name));
    mistakes.extend(unique(source, &driver.name, is_known));
    mistakes
}

/// What a platform cannot be read with, apart from names in it that do not exist; `is_known` says whether there is another
/// one of its name.
pub(crate) fn of_profile(source: &Source, profile: &Profile, is_known: bool) -> Vec<Mistake> {
    let version = versioned(source, "platform_version", profile.platform_version);
    let mut mistakes: Vec<Mistake> = version.into_iter().collect();
    mistakes.extend(named(source, "name", &profile.name));
    let variants = profile.variants.keys();
    mistakes.extend(
        variants.filter_map(|variant| named(source, &format!("variants.{variant}"), variant)),
    );
    mistakes.extend(unique(source, &profile.name, is_known));
    mistakes
}

fn versioned(source: &Source, key: &str, version: u32) -> Option<Mistake> {
    (version != 1).then(|| {
        let what = format!("version {version} is not known");
        let error = source.wrong(key, what).hint(format!("write `{key}: 1`"));
        mistake(key, ("version", version.to_string()), error)
    })
}

fn named(source: &Source, path: &str, name: &str) -> Option<Mistake> {
    let what = name_mistake(name)?;
    let error = source.wrong(path, what).hint(NAME_HINT);
    Some(mistake(path, (A_NAME, name.to_owned()), error))
}

fn unique(source: &Source, name: &str, is_known: bool) -> Option<Mistake> {
    is_known.then(|| {
        let what = format!("`{name}` is described twice");
        let error = source.wrong("name", what).hint("give it another name");
        mistake("name", ("twice", name.to_owned()), error)
    })
}

fn mistake(path: &str, about: (&'static str, String), error: FileError) -> Mistake {
    Mistake {
        path: path.to_owned(),
        about,
        needs: &[],
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_a_variant_and_a_driver_have_names_that_are_no_paths() {
        let (file, text) = Platforms::shipped_texts()
            .find(|(_, text)| text.lines().any(|line| line == "name: h100-oci"))
            .unwrap();
        let refused = |text: &str| {
            let error = Platforms::read(&[(&file, text)]).unwrap_err().to_string();
            assert!(error.contains("has the character '/'"), "{error}");
            assert!(error.starts_with(&format!("{file}:")), "{error}");
        };
        refused(&text.replace("name: h100-oci\n", "name: \"../../../x\"\n"));
        let variant = "no-default-route:";
        assert!(text.contains(variant));
        refused(&text.replace(variant, "\"../x\":"));
        let (_, driver) = Platforms::shipped_texts()
            .find(|(_, text)| text.lines().any(|line| line.starts_with("driver_version:")))
            .unwrap();
        let name = driver
            .lines()
            .find(|line| line.starts_with("name: "))
            .unwrap();
        refused(&driver.replace(name, "name: a/b"));
    }
}

//! The catalogue: every platform and variant, shipped ones and a vendor's own.
//!
//! Reading is all that happens here; a platform that was read can make machines without failing.
//! Start at [`Platforms::shipped`] and [`Platforms::get`].

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::profile::Profile;
use crate::yaml::{self, YamlError};
use crate::{Driver, Platform};

/// Every platform known, shipped ones and a vendor's own.
#[derive(Clone, Debug)]
pub struct Platforms {
    all: BTreeMap<String, Platform>,
}

/// Why a platform could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlatformError {
    /// The text is not what it should be.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// Two files describe platforms, or drivers, of one name.
    #[error("`{name}` is described twice: the second time in `{file}`\nhint: give it another name")]
    Twice {
        /// The name.
        name: String,
        /// The second file.
        file: String,
    },
    /// The form's version is not known.
    #[error(
        "`{file}` has version {version}, only 1 is known\nhint: write `platform_version: 1` (or `driver_version: 1`)"
    )]
    Version {
        /// The file.
        file: String,
        /// Its version.
        version: u32,
    },
    /// A driver lacks a face, a timing or the like.
    #[error(
        "driver `{driver}` says nothing about `{missing}`\nhint: every condition needs a face, every duration a value, every restart its `keeps`"
    )]
    Incomplete {
        /// The driver.
        driver: String,
        /// What is missing.
        missing: String,
    },
    /// A name leads nowhere.
    #[error("platform `{platform}` names {what} `{name}`, which is not there\nhint: {hint}")]
    Unknown {
        /// The platform, with its variant.
        platform: String,
        /// What is named: `driver`, `model`, `device` …
        what: &'static str,
        /// The name.
        name: String,
        /// The names that are there.
        hint: String,
    },
}

/// The files that ship: name and text.
const SHIPPED: &[(&str, &str)] = &[
    ("drivers/hfi1.yaml", include_str!("../drivers/hfi1.yaml")),
    (
        "drivers/mlx5-eth.yaml",
        include_str!("../drivers/mlx5-eth.yaml"),
    ),
    (
        "drivers/mlx5-ib.yaml",
        include_str!("../drivers/mlx5-ib.yaml"),
    ),
    (
        "profiles/a100-oci.yaml",
        include_str!("../profiles/a100-oci.yaml"),
    ),
    (
        "profiles/dgx-a100.yaml",
        include_str!("../profiles/dgx-a100.yaml"),
    ),
    (
        "profiles/dgx-h100.yaml",
        include_str!("../profiles/dgx-h100.yaml"),
    ),
    (
        "profiles/gb200-nvl4.yaml",
        include_str!("../profiles/gb200-nvl4.yaml"),
    ),
    (
        "profiles/h100-oci.yaml",
        include_str!("../profiles/h100-oci.yaml"),
    ),
    (
        "profiles/l40-onprem.yaml",
        include_str!("../profiles/l40-onprem.yaml"),
    ),
    (
        "profiles/l40s-oci.yaml",
        include_str!("../profiles/l40s-oci.yaml"),
    ),
    (
        "profiles/l40s-onprem.yaml",
        include_str!("../profiles/l40s-onprem.yaml"),
    ),
    (
        "profiles/opa-cn5000.yaml",
        include_str!("../profiles/opa-cn5000.yaml"),
    ),
    (
        "profiles/two-rail-vm.yaml",
        include_str!("../profiles/two-rail-vm.yaml"),
    ),
];

impl Platforms {
    /// The platforms that ship with nicdrill.
    ///
    /// # Panics
    /// If a shipped file is broken, which a test rules out.
    #[must_use]
    pub fn shipped() -> Self {
        Self::of_texts(SHIPPED).expect("the shipped platforms are read by a test")
    }

    /// The shipped platforms and those in `texts`: file name and text of each file of a vendor's
    /// folder. A file is a driver if it has the key `driver_version`, else a platform.
    ///
    /// # Errors
    /// The first file that cannot be read or does not fit the others.
    pub fn read(texts: &[(&str, &str)]) -> Result<Self, PlatformError> {
        let all: Vec<(&str, &str)> = SHIPPED.iter().chain(texts).copied().collect();
        Self::of_texts(&all)
    }

    /// The texts of the shipped files, by file name: a vendor's starting point.
    pub fn shipped_texts() -> impl Iterator<Item = (&'static str, &'static str)> {
        SHIPPED.iter().copied()
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

    fn of_texts(texts: &[(&str, &str)]) -> Result<Self, PlatformError> {
        let is_driver = |text: &str| text.lines().any(|line| line.starts_with("driver_version:"));
        let mut drivers: BTreeMap<String, Driver> = BTreeMap::new();
        for (file, text) in texts.iter().filter(|(_, text)| is_driver(text)) {
            let driver: Driver = yaml::read(file, text)?;
            versioned(file, driver.driver_version)?;
            driver.complete()?;
            unique(file, &driver.name, drivers.contains_key(&driver.name))?;
            drivers.insert(driver.name.clone(), driver);
        }
        let drivers = Arc::new(drivers);
        let mut all: BTreeMap<String, Platform> = BTreeMap::new();
        for (file, text) in texts.iter().filter(|(_, text)| !is_driver(text)) {
            let profile: Arc<Profile> = Arc::new(yaml::read(file, text)?);
            versioned(file, profile.platform_version)?;
            unique(file, &profile.name, all.contains_key(&profile.name))?;
            let base = Platform {
                profile,
                variant: None,
                drivers: Arc::clone(&drivers),
                source: Arc::new(((*file).to_owned(), (*text).to_owned())),
            };
            for platform in base.with_variants()? {
                platform.resolve()?;
                all.insert(platform.name(), platform);
            }
        }
        Ok(Self { all })
    }
}

fn versioned(file: &str, version: u32) -> Result<(), PlatformError> {
    match version {
        1 => Ok(()),
        _ => Err(PlatformError::Version {
            file: file.to_owned(),
            version,
        }),
    }
}

fn unique(file: &str, name: &str, known: bool) -> Result<(), PlatformError> {
    match known {
        false => Ok(()),
        true => Err(PlatformError::Twice {
            name: name.to_owned(),
            file: file.to_owned(),
        }),
    }
}

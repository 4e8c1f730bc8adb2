//! A scenario file as parsed, before it is resolved in a world.
//!
//! [`read`] parses one; [`Scenario::in_world`] resolves it to a [`crate::Story`].

use std::collections::BTreeSet;

use files::{Mistakes, Node, Place, YamlValue, did_you_mean, yaml};
use platforms::{DeviceName, NodeName, Platform, Platforms};
use terms::Arm;

use crate::cluster::Cable;
use crate::context::Context;
use crate::error::{ScenarioError, Unfit};
use crate::expect::ExpectLine;
use crate::fitness::Fit;
use crate::frame::{Frame, VERSION, frame, keys};
use crate::keys::{Keys, MapForm};
use crate::kind::Kind;
use crate::plot::plot;
use crate::reader::{Fields, Source};
use crate::resolve;
use crate::resolved_world::ResolvedWorld;
use crate::step::{GivenSpec, StepSpec};
use crate::story::Story;
use crate::values::POLLS_MAX;
use crate::world::World;

/// A parsed scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) covers: Vec<String>,
    pub(crate) cover_places: Vec<Place>,
    pub(crate) frame: Frame,
    pub(crate) given: Vec<GivenSpec>,
    pub(crate) timeline: Place,
    pub(crate) steps: Vec<StepSpec>,
}

/// A world at rest, in which scenarios can be resolved.
#[derive(Clone, Debug)]
pub struct AtRest {
    pub(crate) resolved: ResolvedWorld,
}

impl AtRest {
    /// A world of one node with this name and platform.
    #[must_use]
    pub fn new(node: &NodeName, platform: &Platform) -> Self {
        Self {
            resolved: ResolvedWorld::new(node, platform),
        }
    }

    /// A world of several nodes.
    ///
    /// # Errors
    /// A name in the world's file that no platform has, with its place.
    pub fn of_world(world: &World, platforms: &Platforms) -> Result<Self, ScenarioError> {
        let known: Vec<&str> = platforms.iter().map(|(name, _)| name).collect();
        Ok(Self {
            resolved: ResolvedWorld::of_world(world, |name| platforms.get(name), &known)?,
        })
    }

    /// Every cable between a switch and a port.
    #[must_use]
    pub fn cables(&self) -> Vec<Cable> {
        self.resolved.cables()
    }
}

/// Reads a scenario. `file` is the name that errors carry; its last two parts name the scenario.
///
/// # Errors
/// Every mistake in the text that can be found without a world, and every word that is not
/// implemented, each with its place.
pub fn read(file: &str, text: &str) -> Result<Scenario, ScenarioError> {
    let root = match yaml::read(file, text) {
        Ok(root) => root,
        Err(error) => {
            // Twins among the keys are no reason to stop reading.
            let Some((root, twins)) = yaml::read_despite_twins(file, text) else {
                return Err(error.into());
            };
            let mut mistakes = ScenarioError::from(error);
            mistakes.extend(twins);
            // Which of two values is meant decides what else is wrong.
            let mut mistakes = mistakes.sorted();
            mistakes.extend(scenario(file, text, &root).err().into_iter().flatten());
            return Err(mistakes);
        }
    };
    scenario(file, text, &root)
}

/// The scenario in a text that was read.
fn scenario(file: &str, text: &str, root: &Node) -> Result<Scenario, ScenarioError> {
    let source = Source { file, text };
    let fields = source.open_map(root, "a scenario")?;
    let nobody = BTreeSet::new();
    if let Some(version) = fields.get("scenario_version") {
        // Of another version nothing else can be said.
        VERSION.parse(&Context::new(source, &nobody), version)?;
    }
    for part in name_of(file).split('/') {
        source.refuse_odd_name(root.place, part)?;
    }
    let names = handle_names(&fields);
    let (frame, (given, steps)) = fields.only(&source, keys(MapForm::bare()).names(), || {
        let frame = frame().parse(&Context::new(source, &nobody), &fields);
        let plot = plot().parse(&Context::new(source, &names), &fields);
        Mistakes::in_both(frame, plot)
    })?;
    let last = steps.iter().map(StepSpec::last).max().unwrap_or_default();
    let end = frame.until.unwrap_or_default().max(last);
    let ticks = frame.ticks.last_until(end);
    if ticks > u64::from(POLLS_MAX) {
        let keys = ["until", "tick", "timeline"];
        let at = keys.into_iter().find_map(|key| fields.get(key));
        let place = at.map_or(root.place, |node| node.place);
        let what = format!("the story has {ticks} ticks, at most {POLLS_MAX} are played");
        return Err(source
            .wrong(place, what)
            .hint("end earlier, or write a longer `tick`"));
    }
    if let (Some(until), Some(node)) = (frame.until, fields.get("until"))
        && until < last
    {
        let what = format!("the story ends at {until}, before its last line at {last}");
        return Err(source
            .wrong(node.place, what)
            .hint("leave `until` out, or end later"));
    }
    let mut lines = steps.iter().flat_map(|step| &step.expect);
    if frame.arms.contains(&Arm::Memory)
        && let Some(line) = lines.find_map(ExpectLine::process_only)
    {
        return Err(source
            .wrong(line.place, "only a process answers this")
            .hint("write `arms: [ process ]` in the scenario"));
    }
    let (covers, cover_places) = frame.covers.iter().cloned().unzip();
    Ok(Scenario {
        file: file.to_owned(),
        text: text.to_owned(),
        covers,
        cover_places,
        frame,
        given: given.unwrap_or_default(),
        timeline: fields.place_of("timeline"),
        steps,
    })
}

/// `family/name` of a file.
fn name_of(file: &str) -> String {
    let path = file
        .strip_suffix(".yaml")
        .or_else(|| file.strip_suffix(".yml"));
    let path = path.unwrap_or(file);
    let mut parts = path.rsplit('/');
    match (parts.next(), parts.next()) {
        (Some(name), Some(family)) if !["", ".", ".."].contains(&family) => {
            format!("{family}/{name}")
        }
        (Some(name), _) => name.to_owned(),
        (None, _) => path.to_owned(),
    }
}

/// The names under `let`, whatever they are declared as.
fn handle_names(fields: &Fields<'_>) -> BTreeSet<String> {
    match fields.get("let").map(|node| &node.value) {
        Some(YamlValue::Map(pairs)) => pairs.iter().map(|(key, _)| key.name.clone()).collect(),
        _ => BTreeSet::new(),
    }
}

impl Scenario {
    /// `family/name`, from the file's place.
    #[must_use]
    pub fn name(&self) -> String {
        name_of(&self.file)
    }

    /// The folder it is in, such as `port`; empty if there is none.
    #[must_use]
    pub fn family(&self) -> String {
        self.name()
            .split_once('/')
            .map(|(family, _)| family.to_owned())
            .unwrap_or_default()
    }

    /// The title line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.frame.title
    }

    /// Its purpose.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.frame.why
    }

    /// The ids of the clauses it covers.
    #[must_use]
    pub fn covers(&self) -> &[String] {
        &self.covers
    }

    /// The arms in which it can be played.
    #[must_use]
    pub fn arms(&self) -> &[Arm] {
        &self.frame.arms
    }

    /// The file it was read from.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The world of several nodes that it needs; `None` for one that applies to platforms.
    #[must_use]
    pub fn world(&self) -> Option<&str> {
        self.frame.world.as_ref().map(|(name, _)| name.as_str())
    }

    /// The platforms that it names; `None` if it names none and may fit every one.
    #[must_use]
    pub fn platforms_named(&self) -> Option<Vec<&str>> {
        self.frame.fitness.names()
    }

    /// Whether it names platforms, to be taken or left out, so that a new machine may be left out by mistake.
    #[must_use]
    pub fn names_platforms(&self) -> bool {
        self.frame.fitness.named().next().is_some()
    }

    /// Why it names platforms, if it says so.
    #[must_use]
    pub fn platforms_because(&self) -> Option<&str> {
        self.frame.fitness.because()
    }

    /// An error at the place where it names its world.
    #[must_use]
    pub fn unknown_world<'k>(&self, known: impl IntoIterator<Item = &'k str>) -> ScenarioError {
        let (name, place) = self.frame.world.clone().unwrap_or_default();
        self.source().unknown(place, "world", &name, known)
    }

    /// Whether it applies to this platform, and why not.
    #[must_use]
    pub fn fits(&self, platform: &Platform) -> Fit {
        match self.in_world(&NodeName::from("node-a"), platform) {
            Err(Unfit::NotApplicable { reason }) => Fit::No { reason },
            Ok(_) | Err(Unfit::Wrong(_)) => Fit::Yes,
        }
    }

    /// The lines that expect something, each with its place, whether or not they fit a platform.
    pub fn lines(&self) -> impl Iterator<Item = (crate::FilePlace, &str)> {
        let lines = self.steps.iter().flat_map(|step| &step.expect);
        let leaves = lines.flat_map(|line| {
            let leaves = line.leaves().into_iter();
            leaves.map(|leaf| (leaf.place, line.text.as_str()))
        });
        leaves.map(|(place, text)| (self.source().place(place), text))
    }

    /// Checks that each platform that `platforms:` names is one of these.
    ///
    /// # Errors
    /// Each name that is none of them, with its place and the nearest name.
    pub fn check_platforms(&self, known: &[&str]) -> Result<(), ScenarioError> {
        self.frame.fitness.check_names(&self.source(), known)
    }

    /// Checks that each device that a handle names exists on a platform that the scenario applies to. A scenario for a
    /// world is checked when it is resolved there.
    ///
    /// # Errors
    /// Each device that no such platform has, with its place and the nearest name.
    pub fn check_devices<R: AsRef<AtRest>>(
        &self,
        platforms: impl IntoIterator<Item = R>,
    ) -> Result<(), ScenarioError> {
        let handles = self.frame.handles.iter();
        let named: Vec<(&DeviceName, Place)> = handles
            .flat_map(|handle| {
                let devices = handle.filter.devices.iter().flatten();
                devices.map(|device| (device, handle.place))
            })
            .collect();
        if named.is_empty() || self.world().is_some() {
            return Ok(());
        }
        let mut known = BTreeSet::new();
        for rest in platforms {
            let rest = &rest.as_ref().resolved;
            if self.frame.fitness.of(rest) == Fit::Yes {
                known.extend(rest.ports.iter().map(|port| port.facts.device.to_string()));
            }
        }
        let source = self.source();
        Mistakes::in_all(named.into_iter().map(|(device, place)| {
            if known.is_empty() || known.contains(device.as_str()) {
                return Ok(());
            }
            let near = did_you_mean(device.as_str(), known.iter().map(String::as_str));
            let what = format!("no platform that this applies to has the device `{device}`");
            let hint = format!("{near}`nicdrill platform show` lists the devices of a platform");
            Err(source.wrong(place, what).hint(hint))
        }))
        .map(|_| ())
    }

    /// Resolves it on one node of this platform.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if the platform lacks something that the scenario needs;
    /// [`Unfit::Wrong`] if the scenario is wrong there, such as a count that a handle cannot have.
    pub fn in_world(&self, node: &NodeName, platform: &Platform) -> Result<Story, Unfit> {
        self.at_rest(&AtRest::new(node, platform))
    }

    /// Resolves it in a world at rest, like [`Scenario::in_world`]. Use it to resolve many scenarios
    /// on one platform, or for a world of several nodes.
    ///
    /// # Errors
    /// As [`Scenario::in_world`].
    pub fn at_rest(&self, rest: &AtRest) -> Result<Story, Unfit> {
        match self.world() {
            Some(world) if rest.resolved.is_platform || world != rest.resolved.world => {
                return Err(Unfit::lacks(format!("applies to the world `{world}` only")));
            }
            None if !rest.resolved.is_platform => {
                return Err(Unfit::lacks("applies to platforms only"));
            }
            None => {
                if let Fit::No { reason } = self.frame.fitness.of(&rest.resolved) {
                    return Err(Unfit::NotApplicable { reason });
                }
            }
            Some(_) => {}
        }
        let mut resolved = rest.resolved.clone();
        let source = self.source();
        for handle in &self.frame.handles {
            if let Some((name, place)) = &handle.node {
                resolve::known_node(&source, &resolved, name, *place)?;
            }
            if let Some((name, place)) = &handle.switch
                && !resolved.switches.contains(name)
            {
                let known = resolved.switches.iter().map(String::as_str);
                return Err(source.unknown(*place, "switch", name, known).into());
            }
        }
        for (name, place) in &self.frame.monitors {
            resolve::known_node(&source, &resolved, name, *place)?;
        }
        if !self.frame.monitors.is_empty() {
            for node in resolved.nodes.iter_mut() {
                node.monitored = self
                    .frame
                    .monitors
                    .iter()
                    .any(|(name, _)| name == node.name.as_str());
            }
        }
        resolved.choose(&self.frame.handles)?;
        resolve::resolve(self, &resolved)
    }

    pub(crate) fn source(&self) -> Source<'_> {
        Source {
            file: &self.file,
            text: &self.text,
        }
    }
}

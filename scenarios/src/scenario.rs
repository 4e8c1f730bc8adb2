//! A scenario file: what it says, before anybody knows in which world.
//!
//! [`read`] is the way in; [`Scenario::in_world`] the way on, to a [`crate::Story`].

use std::collections::BTreeSet;

use platforms::yaml::{self, Node, Place, Value};
use platforms::{NodeName, Platform, Platforms};
use simfs::SimTime;

use crate::cluster::{Cable, ClearingProfile, ClusterPlan, RuleProfile, RulesetsProfile};
use crate::error::{ScenarioError, Unfit};
use crate::expect::ExpectLine;
use crate::fitness::{Fit, Fitness};
use crate::ground::Ground;
use crate::handle::Handle;
use crate::reader::{Fields, Source};
use crate::step::{GivenSaid, StepSaid};
use crate::story::{Arm, ChecksRun, Heal, Story};
use crate::subject::Context;
use crate::telling;
use crate::words::{CLUSTER, FILE, HEAL, KeyWord};
use crate::workload::{self, WorkloadSaid};
use crate::world::World;
use crate::{deed_reader, expect_reader, step};

/// The deadline after healing unless a scenario says otherwise, in polls.
const HEALED_WITHIN: u32 = 3;

/// A scenario as its file says it.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) title: String,
    pub(crate) why: String,
    pub(crate) covers: Vec<String>,
    pub(crate) cover_places: Vec<Place>,
    pub(crate) fitness: Fitness,
    pub(crate) world: Option<(String, Place)>,
    pub(crate) workloads: Vec<WorkloadSaid>,
    pub(crate) cluster: ClusterPlan,
    /// Where a monitor sits; as the world says if there are none.
    pub(crate) chairs: Vec<(String, Place)>,
    pub(crate) checks: ChecksRun,
    pub(crate) arms: Vec<Arm>,
    pub(crate) tick: SimTime,
    pub(crate) until: Option<SimTime>,
    pub(crate) heal: Heal,
    pub(crate) flags: Vec<String>,
    pub(crate) config: String,
    pub(crate) handles: Vec<Handle>,
    pub(crate) given: Vec<GivenSaid>,
    pub(crate) timeline: Place,
    pub(crate) steps: Vec<StepSaid>,
    pub(crate) fold_quiet: bool,
}

/// A world at rest, ready to have scenarios told in it.
#[derive(Clone, Debug)]
pub struct AtRest {
    ground: Ground,
}

impl AtRest {
    /// One node of this name, of a platform.
    #[must_use]
    pub fn new(node: &NodeName, platform: &Platform) -> Self {
        Self {
            ground: Ground::new(node, platform),
        }
    }

    /// A world of several nodes, of these platforms.
    ///
    /// # Errors
    /// What the world names and no platform has, with its place.
    pub fn of_world(world: &World, platforms: &Platforms) -> Result<Self, ScenarioError> {
        let known: Vec<&str> = platforms.iter().map(|(name, _)| name).collect();
        Ok(Self {
            ground: Ground::of_world(world, |name| platforms.get(name), &known)?,
        })
    }

    /// Every cable between a switch and a port.
    #[must_use]
    pub fn cables(&self) -> Vec<Cable> {
        self.ground.cables()
    }
}

/// Reads a scenario; `file` is the name that errors carry, and its last two parts name the scenario.
///
/// # Errors
/// Whatever is wrong with the text wherever it is told, with its place; and what the language knows
/// but this build does not do.
pub fn read(file: &str, text: &str) -> Result<Scenario, ScenarioError> {
    let root: Node = yaml::read(file, text)?;
    let source = Source { file, text };
    let fields = source.open_map(&root, "a scenario")?;
    fields.known(&source, FILE.iter().map(|word| word.word))?;
    fields.built(&source, FILE)?;
    if let Some(version) = fields.get("scenario_version")
        && source.number(version, 0, u64::MAX)? != 1
    {
        return Err(source
            .wrong(version.place, "this version of the language is not known")
            .hint("write `scenario_version: 1`"));
    }
    let (covers, cover_places) = fields
        .read("covers", Vec::new(), |node| covers(&source, node))?
        .into_iter()
        .unzip();
    let handles = handles(source, &fields)?;
    let names: BTreeSet<String> = handles.iter().map(|handle| handle.name.clone()).collect();
    let context = Context {
        source,
        handles: &names,
        in_each: false,
    };
    let given = fields.read("given", Vec::new(), |node| step::read_given(&context, node))?;
    let steps = steps(&context, fields.need(&source, "timeline")?)?;
    let until = fields.maybe("until", |node| source.time(node))?;
    let last = steps.iter().map(StepSaid::last).max().unwrap_or_default();
    if let (Some(until), Some(node)) = (until, fields.get("until"))
        && until < last
    {
        let what = format!("the story ends at {until}, before its last line at {last}");
        return Err(source
            .wrong(node.place, what)
            .hint("leave `until` out, or end later"));
    }
    let tick = fields.read("tick", SimTime::from_secs(1), |node| {
        deed_reader::positive(&source, node)
    })?;
    if tick < SimTime::from_ms(1) {
        let place = fields.place_of("tick");
        return Err(source.wrong(place, "a tick is at least one millisecond"));
    }
    Ok(Scenario {
        file: file.to_owned(),
        text: text.to_owned(),
        title: source.text(fields.need(&source, "scenario")?, "a title")?,
        why: source
            .text(fields.need(&source, "why")?, "what the scenario is for")?
            .trim()
            .to_owned(),
        covers,
        cover_places,
        fitness: fields.read("platforms", Fitness::default(), |node| {
            Fitness::read(&source, node)
        })?,
        world: world(&source, &fields)?,
        chairs: fields.read("chairs", Vec::new(), |node| context.nodes(node))?,
        workloads: fields.read("workloads", Vec::new(), |node| {
            workload::read(&source, node)
        })?,
        cluster: cluster(&source, &fields)?,
        checks: fields.read("checks", ChecksRun::State, |node| {
            let words = [
                ("state", ChecksRun::State),
                ("counters", ChecksRun::Counters),
                ("char_devices", ChecksRun::CharDevices),
                ("all", ChecksRun::All),
            ];
            source.choice(node, "word", &words)
        })?,
        arms: arms(&source, &fields, &steps)?,
        tick,
        until,
        heal: heal(&source, &fields)?,
        flags: fields.read("flags", Vec::new(), |node| {
            deed_reader::flags(&source, node)
        })?,
        config: fields.read("config", String::new(), |node| {
            source.any_text(node, "lines of TOML")
        })?,
        handles,
        given,
        timeline: fields.place_of("timeline"),
        steps,
        fold_quiet: fields.read("quiet", false, |node| {
            source.choice(node, "word", &[("fold", true), ("full", false)])
        })?,
    })
}

impl Scenario {
    /// `family/name`, from the file's place.
    #[must_use]
    pub fn name(&self) -> String {
        let path = self
            .file
            .strip_suffix(".yaml")
            .or_else(|| self.file.strip_suffix(".yml"));
        let path = path.unwrap_or(&self.file);
        let mut parts = path.rsplit('/');
        match (parts.next(), parts.next()) {
            (Some(name), Some(family)) if !family.is_empty() => format!("{family}/{name}"),
            _ => path.to_owned(),
        }
    }

    /// The folder it is in, such as `port`; empty if it is in none.
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
        &self.title
    }

    /// What it is for.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The clauses it covers.
    #[must_use]
    pub fn covers(&self) -> &[String] {
        &self.covers
    }

    /// Where it can be played.
    #[must_use]
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    /// The file it was read from.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The world of several nodes in which it is told; `None` for one that is told on platforms.
    #[must_use]
    pub fn world(&self) -> Option<&str> {
        self.world.as_ref().map(|(name, _)| name.as_str())
    }

    /// An error at the place where it names its world.
    #[must_use]
    pub fn unknown_world<'k>(&self, known: impl IntoIterator<Item = &'k str>) -> ScenarioError {
        let (name, place) = self.world.clone().unwrap_or_default();
        self.source().unknown(place, "world", &name, known)
    }

    /// Whether it is told on this platform, and why not.
    #[must_use]
    pub fn fits(&self, platform: &Platform) -> Fit {
        match self.in_world(&NodeName::from("node-a"), platform) {
            Err(Unfit::NotApplicable { reason }) => Fit::No { reason },
            Ok(_) | Err(Unfit::Wrong(_)) => Fit::Yes,
        }
    }

    /// The story on one node of this platform.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if the platform lacks what the scenario is about; [`Unfit::Wrong`]
    /// if the scenario turns out to be wrong there, such as a count that a handle cannot have.
    pub fn in_world(&self, node: &NodeName, platform: &Platform) -> Result<Story, Unfit> {
        self.at_rest(&AtRest::new(node, platform))
    }

    /// The story in a world at rest: the same as [`Scenario::in_world`], for whoever tells many
    /// scenarios on one platform, or has a world of several nodes.
    ///
    /// # Errors
    /// As [`Scenario::in_world`].
    pub fn at_rest(&self, rest: &AtRest) -> Result<Story, Unfit> {
        match self.world() {
            Some(world) if rest.ground.is_platform || world != rest.ground.world => {
                return Err(Unfit::lacks(format!("is told in the world `{world}`")));
            }
            None if !rest.ground.is_platform => {
                return Err(Unfit::lacks("is told on platforms"));
            }
            None => {
                if let Fit::No { reason } = self.fitness.of(&rest.ground) {
                    return Err(Unfit::NotApplicable { reason });
                }
            }
            Some(_) => {}
        }
        let mut ground = rest.ground.clone();
        let source = self.source();
        for handle in &self.handles {
            if let Some((name, place)) = &handle.node {
                telling::known_node(&source, &ground, name, *place)?;
            }
            if let Some((name, place)) = &handle.switch
                && !ground.switches.contains(name)
            {
                let known = ground.switches.iter().map(String::as_str);
                return Err(source.unknown(*place, "switch", name, known).into());
            }
        }
        for (name, place) in &self.chairs {
            telling::known_node(&source, &ground, name, *place)?;
        }
        if !self.chairs.is_empty() {
            for node in &mut ground.nodes {
                node.monitored = self
                    .chairs
                    .iter()
                    .any(|(name, _)| name == node.name.as_str());
            }
        }
        ground.choose(&self.handles)?;
        telling::tell(self, &ground)
    }

    pub(crate) fn source(&self) -> Source<'_> {
        Source {
            file: &self.file,
            text: &self.text,
        }
    }
}

/// The cluster: the rules that listen, and what is not as deployed at present.
fn cluster(source: &Source<'_>, fields: &Fields<'_>) -> Result<ClusterPlan, ScenarioError> {
    let profiles = RuleProfile::ALL.map(|profile| (profile.name(), profile));
    let rules = fields.read("rules", RuleProfile::default(), |node| {
        source.choice(node, "profile of rules", &profiles)
    })?;
    let mut plan = ClusterPlan {
        rules,
        ..ClusterPlan::default()
    };
    let Some(node) = fields.get("cluster") else {
        return Ok(plan);
    };
    let fields = source.map(node, "a cluster", CLUSTER)?;
    let clearings = [
        ("all", ClearingProfile::All),
        ("any_with_code", ClearingProfile::AnyWithCode),
        ("any", ClearingProfile::Any),
    ];
    plan.clearing = fields.read("clearing", plan.clearing, |node| {
        source.choice(node, "way to clear", &clearings)
    })?;
    let rulesets = [
        ("shipped", RulesetsProfile::Shipped),
        ("without_nics", RulesetsProfile::WithoutNics),
        ("with_analyzer", RulesetsProfile::WithAnalyzer),
    ];
    plan.rulesets = fields.read("rulesets", plan.rulesets, |node| {
        source.choice(node, "set of rule sets", &rulesets)
    })?;
    plan.breaker_fleet = fields.maybe("breaker", |node| {
        const FLEET: &[KeyWord] = &[KeyWord {
            word: "fleet",
            takes: "a number",
            text: "How many nodes the cluster has.",
        }];
        let fields = source.map(node, "a circuit breaker", FLEET)?;
        source.small(fields.need(source, "fleet")?, 1)
    })?;
    Ok(plan)
}

/// The world by its name; a scenario is told in one, or on platforms.
fn world(
    source: &Source<'_>,
    fields: &Fields<'_>,
) -> Result<Option<(String, Place)>, ScenarioError> {
    let world = fields.maybe("world", |node| {
        Ok((source.text(node, "a world's name")?, node.place))
    })?;
    if world.is_some() && fields.get("platforms").is_some() {
        return Err(source
            .wrong(
                fields.place_of("platforms"),
                "`platforms` and `world` in one scenario",
            )
            .hint("the world's file names the platforms of its nodes"));
    }
    Ok(world)
}

fn handles(source: Source<'_>, fields: &Fields<'_>) -> Result<Vec<Handle>, ScenarioError> {
    let Some(node) = fields.get("let") else {
        return Ok(Vec::new());
    };
    let fields = source.open_map(node, "handles")?;
    let mut handles = Vec::new();
    let mut declared = BTreeSet::new();
    for (key, node) in fields.pairs {
        named(&source, &key.name, key.place)?;
        handles.push(Handle::read(source, &key.name, node, &declared)?);
        declared.insert(key.name.clone());
    }
    Ok(handles)
}

/// A handle's name must not be taken for anything else.
fn named(source: &Source<'_>, name: &str, place: Place) -> Result<(), ScenarioError> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let taken = [
        "it",
        "state_file",
        "everywhere",
        "class",
        "bus",
        "sys",
        "proc",
        "var",
        "nicdrill",
    ];
    if taken.contains(&name) {
        return Err(source
            .wrong(place, format!("`{name}` has a meaning of its own"))
            .hint("choose another name"));
    }
    if !plain {
        return Err(source
            .wrong(place, format!("`{name}` cannot name a handle"))
            .hint("write lower-case letters, digits and `_`, a letter first"));
    }
    Ok(())
}

fn steps(context: &Context<'_>, node: &Node) -> Result<Vec<StepSaid>, ScenarioError> {
    let source = &context.source;
    let mut steps: Vec<StepSaid> = Vec::new();
    for node in source.list(node, "a list of steps")? {
        let step = step::read(context, node)?;
        if let Some(before) = steps.last().filter(|before| step.first() < before.first()) {
            return Err(source
                .wrong(
                    step.place,
                    format!(
                        "{} comes after {}: times go backwards",
                        step.first(),
                        before.first()
                    ),
                )
                .hint("put the steps in the order of their times"));
        }
        steps.push(step);
    }
    if steps.is_empty() {
        return Err(source
            .wrong(node.place, "an empty timeline")
            .hint("a story has at least one step"));
    }
    if !steps.iter().any(|step| !step.expect.is_empty()) {
        return Err(source
            .wrong(node.place, "nothing is expected")
            .hint("a story expects at least one thing, such as `expect: [ baseline ]`"));
    }
    Ok(steps)
}

fn covers(source: &Source<'_>, node: &Node) -> Result<Vec<(String, Place)>, ScenarioError> {
    let nodes = source.list(node, "a list of clause ids")?;
    let clause = |node: &Node| {
        let id = source.text(node, "a clause id")?;
        let prefix = id.split_once('/').filter(|(_, rest)| !rest.is_empty());
        let plain = prefix.is_some_and(|(prefix, _)| {
            let mut letters = prefix.chars();
            letters.next().is_some_and(|c| c.is_ascii_lowercase())
                && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        });
        match plain && !id.contains(char::is_whitespace) {
            true => Ok((id, node.place)),
            false => Err(source
                .wrong(node.place, format!("`{id}` is no clause id"))
                .hint("write the source's prefix, the section and what it says, such as `lsd/3.2/down-is-fatal`")),
        }
    };
    nodes.iter().map(clause).collect()
}

fn arms(
    source: &Source<'_>,
    fields: &Fields<'_>,
    steps: &[StepSaid],
) -> Result<Vec<Arm>, ScenarioError> {
    let words = [("memory", Arm::Memory), ("process", Arm::Process)];
    let mut arms = match fields.get("arms") {
        None => words.map(|(_, arm)| arm).to_vec(),
        Some(node) => source
            .one_or_more(node, "arms")?
            .iter()
            .map(|node| source.choice(node, "arm", &words))
            .collect::<Result<Vec<_>, _>>()?,
    };
    arms.sort_unstable();
    arms.dedup();
    let mut lines = steps.iter().flat_map(|step| &step.expect);
    if arms.contains(&Arm::Memory)
        && let Some(line) = lines.find_map(ExpectLine::process_only)
    {
        return Err(source
            .wrong(line.place, "only a process answers this")
            .hint("write `arms: [ process ]` in the scenario"));
    }
    Ok(arms)
}

fn heal(source: &Source<'_>, fields: &Fields<'_>) -> Result<Heal, ScenarioError> {
    let because = fields.maybe("because", |node| source.text(node, "a reason"))?;
    let never = fields
        .get("heal")
        .is_some_and(|node| matches!(node.value, Value::Text(_)));
    let heal = match fields.get("heal") {
        Some(node) if never => {
            source.choice(node, "word", &[("never", ())])?;
            let because = because.clone().ok_or_else(|| {
                source
                    .wrong(node.place, "`heal: never` says no reason")
                    .hint("write `because: …`: why the story may end in trouble")
            })?;
            Heal::Never { because }
        }
        Some(node) => {
            let fields = source.map(node, "`heal`", HEAL)?;
            Heal::Within {
                polls: expect_reader::polls(source, fields.need(source, "within")?)?,
            }
        }
        None => Heal::Within {
            polls: HEALED_WITHIN,
        },
    };
    if because.is_some() && !never {
        return Err(source
            .wrong(
                fields.place_of("because"),
                "`because` without `heal: never`",
            )
            .hint("what the story is for stands in `why`"));
    }
    Ok(heal)
}

//! Reading the verbs of `do:` and `given:`.
//!
//! Which verbs there are and what may stand beside them is in the table of words; here is what each
//! of them becomes. Start at [`read`].

use fabric::{CounterChange, StickAt};
use platforms::{CounterValue, DeviceName, PhysState, PortState, Rate};
use simfs::SimTime;

use crate::deed::{
    DeedLine, DeedSaid, DeviceVerb, MetadataSaid, MonitorSaid, NamesSaid, PortVerb, RebootSaid,
    RoutesSaid,
};
use crate::duration;
use crate::error::ScenarioError;
use crate::handle;
use crate::node::{Node, Value};
use crate::reader::{Fields, Source};
use crate::story::{
    ConnectorBehaviour, ConnectorDeed, ConnectorLasting, FileOp, HangEnd, RuleEffect, RuleLasting,
    Signal, StateFileDeed,
};
use crate::subject::{Context, FileSaid, Nodes};
use crate::words::{DEED_QUALIFIERS, DEEDS, KeyWord, REBOOT, Word};

type Read<T> = Result<T, ScenarioError>;

/// Reads one line.
pub(crate) fn read(context: &Context<'_>, node: &Node) -> Read<DeedLine> {
    let source = &context.source;
    let fields = source.open_map(node, "a deed")?;
    let (verb, value) = verb(source, &fields, "verb", DEEDS)?;
    let allowed = verb.keys.iter().chain(DEED_QUALIFIERS).map(|key| key.word);
    fields.known(source, allowed.chain([verb.word]))?;
    let line = Line {
        context,
        source,
        verb,
        value,
        fields,
    };
    Ok(DeedLine {
        place: node.place,
        text: node.to_string(),
        nodes: fields.read("node", Nodes::new(), |node| context.nodes(node))?,
        only: fields.maybe("only", |node| source.layer(node))?,
        deed: line.deed()?,
    })
}

/// The one verb of a line, and its value.
pub(crate) fn verb<'n>(
    source: &Source<'_>,
    fields: &Fields<'n>,
    what: &'static str,
    table: &'static [Word],
) -> Read<(&'static Word, &'n Node)> {
    let of = |name: &str| table.iter().find(|word| word.word == name);
    let mut found = fields
        .pairs
        .iter()
        .filter_map(|(key, node)| Some((of(&key.name)?, key, node)));
    match (found.next(), found.next()) {
        (Some((verb, key, _)), None) if !verb.built => {
            Err(source.not_built(key.place, format!("`{}` is not built yet", verb.word)))
        }
        (Some((verb, _, node)), None) => Ok((verb, node)),
        (Some((first, ..)), Some((second, key, _))) => Err(source
            .wrong(
                key.place,
                format!("`{}` and `{}` in one line", first.word, second.word),
            )
            .hint("write two lines")),
        (None, _) => {
            let names = table.iter().map(|word| word.word);
            match fields.pairs.first() {
                Some((key, _)) => Err(source.unknown(key.place, what, &key.name, names)),
                None => Err(source.wrong(fields.place, format!("an empty map, expected a {what}"))),
            }
        }
    }
}

/// A line in reading.
struct Line<'a, 'n> {
    context: &'a Context<'a>,
    source: &'a Source<'a>,
    verb: &'static Word,
    value: &'n Node,
    fields: Fields<'n>,
}

impl Line<'_, '_> {
    fn deed(&self) -> Read<DeedSaid> {
        let source = self.source;
        Ok(match self.verb.word {
            "cut" => self.ports(PortVerb::Cut)?,
            "mend" => self.ports(PortVerb::Mend)?,
            "disable" => self.ports(PortVerb::Disable)?,
            "set" => self.set()?,
            "flap" => DeedSaid::Flap {
                of: self.context.subjects(self.value)?,
                times: source.small(self.need("times")?, 1)?,
                down: self.span("down")?,
                up: self.span("up")?,
                stagger: self
                    .fields
                    .read("stagger", SimTime::ZERO, |node| source.time(node))?,
            },
            "train_slowly" => self.ports(PortVerb::TrainSlowly(self.span("takes")?))?,
            "stick" => {
                let at = source.choice(self.need("in")?, "point of the way up", STICK)?;
                self.ports(PortVerb::Stick(at))?
            }
            "speed" => self.ports(PortVerb::Speed(self.rate()?))?,
            "interface" => {
                let up =
                    source.choice(self.need("to")?, "word", &[("up", true), ("down", false)])?;
                self.ports(PortVerb::Interface { up })?
            }
            "operstate" => {
                let text = source.text(self.need("to")?, "an operstate such as `dormant`")?;
                self.ports(PortVerb::Operstate(text))?
            }
            "remove_port" => self.ports(PortVerb::RemovePort)?,
            "restore_port" => self.ports(PortVerb::RestorePort)?,
            "change_layer" => self.ports(PortVerb::ChangeLayer(source.layer(self.need("to")?)?))?,
            "counter" => self.counter()?,
            "reset_counter" => self.ports(PortVerb::Counter(self.name()?, CounterChange::Reset))?,
            "saturate_counter" => {
                self.ports(PortVerb::Counter(self.name()?, CounterChange::Saturate))?
            }
            "remove" => self.devices(DeviceVerb::Remove)?,
            "restore" => self.devices(DeviceVerb::Restore)?,
            "rename" => {
                let to = DeviceName(source.text(self.need("to")?, "a device name")?);
                self.devices(DeviceVerb::Rename(to))?
            }
            "replace" => self.devices(DeviceVerb::Replace)?,
            "firmware_reset" => self.devices(DeviceVerb::FirmwareReset(self.span("takes")?))?,
            "pci_error" => self.devices(DeviceVerb::PciError(self.span("takes")?))?,
            "leave_namespace" => self.devices(DeviceVerb::LeaveNamespace)?,
            "return_to_namespace" => self.devices(DeviceVerb::ReturnToNamespace)?,
            "create_vfs" => {
                let count = source.number(self.need("count")?, 1, 1024)?;
                let count = u16::try_from(count).expect("a number up to 1024 fits 16 bits");
                self.devices(DeviceVerb::CreateVfs(count))?
            }
            "assign_vf" => self.devices(DeviceVerb::AssignVf)?,
            "release_vf" => self.devices(DeviceVerb::ReleaseVf)?,
            "destroy_vfs" => self.devices(DeviceVerb::DestroyVfs)?,
            "hot_add" => DeedSaid::HotAdd {
                like: self.context.subjects(self.value)?,
                pci: handle::pci(source, self.need("pci")?)?,
                name: DeviceName(source.text(self.need("name")?, "a device name")?),
                cabled: self
                    .fields
                    .read("cabled", true, |node| source.truth(node))?,
            },
            "subnet_manager" => {
                let (running, reinitialise) = self.word(&[
                    ("stop", (false, false)),
                    ("die", (false, true)),
                    ("start", (true, false)),
                ])?;
                DeedSaid::SubnetManager {
                    running,
                    reinitialise,
                }
            }
            "driver" => self.driver()?,
            "read" => self.rule(FileOp::Read)?,
            "list" => self.rule(FileOp::List)?,
            "write" => self.write_rule()?,
            "no_rule" => match &self.value.value {
                Value::Text(word) if word == "everywhere" => DeedSaid::NoRule(None),
                _ => DeedSaid::NoRule(Some(self.context.file(self.value)?)),
            },
            "connector" => DeedSaid::Connector(self.connector()?),
            "monitor" => DeedSaid::Monitor(self.monitor()?),
            "state_file" => self.state_file()?,
            "reboot" => DeedSaid::Reboot(self.reboot()?),
            "clock" => {
                self.word(&[("step", ())])?;
                let by = self.need("by")?;
                let text = source.text(by, "a time")?;
                let ns = duration::parse_signed(&text).ok_or_else(|| {
                    source
                        .wrong(by.place, format!("`{text}` is no time"))
                        .hint("write `3s`, or `\"-1h\"` for back")
                })?;
                DeedSaid::ClockStep(ns)
            }
            "metadata" => DeedSaid::Metadata(self.metadata()?),
            "routes" => DeedSaid::Routes(self.routes()?),
            other => unreachable!("`{other}` is in the table of deeds and has no reading"),
        })
    }

    fn need(&self, name: &str) -> Read<&Node> {
        self.fields.get(name).ok_or_else(|| {
            self.source.wrong(
                self.fields.place,
                format!("`{}` needs the key `{name}`", self.verb.word),
            )
        })
    }

    /// A span of time above zero.
    fn span(&self, name: &str) -> Read<SimTime> {
        let node = self.need(name)?;
        positive(self.source, node)
    }

    fn name(&self) -> Read<String> {
        let node = self.need("name")?;
        let name = self.source.text(node, "a counter's file name")?;
        if name.contains('/') {
            return Err(self
                .source
                .wrong(node.place, format!("`{name}` is a path"))
                .hint("write the file's name alone"));
        }
        Ok(name)
    }

    /// The verb's value, one of these words.
    fn word<T: Copy>(&self, allowed: &[(&str, T)]) -> Read<T> {
        self.source.choice(
            self.value,
            &format!("word after `{}`", self.verb.word),
            allowed,
        )
    }

    fn ports(&self, verb: PortVerb) -> Read<DeedSaid> {
        Ok(DeedSaid::Ports(verb, self.context.subjects(self.value)?))
    }

    fn devices(&self, verb: DeviceVerb) -> Read<DeedSaid> {
        Ok(DeedSaid::Devices(verb, self.context.subjects(self.value)?))
    }

    fn set(&self) -> Read<DeedSaid> {
        let source = self.source;
        let state = self.fields.maybe("state", |node| {
            code(
                source,
                node,
                "state",
                PortState::by_word,
                PortState,
                "`DOWN`, `INIT`, `ARMED`, `ACTIVE`, or a number",
            )
        })?;
        let phys = self.fields.maybe("phys_state", |node| {
            code(
                source,
                node,
                "physical state",
                PhysState::by_word,
                PhysState,
                "`Polling`, `Disabled`, `LinkUp`, `LinkErrorRecovery`, or a number",
            )
        })?;
        if state.is_none() && phys.is_none() {
            return Err(source.wrong(
                self.fields.place,
                "`set` needs `state`, `phys_state` or both",
            ));
        }
        self.ports(PortVerb::Set(state, phys))
    }

    fn rate(&self) -> Read<Rate> {
        let node = self.need("rate")?;
        let text = self.source.text(node, "a rate such as `4X EDR`")?;
        Rate::by_words(&text).ok_or_else(|| {
            self.source
                .wrong(node.place, format!("`{text}` is no rate"))
                .hint("write lanes and speed, as in `4X NDR` or `2X HDR`")
        })
    }

    fn counter(&self) -> Read<DeedSaid> {
        let source = self.source;
        const MOST: u64 = i64::MAX as u64;
        let (key, node) = self
            .fields
            .exactly_one(source, &["add", "per_second", "shows", "fails"])?;
        let change = match key {
            "add" => CounterChange::Add(source.number(node, 1, MOST)?),
            "per_second" => CounterChange::RatePerSecond(source.number(node, 0, MOST)?),
            "shows" => CounterChange::Set(match &node.value {
                Value::Whole(_) => CounterValue::Count(source.number(node, 0, MOST)?),
                _ => CounterValue::Text(source.text(node, "a number or a text")?),
            }),
            _ => CounterChange::Set(CounterValue::Fails(source.errno(node)?)),
        };
        self.ports(PortVerb::Counter(self.name()?, change))
    }

    fn driver(&self) -> Read<DeedSaid> {
        let load = self.word(&[("unload", false), ("load", true)])?;
        let names = self
            .fields
            .read("names", NamesSaid::new(), |node| self.names(node))?;
        if load {
            return Ok(DeedSaid::DriverLoad(names));
        }
        match self.fields.get("names") {
            None => Ok(DeedSaid::DriverUnload),
            Some(_) => Err(self
                .source
                .wrong(
                    self.fields.place_of("names"),
                    "`names` with `driver: unload`",
                )
                .hint("names change when the driver is loaded")),
        }
    }

    fn names(&self, node: &Node) -> Read<NamesSaid> {
        let fields = self.source.open_map(node, "handles and their new names")?;
        let mut names = NamesSaid::new();
        for (key, node) in fields.pairs {
            let key_node = Node {
                place: key.place,
                value: Value::Text(key.name.clone()),
            };
            let said = self.context.subjects(&key_node)?.items.remove(0);
            let name = DeviceName(self.source.text(node, "a device name")?);
            names.insert(key.name.clone(), (key.place, said, name));
        }
        Ok(names)
    }

    fn rule(&self, op: FileOp) -> Read<DeedSaid> {
        let source = self.source;
        let file = self.context.file(self.value)?;
        let effects = ["fail", "hang", "content", "truncate", "torn", "vanish"];
        let (key, node) = self.fields.exactly_one(source, &effects)?;
        let effect = match key {
            "fail" => RuleEffect::Fail(source.errno(node)?),
            "hang" => self.hang(node)?,
            "content" => RuleEffect::Content(source.any_text(node, "a text")?.into_bytes()),
            "truncate" => RuleEffect::Truncate(source.small(node, 0)? as usize),
            "torn" => RuleEffect::Torn(source.any_text(node, "a text")?.into_bytes()),
            _ if source.truth(node)? => RuleEffect::Vanish,
            _ => return Err(source.wrong(node.place, "`vanish: false` says nothing")),
        };
        let of_content = matches!(
            effect,
            RuleEffect::Content(_) | RuleEffect::Truncate(_) | RuleEffect::Torn(_)
        );
        if op == FileOp::List && of_content {
            return Err(source
                .wrong(node.place, format!("a listing has no `{key}`"))
                .hint("a listing can `fail`, `hang` or `vanish`"));
        }
        self.killable(&effect)?;
        Ok(DeedSaid::Rule {
            file,
            ops: vec![op],
            effect,
            lasting: self.lasting()?,
        })
    }

    fn write_rule(&self) -> Read<DeedSaid> {
        let source = self.source;
        let file = self.context.file(self.value)?;
        if !matches!(file, FileSaid::StateFile | FileSaid::Path(_)) {
            return Err(source
                .wrong(self.value.place, "nobody writes below a device")
                .hint("write `state_file`"));
        }
        let (key, node) = self
            .fields
            .exactly_one(source, &["fail", "short", "hang"])?;
        let effect = match key {
            "fail" => RuleEffect::Fail(source.errno(node)?),
            "short" => RuleEffect::ShortWrite(source.small(node, 0)? as usize),
            _ => self.hang(node)?,
        };
        self.killable(&effect)?;
        let ops = self.fields.read("ops", vec![FileOp::Write], |node| {
            let nodes = source.one_or_more(node, "operations")?;
            nodes
                .iter()
                .map(|node| source.choice(node, "operation", WRITES))
                .collect()
        })?;
        Ok(DeedSaid::Rule {
            file,
            ops,
            effect,
            lasting: self.lasting()?,
        })
    }

    fn killable(&self, effect: &RuleEffect) -> Read<()> {
        match (self.fields.get("killable"), effect) {
            (Some(_), RuleEffect::Hang { .. }) | (None, _) => Ok(()),
            (Some(_), _) => Err(self.source.wrong(
                self.fields.place_of("killable"),
                "`killable` goes with `hang`",
            )),
        }
    }

    fn hang(&self, node: &Node) -> Read<RuleEffect> {
        let source = self.source;
        let killable = self
            .fields
            .read("killable", true, |node| source.truth(node))?;
        let text = source.text(node, "`given_up` or `N ticks`")?;
        let until = match counted(&text, &["tick", "ticks"]) {
            _ if text == "given_up" => HangEnd::GivenUp,
            Some(ticks) if ticks > 0 => HangEnd::Ticks(ticks),
            _ => {
                return Err(source
                    .wrong(node.place, format!("`{text}` names no end of a hang"))
                    .hint("write `given_up` (by the monitor's own timeout) or `3 ticks`"));
            }
        };
        Ok(RuleEffect::Hang { killable, until })
    }

    fn lasting(&self) -> Read<RuleLasting> {
        let source = self.source;
        let said = ["for", "nth", "first"]
            .into_iter()
            .filter(|key| self.fields.get(key).is_some());
        if said.count() == 0 {
            return Ok(RuleLasting::Always);
        }
        let (key, node) = self.fields.exactly_one(source, &["for", "nth", "first"])?;
        Ok(match key {
            "for" => RuleLasting::For(positive(source, node)?),
            "nth" => RuleLasting::Nth(u64::from(source.small(node, 1)?)),
            _ => RuleLasting::First(u64::from(source.small(node, 1)?)),
        })
    }

    fn connector(&self) -> Read<ConnectorDeed> {
        let source = self.source;
        let behaviour = match &self.value.value {
            Value::Map(_) => {
                let fields = source.map(self.value, "a connector's behaviour", CONNECTOR_KEYS)?;
                match fields.exactly_one(source, &["code", "slow"])? {
                    ("code", node) => {
                        ConnectorBehaviour::Code(source.choice(node, "gRPC code", GRPC_CODES)?)
                    }
                    (_, node) => ConnectorBehaviour::Slow(positive(source, node)?),
                }
            }
            _ => self
                .word(&[
                    ("accept", &ConnectorBehaviour::Accept),
                    ("absent", &ConnectorBehaviour::Absent),
                    ("down", &ConnectorBehaviour::Down),
                    ("refuse", &ConnectorBehaviour::Refuse),
                    ("hang", &ConnectorBehaviour::Hang),
                    ("lose_reply", &ConnectorBehaviour::LoseReply),
                    ("disconnect", &ConnectorBehaviour::Disconnect),
                ])?
                .clone(),
        };
        let lasting = match (self.fields.get("for"), self.fields.get("calls")) {
            (None, None) => ConnectorLasting::Always,
            (Some(node), None) => ConnectorLasting::For(positive(source, node)?),
            (None, Some(node)) => ConnectorLasting::Calls(source.small(node, 1)?),
            (Some(_), Some(_)) => {
                return Err(source
                    .wrong(self.fields.place_of("calls"), "`for` and `calls` together")
                    .hint("say one of them"));
            }
        };
        Ok(ConnectorDeed { behaviour, lasting })
    }

    fn monitor(&self) -> Read<MonitorSaid> {
        let source = self.source;
        let word = self.word(&[
            ("restart", "restart"),
            ("stop", "stop"),
            ("kill", "kill"),
            ("start", "start"),
            ("pause", "pause"),
            ("upgrade", "upgrade"),
        ])?;
        let goes_with = |keys: &[&str]| {
            let stray = self
                .verb
                .keys
                .iter()
                .find(|key| self.fields.get(key.word).is_some() && !keys.contains(&key.word));
            match stray {
                None => Ok(()),
                Some(key) => Err(source.wrong(
                    self.fields.place_of(key.word),
                    format!("`{}` does not go with `monitor: {word}`", key.word),
                )),
            }
        };
        let flags = || {
            self.fields
                .read("flags", Vec::new(), |node| flags(source, node))
        };
        match word {
            "restart" => {
                goes_with(&["signal", "away", "flags", "config"])?;
                Ok(MonitorSaid::Restart {
                    signal: self.fields.read("signal", Signal::Term, |node| {
                        source.choice(
                            node,
                            "signal",
                            &[("TERM", Signal::Term), ("KILL", Signal::Kill)],
                        )
                    })?,
                    away: self
                        .fields
                        .read("away", SimTime::ZERO, |node| source.time(node))?,
                    flags: flags()?,
                    config: self
                        .fields
                        .maybe("config", |node| source.any_text(node, "lines of TOML"))?,
                })
            }
            "start" => {
                goes_with(&["flags"])?;
                Ok(MonitorSaid::Start { flags: flags()? })
            }
            "pause" => {
                goes_with(&["for"])?;
                Ok(MonitorSaid::Pause(self.span("for")?))
            }
            "stop" | "kill" => {
                goes_with(&[])?;
                Ok(MonitorSaid::Stop(if word == "stop" {
                    Signal::Term
                } else {
                    Signal::Kill
                }))
            }
            _ => Err(source.not_built(
                self.value.place,
                format!("`monitor: {word}` is not built yet"),
            )),
        }
    }

    fn state_file(&self) -> Read<DeedSaid> {
        let source = self.source;
        let every_write = |errno| DeedSaid::Rule {
            file: FileSaid::StateFile,
            ops: WRITES.iter().map(|(_, op)| *op).collect(),
            effect: RuleEffect::Fail(errno),
            lasting: RuleLasting::Always,
        };
        if let Value::Map(_) = self.value.value {
            let fields = source.map(
                self.value,
                "what becomes of the state file",
                STATE_FILE_KEYS,
            )?;
            let deed = match fields.exactly_one(source, &["truncate", "write", "version"])? {
                ("truncate", node) => StateFileDeed::Truncate(source.small(node, 0)? as usize),
                ("write", node) => {
                    StateFileDeed::Write(source.any_text(node, "a text")?.into_bytes())
                }
                (_, node) => match node.value {
                    Value::Whole(version) => StateFileDeed::Version(version),
                    _ => return Err(source.wrong(node.place, "a version is a whole number")),
                },
            };
            return Ok(DeedSaid::StateFile(deed));
        }
        let word = self.word(&[
            ("delete", "delete"),
            ("corrupt", "corrupt"),
            ("read_only", "read_only"),
            ("disk_full", "disk_full"),
            ("writable", "writable"),
        ])?;
        Ok(match word {
            "delete" => DeedSaid::StateFile(StateFileDeed::Delete),
            "corrupt" => DeedSaid::StateFile(StateFileDeed::Write(CORRUPT.to_vec())),
            "read_only" => every_write(simfs::Errno::EROFS),
            "disk_full" => every_write(simfs::Errno::ENOSPC),
            _ => DeedSaid::NoRule(Some(FileSaid::StateFile)),
        })
    }

    fn reboot(&self) -> Read<RebootSaid> {
        let source = self.source;
        let fields = source.map(self.value, "a reboot", REBOOT)?;
        let subjects = |name| fields.maybe(name, |node| self.context.subjects(node));
        Ok(RebootSaid {
            takes: positive(source, fields.need(source, "takes")?)?,
            mend: subjects("mend")?,
            remove: subjects("remove")?,
            restore: subjects("restore")?,
            replace: subjects("replace")?,
            names: fields.read("names", NamesSaid::new(), |node| self.names(node))?,
            keep_counters: fields.read("counters", false, |node| {
                source.choice(node, "word", &[("zero", false), ("keep", true)])
            })?,
            same_boot_id: fields.read("boot_id", false, |node| {
                source.choice(node, "word", &[("new", false), ("same", true)])
            })?,
        })
    }

    fn metadata(&self) -> Read<MetadataSaid> {
        let source = self.source;
        if let Value::Map(_) = self.value.value {
            let fields = source.map(self.value, "a metadata file", METADATA_KEYS)?;
            return match fields.exactly_one(source, &["without", "short_row", "write"])? {
                ("without", node) => Ok(MetadataSaid::Without(self.context.subjects(node)?)),
                ("short_row", node) => Ok(MetadataSaid::ShortRow(self.context.subjects(node)?)),
                (_, node) => Ok(MetadataSaid::Text(source.any_text(node, "a text")?)),
            };
        }
        let malformed = MetadataSaid::Text("{ \"gpus\": [".to_owned());
        self.word(&[
            ("missing", &MetadataSaid::Missing),
            ("malformed", &malformed),
            ("empty_topology", &MetadataSaid::EmptyTopology),
            ("unknown_numa", &MetadataSaid::UnknownNuma),
            ("no_gpus", &MetadataSaid::NoGpus),
            ("at_rest", &MetadataSaid::AtRest),
        ])
        .cloned()
    }

    fn routes(&self) -> Read<RoutesSaid> {
        let source = self.source;
        if let Value::Map(_) = self.value.value {
            let fields = source.map(self.value, "a route table", ROUTES_KEYS)?;
            return match fields.exactly_one(source, &["port", "over"])? {
                ("port", node) => Ok(RoutesSaid::OverPort(self.context.subjects(node)?)),
                (_, node) => Ok(RoutesSaid::Over(source.text(node, "an interface's name")?)),
            };
        }
        self.word(&[
            ("missing", &RoutesSaid::Missing),
            ("no_default", &RoutesSaid::NoDefault),
            ("at_rest", &RoutesSaid::AtRest),
        ])
        .cloned()
    }
}

/// A time above zero.
pub(crate) fn positive(source: &Source<'_>, node: &Node) -> Read<SimTime> {
    match source.time(node)? {
        SimTime::ZERO => Err(source.wrong(node.place, "a time of zero says nothing here")),
        time => Ok(time),
    }
}

/// Flags: each begins with `--`.
pub(crate) fn flags(source: &Source<'_>, node: &Node) -> Read<Vec<String>> {
    let nodes = source.one_or_more(node, "flags")?;
    nodes
        .iter()
        .map(|node| {
            let flag = source.text(node, "a flag")?;
            match flag.strip_prefix("--") {
                Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => Ok(flag),
                _ => Err(source
                    .wrong(node.place, format!("`{flag}` is no flag"))
                    .hint("write `--name=value`")),
            }
        })
        .collect()
}

/// The number in `3 polls`, if the unit is one of these.
pub(crate) fn counted(text: &str, units: &[&str]) -> Option<u32> {
    let (number, unit) = text.trim().split_once(' ')?;
    let number: u32 = number.parse().ok()?;
    (units.contains(&unit.trim()) && number <= 1_000_000).then_some(number)
}

/// A state by its word, or by any number that the kernel could show.
fn code<T>(
    source: &Source<'_>,
    node: &Node,
    what: &str,
    by_word: impl Fn(&str) -> Option<T>,
    by_number: impl Fn(u8) -> T,
    allowed: &str,
) -> Read<T> {
    if let Value::Whole(_) = node.value {
        let number = source.number(node, 0, 255)?;
        return Ok(by_number(
            u8::try_from(number).expect("a number up to 255 fits 8 bits"),
        ));
    }
    let word = source.text(node, what)?;
    by_word(&word).ok_or_else(|| {
        source
            .wrong(node.place, format!("unknown {what} `{word}`"))
            .hint(format!("such as {allowed}"))
    })
}

/// What `state_file: corrupt` leaves.
const CORRUPT: &[u8] = b"{ \"version\": 2, \"bo";

const STICK: &[(&str, StickAt)] = &[
    ("polling", StickAt::Polling),
    ("training", StickAt::Training),
    ("init", StickAt::Init),
    ("armed", StickAt::Armed),
    ("recovery", StickAt::Recovery),
];

/// The operations on the writable folder by name.
pub(crate) const WRITES: &[(&str, FileOp)] = &[
    ("create", FileOp::Create),
    ("write", FileOp::Write),
    ("fsync", FileOp::Fsync),
    ("rename", FileOp::Rename),
    ("unlink", FileOp::Unlink),
];

const fn bare(word: &'static str) -> KeyWord {
    KeyWord {
        word,
        takes: "",
        text: "",
    }
}

const CONNECTOR_KEYS: &[KeyWord] = &[bare("code"), bare("slow")];
const STATE_FILE_KEYS: &[KeyWord] = &[bare("truncate"), bare("write"), bare("version")];
const METADATA_KEYS: &[KeyWord] = &[bare("without"), bare("short_row"), bare("write")];
const ROUTES_KEYS: &[KeyWord] = &[bare("port"), bare("over")];

/// gRPC's status codes by name (`grpc/doc/statuscodes.md`); `OK` is `accept`.
const GRPC_CODES: &[(&str, i32)] = &[
    ("CANCELLED", 1),
    ("UNKNOWN", 2),
    ("INVALID_ARGUMENT", 3),
    ("DEADLINE_EXCEEDED", 4),
    ("NOT_FOUND", 5),
    ("ALREADY_EXISTS", 6),
    ("PERMISSION_DENIED", 7),
    ("RESOURCE_EXHAUSTED", 8),
    ("FAILED_PRECONDITION", 9),
    ("ABORTED", 10),
    ("OUT_OF_RANGE", 11),
    ("UNIMPLEMENTED", 12),
    ("INTERNAL", 13),
    ("UNAVAILABLE", 14),
    ("DATA_LOSS", 15),
    ("UNAUTHENTICATED", 16),
];

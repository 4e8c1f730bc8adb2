//! Reading the verbs of `do:` and `given:`.
//!
//! Which verbs there are and what may stand beside them is in the table of words; here is what each
//! of them becomes. Start at [`read`].

mod files;
mod host;
mod link;
mod load;

use fabric::{
    Action, CharDeviceKind, CounterChange, DeviceAction, NodeAction, PortAction, PortsAction,
    StickAt,
};
use platforms::yaml::{Node, Value};
use platforms::{CounterValue, DeviceName, PhysState, PortState, Rate};
use simfs::SimTime;

use crate::deed::{DeedLine, DeedSaid, NamesSaid};
use crate::duration;
use crate::error::ScenarioError;
use crate::handle;
use crate::reader::{Fields, Source};
use crate::story::FileOp;
use crate::subject::{Context, Nodes};
use crate::words::{DEED_QUALIFIERS, DEEDS, Word};

pub(crate) use files::WRITES;
pub(crate) use link::reason;

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
            "cut" => self.ports(PortAction::Cut)?,
            "mend" => self.ports(PortAction::Mend)?,
            "disable" => self.ports(PortAction::Disable)?,
            "set" => self.set()?,
            "flap" => DeedSaid::World(Action::Ports(
                self.context.subjects(self.value)?,
                PortsAction::Flap {
                    times: source.small(self.need("times")?, 1)?,
                    down: self.span("down")?,
                    up: self.span("up")?,
                    stagger: self
                        .fields
                        .read("stagger", SimTime::ZERO, |node| source.time(node))?,
                },
            )),
            "train_slowly" => self.ports(PortAction::TrainSlowly {
                takes: self.span("takes")?,
            })?,
            "stick" => {
                let at = source.choice(self.need("in")?, "point of the way up", STICK)?;
                self.ports(PortAction::Stick { at })?
            }
            "speed" => self.ports(PortAction::Speed { rate: self.rate()? })?,
            "interface" => {
                let up =
                    source.choice(self.need("to")?, "word", &[("up", true), ("down", false)])?;
                self.ports(PortAction::Interface { up })?
            }
            "operstate" => {
                let text = source.text(self.need("to")?, "an operstate such as `dormant`")?;
                self.ports(PortAction::Operstate { text })?
            }
            "remove_port" => self.ports(PortAction::RemovePort)?,
            "restore_port" => self.ports(PortAction::RestorePort)?,
            "change_layer" => self.ports(PortAction::ChangeLayer {
                layer: source.layer(self.need("to")?)?,
            })?,
            "counter" => self.counter()?,
            "reset_counter" => self.ports(PortAction::Counter {
                name: self.name()?,
                change: CounterChange::Reset,
            })?,
            "saturate_counter" => self.ports(PortAction::Counter {
                name: self.name()?,
                change: CounterChange::Saturate,
            })?,
            "traffic" => self.traffic()?,
            "remove_char_device" => self.char_device(false)?,
            "restore_char_device" => self.char_device(true)?,
            "take_down" => self.take_down()?,
            "two_sided" => self.two_sided()?,
            "let_up" => self.let_up()?,
            "packet_error" => self.packet_error()?,
            "error_action" => self.error_action()?,
            "module" => self.module()?,
            "neighbour_reboots" => self.ports(PortAction::NeighbourReboot {
                takes: self.span("takes")?,
            })?,
            "partner_power" => self.partner_power()?,
            "switch" => self.switch()?,
            "lnet_fault" => self.lnet_fault()?,
            "no_lnet_fault" => DeedSaid::NoLnetFault {
                workload: self.workload()?,
            },
            "hint" => self.hint()?,
            "agent" => self.agent()?,
            "remove" => self.devices(DeviceAction::Remove)?,
            "restore" => self.devices(DeviceAction::Restore)?,
            "rename" => {
                let to = DeviceName(source.text(self.need("to")?, "a device name")?);
                self.devices(DeviceAction::Rename { to })?
            }
            "replace" => self.devices(DeviceAction::Replace)?,
            "firmware_reset" => self.devices(DeviceAction::FirmwareReset {
                takes: self.span("takes")?,
            })?,
            "pci_error" => self.devices(DeviceAction::PciError {
                takes: self.span("takes")?,
            })?,
            "leave_namespace" => self.devices(DeviceAction::LeaveNamespace)?,
            "return_to_namespace" => self.devices(DeviceAction::ReturnToNamespace)?,
            "create_vfs" => {
                let count = source.number(self.need("count")?, 1, 1024)?;
                let count = u16::try_from(count).expect("a number up to 1024 fits 16 bits");
                self.devices(DeviceAction::CreateVfs { count })?
            }
            "assign_vf" => self.devices(DeviceAction::AssignVf)?,
            "release_vf" => self.devices(DeviceAction::ReleaseVf)?,
            "destroy_vfs" => self.devices(DeviceAction::DestroyVfs)?,
            "hot_add" => DeedSaid::World(Action::Device(
                self.context.subjects(self.value)?,
                DeviceAction::HotAdd {
                    at: handle::pci(source, self.need("pci")?)?,
                    name: DeviceName(source.text(self.need("name")?, "a device name")?),
                    cabled: self
                        .fields
                        .read("cabled", true, |node| source.truth(node))?,
                },
            )),
            "subnet_manager" => {
                let (running, reinitialise) = self.word(&[
                    ("stop", (false, false)),
                    ("die", (false, true)),
                    ("start", (true, false)),
                ])?;
                DeedSaid::World(Action::SubnetManager {
                    running,
                    reinitialise,
                    keeps_logs: true,
                })
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
                DeedSaid::World(Action::Node((), NodeAction::ClockStep { by_ns: ns }))
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

    fn ports(&self, verb: PortAction) -> Read<DeedSaid> {
        Ok(DeedSaid::World(Action::Port(
            self.context.subjects(self.value)?,
            verb,
        )))
    }

    fn devices(&self, verb: DeviceAction) -> Read<DeedSaid> {
        Ok(DeedSaid::World(Action::Device(
            self.context.subjects(self.value)?,
            verb,
        )))
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
        self.ports(PortAction::Set {
            state,
            phys_state: phys,
        })
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
        self.ports(PortAction::Counter {
            name: self.name()?,
            change,
        })
    }

    fn traffic(&self) -> Read<DeedSaid> {
        let source = self.source;
        const MOST: u64 = i64::MAX as u64;
        let packet = self.fields.read("packet", PACKET_BYTES, |node| {
            let bytes = source.number(node, 1, 1 << 20)?;
            Ok(u32::try_from(bytes).expect("a number up to 2^20 fits 32 bits"))
        })?;
        self.ports(PortAction::Traffic {
            bytes_per_second: source.number(self.need("per_second")?, 0, MOST)?,
            packet_bytes: packet,
        })
    }

    fn char_device(&self, there: bool) -> Read<DeedSaid> {
        let kinds = [
            ("issm", CharDeviceKind::Issm),
            ("umad", CharDeviceKind::Umad),
            ("uverbs", CharDeviceKind::Uverbs),
        ];
        let kind = self.need("kind")?;
        let kind = self.source.choice(kind, "character device", &kinds)?;
        self.ports(PortAction::CharDevice { kind, there })
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
            None => Ok(DeedSaid::World(Action::Node((), NodeAction::DriverUnload))),
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

/// The largest path MTU of InfiniBand and RoCE (IBTA 7.7.8), bytes.
const PACKET_BYTES: u32 = 4096;

const STICK: &[(&str, StickAt)] = &[
    ("polling", StickAt::Polling),
    ("training", StickAt::Training),
    ("init", StickAt::Init),
    ("armed", StickAt::Armed),
    ("recovery", StickAt::Recovery),
];

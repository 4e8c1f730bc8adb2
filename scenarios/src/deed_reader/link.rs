//! Reading what is done to either end of a link.

use fabric::opa::{LinkDownReason, PortErrorAction};
use fabric::{Action, PortAction, PortsAction, Side};
use platforms::yaml::{Node, Value};

use super::{Line, Read};
use crate::deed::DeedSaid;
use crate::reader::Source;

/// The two ends by name.
const SIDES: &[(&str, Side)] = &[("here", Side::Here), ("there", Side::There)];

impl Line<'_, '_> {
    pub(super) fn take_down(&self) -> Read<DeedSaid> {
        let reason = self.why("no reason to go down", |reason| reason.is_some())?;
        let unheard = self
            .fields
            .read("unheard", false, |node| self.source.truth(node))?;
        self.ports(PortAction::TakeDown {
            side: self.side()?,
            reason,
            says: !unheard,
        })
    }

    pub(super) fn two_sided(&self) -> Read<DeedSaid> {
        let passes = |reason: LinkDownReason| reason.is_some() && !reason.holds();
        let here = self.why("no reason that passes", passes)?;
        let there = fitting(
            self.source,
            self.need("partner_why")?,
            "no reason that passes",
            passes,
        )?;
        let words = [
            ("here", [false, true]),
            ("there", [true, false]),
            ("both", [false, false]),
        ];
        let says = self.fields.read("unheard", [true, true], |node| {
            self.source.choice(node, "end of a link", &words)
        })?;
        self.ports(PortAction::BothTakeDown {
            here: (here, says[0]),
            there: (there, says[1]),
        })
    }

    pub(super) fn switch(&self) -> Read<DeedSaid> {
        let words = [("lost", false), ("back", true)];
        Ok(DeedSaid::SwitchPower {
            name: self.source.text(self.value, "a switch's name")?,
            place: self.value.place,
            on: self.source.choice(self.need("power")?, "word", &words)?,
        })
    }

    pub(super) fn let_up(&self) -> Read<DeedSaid> {
        let reason = self.why("no reason that holds a port down", |reason| reason.holds())?;
        self.ports(PortAction::LetUp {
            side: self.side()?,
            reason,
        })
    }

    pub(super) fn packet_error(&self) -> Read<DeedSaid> {
        let reason = error(self.source, self.need("why")?)?;
        let side = self.side()?;
        self.ports(if reason == LinkDownReason::EXCESSIVE_BUFFER_OVERRUN {
            PortAction::BufferOverrun { side }
        } else {
            PortAction::PacketError { side, reason }
        })
    }

    pub(super) fn error_action(&self) -> Read<DeedSaid> {
        let to = self.need("to")?;
        let action = match &to.value {
            Value::List(reasons) => {
                let mut action = PortErrorAction::NOTHING;
                for node in reasons {
                    action = action.and(error(self.source, node)?);
                }
                action
            }
            _ => self.source.choice(
                to,
                "set of errors",
                &[
                    ("everything", PortErrorAction::EVERYTHING),
                    ("nothing", PortErrorAction::NOTHING),
                ],
            )?,
        };
        self.ports(PortAction::ErrorAction {
            side: self.side()?,
            action,
        })
    }

    pub(super) fn module(&self) -> Read<DeedSaid> {
        let words = [("out", false), ("in", true)];
        let there = self.source.choice(self.need("to")?, "word", &words)?;
        self.ports(PortAction::Module {
            side: self.side()?,
            there,
        })
    }

    pub(super) fn partner_power(&self) -> Read<DeedSaid> {
        let words = [("lost", false), ("back", true)];
        let on = self.source.choice(self.need("to")?, "word", &words)?;
        Ok(DeedSaid::World(Action::Ports(
            self.context.subjects(self.value)?,
            PortsAction::SwitchPower { on },
        )))
    }

    fn side(&self) -> Read<Side> {
        self.fields.read("end", Side::Here, |node| {
            self.source.choice(node, "end of a link", SIDES)
        })
    }

    fn why(&self, otherwise: &str, fits: impl Fn(LinkDownReason) -> bool) -> Read<LinkDownReason> {
        fitting(self.source, self.need("why")?, otherwise, fits)
    }
}

/// An error that a port finds in what it receives.
fn error(source: &Source<'_>, node: &Node) -> Read<LinkDownReason> {
    fitting(source, node, "no error in what a port receives", |reason| {
        PortErrorAction::bit_of(reason).is_some()
    })
}

/// A reason of a kind.
fn fitting(
    source: &Source<'_>,
    node: &Node,
    otherwise: &str,
    fits: impl Fn(LinkDownReason) -> bool,
) -> Read<LinkDownReason> {
    let found = reason(source, node)?;
    if fits(found) {
        return Ok(found);
    }
    let fitting = LinkDownReason::all().filter(|reason| fits(*reason));
    let words: Vec<String> = fitting
        .map(|reason| format!("`{}`", word(reason)))
        .collect();
    Err(source
        .wrong(node.place, format!("`{}` is {otherwise}", word(found)))
        .hint(format!("allowed: {}", words.join(", "))))
}

/// A LinkDownReason by the end of its symbol in lower case, or by its number.
pub(crate) fn reason(source: &Source<'_>, node: &Node) -> Read<LinkDownReason> {
    if let Value::Whole(_) = node.value {
        let number = source.number(node, 0, 63)?;
        let code = u8::try_from(number).expect("a number up to 63 fits 8 bits");
        return LinkDownReason::by_code(code).ok_or_else(|| {
            source
                .wrong(node.place, format!("the LinkDownReason {code} is reserved"))
                .hint("34, 37, 38, 42 to 48, 53, 55, 59 and 62 are")
        });
    }
    let name = source.text(node, "a LinkDownReason such as `fm_bounce`")?;
    LinkDownReason::all()
        .find(|reason| word(*reason) == name)
        .ok_or_else(|| {
            let words: Vec<String> = LinkDownReason::all().map(word).collect();
            let words = words.iter().map(String::as_str);
            source.unknown(node.place, "LinkDownReason", &name, words)
        })
}

fn word(reason: LinkDownReason) -> String {
    reason.symbol().to_ascii_lowercase()
}

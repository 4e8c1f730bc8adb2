//! Names in an LNet: nets, network identifiers, and patterns over them.

use std::{cmp::Ordering, fmt, net::IpAddr, str::FromStr, sync::Arc};

/// A net, such as `o2ib` or `tcp1`: the driver's name and a number, which is omitted if 0. Copies share their text, because
/// each message has some.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetName(Arc<str>);

/// The driver of a net, which determines the statuses of failures and the timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lnd {
    /// `o2iblnd`: verbs, over InfiniBand or RoCE.
    O2ib,
    /// `socklnd`: TCP.
    Sock,
    /// Any other, without a timeout of its own.
    Other,
}

impl Lnd {
    /// The default of the driver's module parameter `timeout`, in seconds ("lnet/klnds").
    pub(crate) fn own_timeout_s(self) -> Option<u64> {
        match self {
            Self::O2ib | Self::Sock => Some(50),
            Self::Other => None,
        }
    }
}

impl NetName {
    /// The driver of the net.
    #[must_use]
    pub fn lnd(&self) -> Lnd {
        match self.0.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "o2ib" | "o" => Lnd::O2ib,
            "tcp" => Lnd::Sock,
            _ => Lnd::Other,
        }
    }
}

impl fmt::Display for NetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for NetName {
    type Err = NidError;

    fn from_str(text: &str) -> Result<Self, NidError> {
        let letter = text.starts_with(|c: char| c.is_ascii_lowercase());
        let rest = text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        let driver = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = match &text[driver.len()..] {
            "" => Some(0),
            digits => digits.parse::<u16>().ok(),
        };
        match number.filter(|_| letter && rest) {
            // `o2ib0` and `o2ib` are the same net; `o2ib10` is another.
            Some(0) => Ok(Self(driver.into())),
            Some(number) => Ok(Self(format!("{driver}{number}").into())),
            None => Err(NidError::Net(text.to_owned())),
        }
    }
}

/// A network identifier: one interface of one node, such as `10.0.1.1@o2ib`. Nets come first in the order, then addresses,
/// both as texts. Copies share their text, because each message has some, and maps of all peers are searched for them.
#[derive(Clone, Debug)]
pub struct Nid(Arc<NidText>);

#[derive(Debug)]
struct NidText {
    net: NetName,
    address: Box<str>,
    /// Net and address as two numbers with the order of the texts; `None` if they are longer.
    rank: Option<(u64, u128)>,
}

impl NidText {
    fn new(net: NetName, address: &str) -> Self {
        let rank = rank::<8>(&net.0).zip(rank::<16>(address));
        Self {
            rank: rank
                .map(|(net, address)| (u64::from_be_bytes(net), u128::from_be_bytes(address))),
            net,
            address: address.into(),
        }
    }
}

/// A text as a number of `N` bytes, the highest first, which orders as the texts do; `None` if it is longer or has a NUL.
fn rank<const N: usize>(text: &str) -> Option<[u8; N]> {
    let bytes = text.as_bytes();
    let mut rank = [0; N];
    rank.get_mut(..bytes.len())?.copy_from_slice(bytes);
    (!bytes.contains(&0)).then_some(rank)
}

impl Nid {
    /// Its net.
    #[must_use]
    pub fn net(&self) -> &NetName {
        &self.0.net
    }

    /// Whether an interface of a node can have it: on `o2ib` and `tcp` the address is the IP address of one host. Addresses
    /// of other drivers are not looked into.
    #[must_use]
    pub fn is_of_an_interface(&self) -> bool {
        if self.net().lnd() == Lnd::Other {
            return true;
        }
        self.0.address.parse().is_ok_and(|address: IpAddr| {
            let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
            !(address.is_unspecified() || address.is_multicast() || is_broadcast)
        })
    }
}

impl Ord for Nid {
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, other) = (&self.0, &other.0);
        match (one.rank, other.rank) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => (one.net.cmp(&other.net)).then_with(|| one.address.cmp(&other.address)),
        }
    }
}

impl PartialOrd for Nid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Nid {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.cmp(other).is_eq()
    }
}

impl Eq for Nid {}

impl fmt::Display for Nid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.0.address, self.0.net)
    }
}

impl FromStr for Nid {
    type Err = NidError;

    fn from_str(text: &str) -> Result<Self, NidError> {
        match text.split_once('@') {
            Some((address, net)) if !address.is_empty() && !address.contains(['*', ' ']) => {
                Ok(Self(Arc::new(NidText::new(net.parse()?, address))))
            }
            _ => Err(NidError::Nid(text.to_owned())),
        }
    }
}

/// A pattern of a rule: `*`, `*@o2ib` or one NID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NidPattern {
    /// Every NID.
    Any,
    /// Every NID of a net.
    OnNet(NetName),
    /// This NID.
    One(Nid),
}

impl NidPattern {
    /// Whether `nid` matches.
    #[must_use]
    pub fn fits(&self, nid: &Nid) -> bool {
        match self {
            Self::Any => true,
            Self::OnNet(net) => nid.net() == net,
            Self::One(one) => nid == one,
        }
    }
}

impl fmt::Display for NidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::OnNet(net) => write!(f, "*@{net}"),
            Self::One(nid) => nid.fmt(f),
        }
    }
}

impl FromStr for NidPattern {
    type Err = NidError;

    fn from_str(text: &str) -> Result<Self, NidError> {
        match text.strip_prefix('*') {
            Some("") => Ok(Self::Any),
            Some(rest) => match rest.strip_prefix('@') {
                Some(net) => Ok(Self::OnNet(net.parse()?)),
                None => Err(NidError::Nid(text.to_owned())),
            },
            None => Ok(Self::One(text.parse()?)),
        }
    }
}

/// An invalid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NidError {
    /// An invalid net.
    #[error("`{0}` is not a net\nhint: {hint}", hint = self.hint())]
    Net(String),
    /// An invalid network identifier.
    #[error("`{0}` is not a NID\nhint: {hint}", hint = self.hint())]
    Nid(String),
}

impl NidError {
    /// The hint.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Net(..) => "a driver's name and a number up to 65535, such as `o2ib` or `tcp1`",
            Self::Nid(..) => "an address, `@` and a net, such as `10.0.1.1@o2ib`",
        }
    }
}

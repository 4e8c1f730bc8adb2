//! `nicdrill lnet import`: a scenario whose client has the LNet that `lnetctl export` wrote on a node.
//!
//! Taken over are the number of interfaces on each net, routes, and the parameters of `global`. A story has its own
//! addresses, and one net on each side; peers and tunables are left out. Start at [`imported`].

use std::{fmt::Write as _, ops::RangeInclusive};

use files::{FileError, Node, YamlValue, did_you_mean, yaml};
use lnet::{Lnd, LnetProfile, NetName, Nid, Param, Params};

/// The profile whose defaults are compared with the file.
const PROFILE: LnetProfile = LnetProfile::V2_17;
/// The number of routers in the world `storage-routed`.
const ROUTERS: usize = 2;
/// The number of ports of the role `storage` that a node of these worlds has.
const PORTS: usize = 4;
/// How older releases of `lnetctl` write the hop of -1, which was not stated.
const HOP_UNSTATED: i64 = u32::MAX as i64;

/// An exported file, for errors with their place.
struct Exported<'a> {
    file: &'a str,
    text: &'a str,
}

/// The interfaces of the node.
struct ExportedInterfaces {
    /// Their NIDs, those on `o2ib` and `tcp`.
    nids: Vec<Nid>,
    /// The net of those on `o2ib`.
    o2ib: NetName,
}

impl ExportedInterfaces {
    /// How many are on nets of this driver.
    fn on(&self, lnd: Lnd) -> usize {
        let on = self.nids.iter().filter(|nid| nid.net().lnd() == lnd);
        on.count()
    }
}

/// A route of the node.
struct ExportedRoute {
    net: NetName,
    gateway: Nid,
    hop: i64,
    priority: i64,
}

/// The scenario, as YAML.
///
/// # Errors
/// A [`FileError`] if the text is no export, or one that a workload cannot have.
pub(crate) fn imported(file: &str, text: &str) -> Result<String, FileError> {
    let root: Node = yaml::read(file, text)?;
    let exported = Exported { file, text };
    exported.known_keys(&root, "the file", &["net", "route", "global"], true)?;
    let interfaces = exported.interfaces(&root)?;
    let (nis, tcp) = (interfaces.on(Lnd::O2ib), interfaces.on(Lnd::Sock));
    let routes = exported.routes(&root, &interfaces)?;
    let (discovery, parameters) = exported.parameters(&root)?;
    if let (Some((_, node)), true) = (routes.first(), tcp > 0) {
        let what = "routes on a node that is on `tcp` and on `o2ib`";
        let hint = "a workload has either; leave one of the nets or the routes out of the file";
        return Err(exported.wrong(node, what).hint(hint));
    }
    let mut page = "scenario: the LNet of a node as it was exported\nwhy: >-\n  The client has the interfaces, \
                    routes and parameters that `lnetctl export` wrote. Nothing is wrong yet.\n"
        .to_owned();
    if routes.len() > ROUTERS {
        let _ = writeln!(
            page,
            "# `storage-routed` has {ROUTERS} routers: name a world of your own with {}.",
            routes.len()
        );
    }
    let world = if routes.is_empty() {
        "storage-pair"
    } else {
        "storage-routed"
    };
    // A router is on both nets.
    let needed = if routes.is_empty() {
        nis + tcp
    } else {
        2 * nis
    };
    if needed > PORTS {
        let _ = writeln!(
            page,
            "# A node of `{world}` has {PORTS} ports of the role `storage`: name a world of your own with {needed}."
        );
    }
    let _ = write!(
        page,
        "world: {world}\nworkloads:\n  storage:\n    lnet:\n      client: client\n      server: server\n      nis: {nis}\n"
    );
    if tcp > 0 {
        let _ = writeln!(page, "      tcp: {tcp}");
    }
    if let Some((first, _)) = routes.first() {
        let names: Vec<String> = (1..=routes.len())
            .map(|at| format!("router-{at}"))
            .collect();
        let _ = writeln!(page, "      routers: [ {} ]", names.join(", "));
        if first.net.lnd() == Lnd::Sock {
            page += "      server_net: tcp\n";
        }
        page += "      routes:\n";
        for ((route, _), name) in routes.iter().zip(&names) {
            let (priority, hop) = (route.priority, route.hop);
            let _ = writeln!(
                page,
                "        - {{ node: [ client, server ], gateway: {name}, priority: {priority}, hop: {hop} }}  # {}",
                route.gateway
            );
        }
    }
    if !discovery {
        page += "      discovery: { off: [ client ] }\n";
    }
    if !parameters.is_empty() {
        page += "given:\n";
        for (param, value) in parameters {
            let _ = writeln!(
                page,
                "  - {{ lnet_set: storage, node: client, param: {param}, to: {value} }}"
            );
        }
    }
    page += "timeline:\n  - at: 0s\n    expect: [ { this_poll: baseline } ]\n  - at: 40s\n    expect: [ { workload: storage, outcome: survived } ]\nuntil: 40s\n";
    Ok(page)
}

impl Exported<'_> {
    fn wrong(&self, node: &Node, what: impl Into<String>) -> FileError {
        FileError::at(self.file, self.text, node.place, what)
    }

    /// The interfaces on `o2ib` and on `tcp`.
    fn interfaces(&self, root: &Node) -> Result<ExportedInterfaces, FileError> {
        let mut nets: [Option<NetName>; 2] = [None, None];
        let mut nids = Vec::new();
        for net in self.items(root, "net")? {
            self.known_keys(net, "a net", &["net type", "local NI(s)"], true)?;
            let of_type = entry(net, "net type").unwrap_or(net);
            let name = of_type.to_string();
            if name == "lo" {
                continue;
            }
            let name: Option<NetName> = name.parse().ok();
            let (at, driver) = match name.as_ref().map(NetName::lnd) {
                Some(Lnd::O2ib) => (0, "o2ib"),
                Some(Lnd::Sock) => (1, "tcp"),
                _ => {
                    let what = format!("a net of the type `{of_type}`");
                    let hint = "the interfaces of a workload are on `o2ib` and `tcp`";
                    return Err(self.wrong(of_type, what).hint(hint));
                }
            };
            let name = name.expect("its driver is known");
            if let Some(other) = &nets[at] {
                let what = format!("two nets of the driver of `{driver}`, `{other}` and `{name}`");
                let hint = "a workload has one: leave the other out of the file";
                return Err(self.wrong(of_type, what).hint(hint));
            }
            for ni in self.items(net, "local NI(s)")? {
                let nid = self.nid_on(ni, &name)?;
                if nids.contains(&nid) {
                    let what = format!("the interface `{nid}` a second time");
                    return Err(self.wrong(ni, what).hint("each has a NID of its own"));
                }
                nids.push(nid);
            }
            nets[at] = Some(name);
        }
        let [o2ib, _] = nets;
        match o2ib {
            Some(o2ib) if nids.iter().any(|nid| *nid.net() == o2ib) => {
                Ok(ExportedInterfaces { nids, o2ib })
            }
            _ => {
                let what = "no interface on `o2ib`";
                let hint = "`net:` has a list of nets, each with its `local NI(s):`, as `lnetctl export` writes it; a client is on `o2ib`";
                Err(self.wrong(root, what).hint(hint))
            }
        }
    }

    /// The NID of an interface, which is on this net.
    fn nid_on(&self, ni: &Node, net: &NetName) -> Result<Nid, FileError> {
        let hint = format!("such as `nid: 10.0.1.1@{net}`");
        let Some(node) = entry(ni, "nid") else {
            return Err(self.wrong(ni, "an interface without a NID").hint(hint));
        };
        let nid = self.nid(node, "NID", &hint)?;
        if nid.net() != net {
            let what = format!("the NID `{nid}` below the net `{net}`");
            return Err(self.wrong(node, what).hint(hint));
        }
        Ok(nid)
    }

    /// A NID that an interface can have.
    fn nid(&self, node: &Node, what: &str, hint: &str) -> Result<Nid, FileError> {
        let text = node.to_string();
        let nid = text.parse().ok();
        nid.filter(Nid::is_of_an_interface).ok_or_else(|| {
            let hint = format!(
                "{hint}: the IP address of one host (four numbers up to 255), `@` and a net"
            );
            self.wrong(node, format!("invalid {what} `{text}`"))
                .hint(hint)
        })
    }

    /// The routes with their places; all lead to one net, each by a router of its own.
    fn routes<'n>(
        &self,
        root: &'n Node,
        interfaces: &ExportedInterfaces,
    ) -> Result<Vec<(ExportedRoute, &'n Node)>, FileError> {
        let mut routes: Vec<(ExportedRoute, &Node)> = Vec::new();
        for node in self.items(root, "route")? {
            let keys = ["net", "gateway", "hop", "priority"];
            self.known_keys(node, "a route", &keys, true)?;
            let hint = "such as `net: o2ib1` and `gateway: 10.0.1.9@o2ib`";
            let needed = |key| {
                let missing = || {
                    self.wrong(node, format!("a route without a {key}"))
                        .hint(hint)
                };
                entry(node, key).ok_or_else(missing)
            };
            let (net_node, gateway_node) = (needed("net")?, needed("gateway")?);
            let net = net_node.to_string().parse::<NetName>().map_err(|error| {
                let what = format!("invalid net `{net_node}`");
                self.wrong(net_node, what).hint(error.hint())
            })?;
            let gateway = self.nid(gateway_node, "gateway", "such as `gateway: 10.0.1.9@o2ib`")?;
            if gateway.net().lnd() != Lnd::O2ib || net.lnd() == Lnd::Other {
                let what = format!("a route from `{}` to `{net}`", gateway.net());
                let hint = "routers lead from `o2ib` to another net of `o2ib` or `tcp`";
                return Err(self.wrong(node, what).hint(hint));
            }
            if interfaces.nids.iter().any(|nid| *nid.net() == net) {
                let what = format!("a route to `{net}`, which the node is on");
                let hint = "a route leads to a net that the node has no interface on";
                return Err(self.wrong(node, what).hint(hint));
            }
            if *gateway.net() != interfaces.o2ib || interfaces.nids.contains(&gateway) {
                let what = format!("the gateway `{gateway}`");
                let hint = format!("a gateway is another node on `{}`", interfaces.o2ib);
                return Err(self.wrong(node, what).hint(hint));
            }
            if let Some((first, _)) = routes.first()
                && first.net != net
            {
                let what = format!("routes to two nets, `{}` and `{net}`", first.net);
                let hint = "the server of a workload is on one net: leave the other routes out";
                return Err(self.wrong(node, what).hint(hint));
            }
            if routes.iter().any(|(other, _)| other.gateway == gateway) {
                let what = format!("a second route by `{gateway}`");
                return Err(self
                    .wrong(node, what)
                    .hint("leave one of them out of the file"));
            }
            // A hop that was not stated counts as one.
            let hop = match self.number(node, "hop", 1)? {
                -1 | HOP_UNSTATED => 1,
                hop => self.within(node, "hop", hop, 1..=255)?,
            };
            let priority = self.number(node, "priority", 0)?;
            let priority = self.within(node, "priority", priority, 0..=1_000_000)?;
            let route = ExportedRoute {
                net,
                gateway,
                hop,
                priority,
            };
            routes.push((route, node));
        }
        Ok(routes)
    }

    /// Whether the node discovers, and the parameters that are not the defaults, in an order in which they can be set.
    fn parameters(&self, root: &Node) -> Result<(bool, Vec<(Param, i64)>), FileError> {
        let Some(global) = entry(root, "global") else {
            return Ok((true, Vec::new()));
        };
        // The time limit of a try follows from the others.
        let mut known = Param::ALL.map(Param::name).to_vec();
        known.push("lnd_timeout");
        self.known_keys(global, "`global`", &known, false)?;
        let discovery = Param::Discovery.name();
        let found = self.number(global, discovery, 1)?;
        let (least, most) = Param::Discovery.range();
        let discovery = self.within(global, discovery, found, least..=most)? != 0;
        let mut params: Params = PROFILE.defaults();
        let mut left = Vec::new();
        for param in Param::ALL
            .into_iter()
            .filter(|param| *param != Param::Discovery)
        {
            if entry(global, param.name()).is_some() {
                left.push((param, self.number(global, param.name(), 0)?));
            }
        }
        let mut set = Vec::new();
        // Some can be set only after others.
        loop {
            let before = left.len();
            let mut refused = None;
            left.retain(|(param, value)| {
                if i64::from(params.get(*param)) == *value {
                    return false;
                }
                match params.set(*param, *value) {
                    Ok(()) => {
                        set.push((*param, *value));
                        false
                    }
                    Err(error) => {
                        refused.get_or_insert((*param, error));
                        true
                    }
                }
            });
            match refused {
                None => return Ok((discovery, set)),
                Some((param, error)) if left.len() == before => {
                    let node = entry(global, param.name()).unwrap_or(global);
                    let what = error.to_string();
                    let what = what.split("\nhint: ").next().unwrap_or_default().to_owned();
                    return Err(self.wrong(node, what).hint(error.hint()));
                }
                Some(_) => {}
            }
        }
    }

    /// Refuses a key that looks like one of these and is none; with `others` unset every key that is none.
    fn known_keys(
        &self,
        node: &Node,
        whose: &str,
        known: &[&str],
        others: bool,
    ) -> Result<(), FileError> {
        let pairs = match &node.value {
            YamlValue::Map(pairs) => &pairs[..],
            YamlValue::Null => &[],
            other => {
                let what = format!("{whose} is {}", other.kind());
                let hint = format!("write keys and values, such as `{}: …`", known[0]);
                return Err(self.wrong(node, what).hint(hint));
            }
        };
        for (key, _) in pairs {
            if known.contains(&key.name.as_str()) {
                continue;
            }
            let meant = did_you_mean(&key.name, known.iter().copied());
            if meant.is_empty() && others {
                continue;
            }
            let list: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
            let what = format!("unknown key `{}` of {whose}", key.name);
            let wrong = FileError::at(self.file, self.text, key.place, what);
            return Err(wrong.hint(format!("{meant}allowed: {}", list.join(", "))));
        }
        Ok(())
    }

    /// The items of the list below a key; none without the key.
    fn items<'n>(&self, node: &'n Node, key: &str) -> Result<&'n [Node], FileError> {
        let Some(list) = entry(node, key) else {
            return Ok(&[]);
        };
        match &list.value {
            YamlValue::List(items) => Ok(items),
            YamlValue::Null => Ok(&[]),
            other => {
                let what = format!("`{key}` is {}", other.kind());
                Err(self
                    .wrong(list, what)
                    .hint("write a list, as `lnetctl export` does"))
            }
        }
    }

    /// The number of a key, if it is in this range.
    fn within(
        &self,
        node: &Node,
        key: &str,
        number: i64,
        range: RangeInclusive<i64>,
    ) -> Result<i64, FileError> {
        if range.contains(&number) {
            return Ok(number);
        }
        let place = entry(node, key).unwrap_or(node);
        let wrong = self.wrong(place, format!("`{key}` cannot be {number}"));
        Err(wrong.hint(format!("allowed: {} to {}", range.start(), range.end())))
    }

    /// A number below a key; `otherwise` without the key.
    fn number(&self, node: &Node, key: &str, otherwise: i64) -> Result<i64, FileError> {
        match entry(node, key) {
            None => Ok(otherwise),
            Some(Node {
                value: YamlValue::Whole(number),
                ..
            }) => Ok(*number),
            Some(other) => {
                let what = format!("`{key}` is {}", other.value.kind());
                Err(self.wrong(other, what).hint("write a whole number"))
            }
        }
    }
}

/// The value of a key; `None` if it is not there, or the node is no map.
fn entry<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let YamlValue::Map(pairs) = &node.value else {
        return None;
    };
    let found = pairs.iter().find(|(name, _)| name.name == key);
    found.map(|(_, node)| node)
}

//! The text of a laboratory's page, written from nothing but its JSON: so the JSON has every fact of the text.

use std::collections::BTreeSet;

use serde_json::Value;
use simfs::SimTime;

fn all<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    let found = of[key].as_array();
    found.unwrap_or_else(|| panic!("no list `{key}` in {of:#}"))
}

fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    let found = of[key].as_str();
    found.unwrap_or_else(|| panic!("no text `{key}` in {of:#}"))
}

fn time(of: &Value, key: &str) -> SimTime {
    let found = of[key].as_u64();
    SimTime::from_ns(found.unwrap_or_else(|| panic!("no time `{key}` in {of:#}")))
}

fn number(of: &Value, key: &str) -> u64 {
    let found = of[key].as_u64();
    found.unwrap_or_else(|| panic!("no number `{key}` in {of:#}"))
}

/// `lnet show --why`.
pub(crate) fn why(page: &Value) -> String {
    let at = time(page, "at_ns");
    let traces = all(page, "traces").iter().map(|trace| {
        let heading = format!(
            "# messages of workload {}, up to {at}\n",
            text(trace, "workload")
        );
        let requests: Vec<String> = all(trace, "requests").iter().map(request).collect();
        match trace["note"].as_str() {
            Some(note) => format!("{heading}# {note}\n"),
            None => heading + &requests.join("\n"),
        }
    });
    traces.collect()
}

fn request(request: &Value) -> String {
    let mut page = format!("request {}\n", number(request, "request"));
    let unsent = all(request, "not_sent").iter();
    let unsent: String = unsent
        .map(|message| format!(", message {message} was not sent"))
        .collect();
    let timer = request["first_timer"]["text"].as_str();
    let timer = timer.map_or_else(|| format!("none{unsent}"), ToOwned::to_owned);
    page += &format!("  first timer to run out: {timer}\n");
    let healthless = all(request, "no_health_to_lose").iter();
    let healthless = healthless.map(|ni| format!("{} has no health to lose", ni.as_str().unwrap()));
    let blamed = all(request, "blamed");
    if blamed.is_empty() {
        let healthless: String = healthless.map(|text| format!(", {text}")).collect();
        page += &format!("  blamed: no interface{healthless}{unsent}\n");
    } else {
        for line in blamed {
            assert!(line["health"]["after"].as_u64() < line["health"]["before"].as_u64());
            page += &format!(
                "  blamed: at {}, {}\n",
                time(line, "at_ns"),
                text(line, "text")
            );
        }
        let healthless = healthless.map(|text| format!("  blamed in vain: {text}\n"));
        page.extend(healthless);
    }
    page += &of_message(request);
    for entry in all(request, "entries") {
        let line = format!(
            "{} {}: {}\n",
            time(entry, "at_ns"),
            text(entry, "node"),
            text(entry, "text")
        );
        match &entry["choice"] {
            Value::Null => page += &line,
            choice => page += &format!("\n{line}{}", candidates(choice)),
        }
    }
    page
}

/// What was lost, sent again and not sent again, in the order of time; at one time as the entries are.
fn of_message(request: &Value) -> String {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (key, words) in [
        ("sent_again", "sent again"),
        ("lost", "lost"),
        ("no_other_path", "no other path"),
    ] {
        for line in all(request, key) {
            if key != "sent_again" {
                let reason = text(line, "reason");
                assert!(text(line, "text").contains(reason), "{line:#}");
            }
            let place = all(request, "entries").iter().position(|entry| {
                let same = |key: &str| entry[key] == line[key];
                let attempt = &entry["choice"]["attempt"];
                let told = text(entry, "text");
                ["at_ns", "node", "message", "request"]
                    .into_iter()
                    .all(same)
                    && match key {
                        "lost" => told.contains(" is lost: "),
                        _ if line["attempt"].is_u64() => *attempt == line["attempt"],
                        _ => told.contains(" is not resent: ") || told.contains(" overdue since "),
                    }
            });
            let place = place.unwrap_or_else(|| panic!("no entry of {line:#}"));
            lines.push((place, format!("  {words}: {}\n", text(line, "text"))));
        }
    }
    lines.sort_by_key(|(place, _)| *place);
    lines.into_iter().map(|(_, line)| line).collect()
}

fn candidates(choice: &Value) -> String {
    let sides = [
        ("gateway", "gateways", "its route is down"),
        ("source", "sources", "fatal"),
        ("destination", "destinations", "reported down"),
    ];
    let mut rows = String::new();
    for (side, key, down) in sides {
        for one in all(choice, key) {
            let down = match one["down"].as_bool() {
                Some(true) => format!(", {down}"),
                _ => String::new(),
            };
            let verdict = match one["passed_over"].as_str() {
                None => "chosen".to_owned(),
                Some(why @ "there is no path") => why.to_owned(),
                Some(why) => format!("passed over, {why}"),
            };
            rows += &format!(
                "  {side:<12}{:<18} health {:>4}, credits {}, priority {}, selected {}{down}: {verdict}\n",
                text(one, "nid"),
                number(one, "health"),
                one["credits"],
                one["priority"],
                reports::counted(number(one, "selected"), "time"),
            );
        }
    }
    rows
}

/// `lnet show --trace`: every line that it may have, as one is of an entry, or names the request of one.
pub(crate) fn trace_lines(page: &Value) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    let at = time(page, "at_ns");
    for trace in all(page, "traces") {
        let workload = text(trace, "workload");
        lines.insert(format!("# messages of workload {workload}, up to {at}"));
        for entry in all(trace, "entries") {
            let head = format!("{} {}: ", time(entry, "at_ns"), text(entry, "node"));
            let told = text(entry, "text");
            lines.insert(format!("{head}{told}"));
            if told.contains(" finds the response overdue since ") {
                let request = number(entry, "request");
                lines.insert(format!("{head}the response to {request} is overdue"));
            }
        }
    }
    lines
}

/// `lnet show --over`, its cells parted by single tabs: the titles, then a row for each time.
pub(crate) fn over(page: &Value) -> String {
    let span = format!("{} to {}", time(page, "from_ns"), time(page, "to_ns"));
    let mut told = String::new();
    for table in all(page, "tables") {
        let (node, workload) = (text(table, "node"), text(table, "workload"));
        told += &format!("# {node}, workload {workload}, {span}\n");
        for row in all(table, "rows") {
            let cells = row.as_object().expect("a row").iter();
            let cells = cells.filter(|(title, _)| !["time", "at_ns"].contains(&title.as_str()));
            let mut cells: Vec<String> = cells
                .map(|(title, cell)| format!("{title}={}", cell.as_str().expect("a cell")))
                .collect();
            cells.sort();
            told += &format!("{}\t{}\n", time(row, "at_ns"), cells.join("\t"));
        }
    }
    told
}

/// The printed tables in the form of [`over`].
pub(crate) fn over_of_text(page: &str) -> String {
    let (mut told, mut titles) = (String::new(), Vec::new());
    for line in page.lines() {
        let cells = line
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty());
        let cells: Vec<&str> = cells.collect();
        if line.starts_with("# ") {
            told += &format!("{line}\n");
        } else if let ["time", rest @ ..] = &cells[..] {
            titles = rest.to_vec();
        } else {
            assert_eq!(cells.len(), titles.len() + 1, "{line}");
            let cell = |(title, cell): (&&str, &&str)| format!("{title}={cell}");
            let mut row: Vec<String> = titles.iter().zip(&cells[1..]).map(cell).collect();
            row.sort();
            told += &format!("{}\t{}\n", cells[0], row.join("\t"));
        }
    }
    told
}

/// `mpib show`, of which the course is printed with `--timeline` and the state otherwise.
pub(crate) fn jobs(page: &Value, with_course: bool) -> String {
    let jobs = all(page, "jobs").iter().map(|job| {
        let ranks: Vec<&str> = all(job, "ranks").iter().filter_map(Value::as_str).collect();
        let transport = match text(job, "transport") {
            "mpib" => format!("MPIB, profile {}", text(job, "profile")),
            _ => "NCCL's own transport, because MPIB was refused".to_owned(),
        };
        let heading = format!(
            "# job {} on {}, up to {}: {transport}\n",
            text(job, "job"),
            ranks.join(" "),
            time(job, "at_ns")
        );
        let verdict = all(job, "verdict").iter().filter_map(Value::as_str);
        let verdict: String = verdict.map(|line| format!("{line}\n")).collect();
        let part = if with_course { course(job) } else { state(job) };
        heading + &part + &verdict
    });
    jobs.collect()
}

fn course(job: &Value) -> String {
    let tries = &job["tries"];
    let formula = tries["exponent"].as_u64();
    let formula = formula.map_or_else(String::new, |exponent| {
        format!(" (4.096 us * 2^{exponent})")
    });
    let mut page = format!(
        "# {} tries of {}{formula}\n",
        tries["count"],
        time(tries, "each_ns")
    );
    for line in all(job, "timeline") {
        page += &format!("{} {}\n", time(line, "at_ns"), text(line, "text"));
    }
    page
}

fn state(job: &Value) -> String {
    let mut page = String::new();
    for refusal in all(job, "refusals") {
        let [host, result, reason] = ["host", "result", "reason"].map(|key| text(refusal, key));
        page += &format!("{host}: init returned {result}: {reason}\n");
        let hint = refusal["hint"].as_str();
        page.extend(hint.map(|hint| format!("  hint: {hint}\n")));
    }
    for edge in all(job, "edges") {
        let [from, to] = ["from", "to"].map(|key| text(edge, key));
        let messages = reports::counted(number(edge, "delivered"), "message");
        page += &format!("{from} to {to}: {messages} delivered\n");
        for (host, verb) in [(from, "sends"), (to, "receives")] {
            page += &format!("  {host} {verb}: {}\n", end(&edge[verb], verb));
        }
        let [sout, sup, both] = ["0x1", "0x2", "0x3"].map(|mask| &edge["by_mask"][mask]);
        page += &format!("  messages by mask: 0x1 {sout}, 0x2 {sup}, 0x3 {both}\n");
    }
    for host in all(job, "hosts") {
        let name = text(host, "host");
        for rail in all(host, "rails") {
            let [which, device] = ["rail", "device"].map(|key| text(rail, key));
            let [sent, received] = ["bytes_sent", "bytes_received"].map(|key| &rail[key]);
            page += &format!("{name} {which} {device}: {sent} bytes sent, {received} received\n");
        }
        let hints = reports::counted(number(host, "hints_read"), "hint");
        page += &format!("{name}: {hints} read\n");
    }
    for hazard in all(job, "hazards") {
        page += &format!("hazard: {}\n", hazard.as_str().expect("a text"));
    }
    for stall in all(job, "stalls") {
        let (edge, from) = (text(stall, "edge"), time(stall, "from_ns"));
        page += &match stall["to_ns"].as_u64().map(SimTime::from_ns) {
            Some(to) => format!("{edge}: a message waited from {from} to {to}\n"),
            None => format!("{edge}: a message was not delivered since {from}\n"),
        };
    }
    page
}

fn end(end: &Value, verb: &str) -> String {
    let class = end["class"].as_str().unwrap_or("not classified");
    let rails = match (verb, &end["sup_share"]) {
        ("receives", _) => format!("clear-to-send on {}", text(end, "clear_to_send")),
        (_, Value::String(_)) => "SUP's share by the agent's hint".to_owned(),
        (_, share) => format!("SUP's share fixed at {share}, no hint read"),
    };
    let [sout, sup] = ["SOUT", "SUP"].map(|rail| &end["queue_pairs"][rail]);
    let slot = end["hint_slot"].as_u64();
    let slot = slot.map_or_else(String::new, |slot| format!(", hint slot {slot}"));
    format!("{class}, {rails}, queue pairs SOUT {sout} SUP {sup}{slot}")
}

/// What the tools print of both ends of each link, `link show` without a view: each end's lines below its heading.
pub(crate) fn ends(page: &Value) -> Vec<String> {
    let links = all(page, "links").iter();
    links
        .flat_map(|link| {
            all(link, "ends").iter().map(|end| {
                let mut told = slow(&end["lanes"]);
                if link["virtual_function"] == true {
                    return told + "a virtual function's port: its link is its physical one's\n";
                }
                if text(end, "end") == "here" {
                    told += "$ opaportinfo\n";
                    told += &match &end["port"] {
                        Value::Null => "unavailable: the port cannot be read\n".to_owned(),
                        port => format!(
                            "Subnet:   {}       GUID: {}\n{}",
                            text(port, "subnet"),
                            long_hex(text(port, "guid")),
                            body(port)
                        ),
                    };
                }
                told += "$ opasaquery -o portinfo -vvv\n";
                told + &match end["no_record"].as_str() {
                    Some(why) => format!("unavailable: {why}\n"),
                    None => record(end),
                }
            })
        })
        .collect()
}

/// The C library writes zero so.
fn long_hex(text: &str) -> &str {
    match text {
        "0x0000000000000000" => "000000000000000000",
        text => text,
    }
}

fn slow(lanes: &Value) -> String {
    let [sends, receives, full] = ["sends", "receives", "full"].map(|key| lanes[key].as_u64());
    if sends < full || receives < full {
        let [sends, receives, full] = ["sends", "receives", "full"].map(|key| &lanes[key]);
        return format!(
            "slow: it sends over {sends} and receives over {receives} of {full} lanes\n"
        );
    }
    String::new()
}

fn record(end: &Value) -> String {
    let port = &end["port"];
    let (lid, place) = (number(port, "lid"), number(port, "number"));
    let mut told = format!(
        "PortLID:       {lid:#010x}        PortNum:   {place:#04x} ({place:2})\n{}",
        body(port)
    );
    if all(end, "log").is_empty() {
        told += "LinkDownErrorLog: None\n";
    }
    for entry in all(end, "log") {
        // The world begins on the first of a month, at midnight; no story here is as long as twelve hours.
        let at = time(entry, "at_ns").as_ns() / 1_000_000_000;
        let hour = if at < 3600 { 12 } else { at / 3600 };
        let time = format!("March 01, {hour:02}:{:02}:{:02} AM", at / 60 % 60, at % 60);
        for (name, whose, end) in [
            ("LinkDownErrorLog", "own", " "),
            ("NeighborLinkDownErrorLog", "neighbour", ""),
        ] {
            let reason = &entry["reasons"][whose];
            let (code, reason) = (number(reason, "code"), text(reason, "text"));
            told += &format!("{name}: {code:2} ({reason:>20}) Time: {time}{end}\n");
        }
    }
    told
}

fn body(port: &Value) -> String {
    let truth = |key: &str| match port[key].as_bool() {
        Some(true) => "True",
        _ => "False",
    };
    let reason = |whose: &str| text(&port["reasons"][whose], "text");
    let shown = ["own", "neighbour"]
        .into_iter()
        .find(|whose| number(&port["reasons"][*whose], "code") != 0);
    let state = match (text(port, "state"), shown, text(port, "init")) {
        ("Down", Some(whose), _) => format!("Down ({})", reason(whose)),
        ("Init", _, init) if init != "None" => format!("Init ({init})"),
        (state, ..) => state.to_owned(),
    };
    format!(
        "LocalPort:     {:<3}               PortState:        {state}\n\
         PhysicalState: {:<14}\n\
         OfflineDisabledReason: {:<14}\n\
         IsSMConfigurationStarted: {:<5}  NeighborNormal: {}\n\
         BaseLID:       {:#010x}        SMLID:            {:#010x}\n\
         LinkDownReason: {}    NeighborLinkDownReason: {}\n",
        number(port, "number"),
        text(port, "physical"),
        text(&port["offline"], "text"),
        truth("configured"),
        truth("neighbour_normal"),
        number(port, "lid"),
        number(port, "sm_lid"),
        reason("own"),
        reason("neighbour"),
    )
}

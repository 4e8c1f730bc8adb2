//! The output of the fabric tools for a port: `opaportinfo`, and `opasaquery -o portinfo`.
//!
//! The lines follow the tools' format strings (`IbPrint/stl_sma.c`, `IbPrint/stl_sa.c`), in the tools'
//! order; only lines about the link are here. Start at [`port_info_text`] and [`port_record_text`].

use jiff::Timestamp;

use super::{
    log::LinkDownErrorLog,
    port_info::{NO_LID, PortInfo},
    reason::LinkDownReason,
    state::Logical,
};

/// The output of `opaportinfo`.
#[must_use]
pub fn port_info_text(info: &PortInfo) -> String {
    let header = format!(
        "Subnet:   {}       GUID: {}\n",
        long_hex(info.subnet),
        long_hex(info.guid)
    );
    header + &body(info)
}

/// The output of `opasaquery -o portinfo` for one port, with the subnet manager's log (`-vvv`).
#[must_use]
pub fn port_record_text(info: &PortInfo, log: &LinkDownErrorLog) -> String {
    let head = format!(
        "PortLID:       {:#010x}        PortNum:   {:#04x} ({:2})\n",
        info.lid, info.port, info.port
    );
    head + &body(info) + &log_text(log)
}

fn body(info: &PortInfo) -> String {
    let truth = |it| if it { "True" } else { "False" };
    let lines = [
        format!(
            "LocalPort:     {:<3}               PortState:        {}",
            info.port,
            state_text(info)
        ),
        format!("PhysicalState: {:<14}", info.physical),
        format!("OfflineDisabledReason: {:<14}", info.offline),
        format!(
            "IsSMConfigurationStarted: {:<5}  NeighborNormal: {}",
            truth(info.configured),
            truth(info.neighbour_normal)
        ),
        format!(
            "BaseLID:       {}        SMLID:            {}",
            lid_text(info.lid),
            lid_text(info.sm_lid)
        ),
        format!(
            "LinkDownReason: {}    NeighborLinkDownReason: {}",
            info.pair.local, info.pair.neighbour
        ),
    ];
    lines.map(|line| line + "\n").concat()
}

/// The logical state, and the reason that belongs to it: why the link is down, or why it stays in Init.
#[must_use]
pub fn state_text(info: &PortInfo) -> String {
    let rendered = info.pair.printed();
    match info.logical {
        Logical::Down if rendered.is_some() => format!("{} ({rendered})", info.logical),
        Logical::Init if info.init.code() != 0 => format!("{} ({})", info.logical, info.init),
        logical => logical.to_string(),
    }
}

/// The log's part of a record: two lines for each entry, or one line if it is empty.
#[must_use]
pub fn log_text(log: &LinkDownErrorLog) -> String {
    if log.is_empty() {
        return "LinkDownErrorLog: None\n".to_owned();
    }
    let entry = |name: &str, reason: LinkDownReason, time: &str| {
        format!("{name}: {:2} ({reason:>20}) Time: {time}", reason.code())
    };
    log.printed()
        .map(|it| {
            let time = time_text(it.at_s);
            let own = entry("LinkDownErrorLog", it.pair.local, &time);
            let neighbours = entry("NeighborLinkDownErrorLog", it.pair.neighbour, &time);
            // The first of the two lines ends in a space.
            format!("{own} \n{neighbours}\n")
        })
        .collect()
}

/// Sixteen digits after `0x`; for zero, the C library leaves out the `0x` and pads with zeros.
fn long_hex(number: u64) -> String {
    if number == 0 {
        "0".repeat(18)
    } else {
        format!("{number:#018x}")
    }
}

fn lid_text(lid: u32) -> String {
    if lid == NO_LID {
        "DontCare".to_owned()
    } else {
        format!("{lid:#010x}")
    }
}

/// The year 2^31 - 1 + 1900 is the last that a C `struct tm` holds; it ends with this second.
const LAST_S: u64 = 67_768_036_191_676_799;

/// The Gregorian calendar repeats after 400 years.
const CALENDAR_S: u64 = 146_097 * 86_400;

/// Month, day and time of seconds since 1970 (UTC), as `%B %d, %I:%M:%S %p`, without the year; `N/A`
/// where the C library has no such date.
fn time_text(at_s: u64) -> String {
    if at_s > LAST_S {
        return "N/A".to_owned();
    }
    let second = i64::try_from(at_s % CALENDAR_S).expect("400 years fit");
    let time = Timestamp::from_second(second).expect("it is before the year 2370");
    time.strftime("%B %d, %I:%M:%S %p").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(at_s: u64, expected: &str) {
        assert_eq!(time_text(at_s), expected);
    }

    #[test]
    fn times_are_months_and_days_of_half_a_day_s_clock_in_utc() {
        check(0, "January 01, 12:00:00 AM");
        check(crate::opa::START_S, "March 01, 12:00:00 AM");
        // 2025-03-02T09:15:00Z.
        check(1_740_906_900, "March 02, 09:15:00 AM");
        // 2024-02-29T12:00:59Z, a leap day.
        check(1_709_208_059, "February 29, 12:00:59 PM");
        // 1999-12-31T23:59:59Z.
        check(946_684_799, "December 31, 11:59:59 PM");
        check(LAST_S, "December 31, 11:59:59 PM");
        check(LAST_S + 1, "N/A");
        check(u64::MAX, "N/A");
    }

    #[test]
    fn a_zero_has_no_prefix_in_front_of_its_digits() {
        assert_eq!(long_hex(0), "000000000000000000");
        assert_eq!(long_hex(0xfe80_0000_0000_0000), "0xfe80000000000000");
        assert_eq!(long_hex(1), "0x0000000000000001");
    }

    #[test]
    fn a_local_identifier_that_nobody_gave_is_of_no_interest() {
        assert_eq!(lid_text(NO_LID), "DontCare");
        assert_eq!(lid_text(1), "0x00000001");
    }
}

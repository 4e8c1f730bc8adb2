//! The output of the fabric tools for a port: `opaportinfo`, and `opasaquery -o portinfo`.
//!
//! The lines follow the tools' format strings (`IbPrint/stl_sma.c`, `IbPrint/stl_sa.c`), in the tools'
//! order; only lines about the link are here. Start at [`port_info_text`] and [`port_record_text`].

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

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The year 2^31 - 1 + 1900 is the last that a C `struct tm` holds; it ends with this second.
const LAST_S: u64 = 67_768_036_191_676_799;

/// Month, day and time of seconds since 1970 (UTC), as `%B %d, %I:%M:%S %p`, without the year; `N/A`
/// where the C library has no such date.
fn time_text(at_s: u64) -> String {
    if at_s > LAST_S {
        return "N/A".to_owned();
    }
    let (days, second) = (at_s / 86_400, at_s % 86_400);
    let (month, day) = month_and_day(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let half = if hour < 12 { "AM" } else { "PM" };
    let hour = if hour % 12 == 0 { 12 } else { hour % 12 };
    format!("{month} {day:02}, {hour:02}:{minute:02}:{second:02} {half}")
}

/// The month and the day of so many days after the first of 1970, in the Gregorian calendar: years
/// begin in March here, so that a leap day is a year's last.
fn month_and_day(days: u64) -> (&'static str, u64) {
    // From the first of March of the year 0 to the first of January 1970.
    let days = days + 719_468;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = usize::try_from((from_march + 2) % 12).expect("a year has twelve months");
    (MONTHS[month], day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(at_s: u64, expected: &str) {
        assert_eq!(time_text(at_s), expected);
    }

    /// Counted day by day from the first of January 1970, by the lengths of the months, for the 400 years
    /// after which the Gregorian calendar repeats.
    #[test]
    fn every_day_is_the_one_after_the_day_before() {
        let is_leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        let mut days = 0;
        for year in 1970..2370 {
            let february = if is_leap(year) { 29 } else { 28 };
            let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in MONTHS.into_iter().zip(lengths) {
                for day in 1..=length {
                    assert_eq!(month_and_day(days), (month, day), "in {year}");
                    days += 1;
                }
            }
        }
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

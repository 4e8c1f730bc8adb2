//! `/proc/net/route`: which interface carries the host's default route.
//!
//! Source of the format: Linux `fib_route_seq_show`. IPv4 only, as in `lsd 4.2.2`.

use crate::hands::ReadError;

/// What is known about the host's default route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// The table cannot be read; it is read again in the next poll.
    Unread(ReadError),
    /// There is no default route.
    Absent,
    /// It uses this interface.
    Interface(String),
}

impl Route {
    pub(crate) fn read(bytes: Result<&[u8], ReadError>) -> Route {
        match bytes.map(default_route_interface) {
            Ok(Some(interface)) => Route::Interface(interface),
            Ok(None) | Err(ReadError::ENOENT) => Route::Absent,
            Err(error) => Route::Unread(error),
        }
    }
}

/// The interface of the first default route, or `None`.
#[must_use]
pub(crate) fn default_route_interface(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let interface = fields.first()?;
        let is_any = |field: usize| fields.get(field).is_none_or(|value| *value == "00000000");
        // The destination and, if the row has one, the mask: 0.0.0.0/1 is not a default route.
        (fields.len() >= 2 && is_any(1) && is_any(7)).then(|| (*interface).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const HEADER: &str =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

    #[rstest]
    #[case(
        "eth0\t00000000\t01000A0A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n",
        Some("eth0")
    )]
    #[case("rdma0\t0000100A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n", None)]
    #[case("tun0\t00000000\t01000A0A\t0003\t0\t0\t0\t00000080\t0\t0\t0\n", None)]
    #[case("eth1 00000000\n", Some("eth1"))]
    #[case("eth2\n", None)]
    #[case("", None)]
    fn the_first_default_route_names_the_interface(#[case] rows: &str, #[case] want: Option<&str>) {
        let got = default_route_interface(format!("{HEADER}{rows}").as_bytes());
        assert_eq!(got.as_deref(), want);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = default_route_interface(&bytes);
        }
    }
}

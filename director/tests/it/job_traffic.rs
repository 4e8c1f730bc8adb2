//! "Baseline: Isolated Path Separation", 7.4: which NIC a job's traffic uses, followed on sysfs.

use director::{Director, freeze_at};
use platforms::{CounterValue, NodeName};

use crate::stage::told_in;

const RING: &str = "workloads: { job: { mpib: { ring: [ vm1, vm2, vm5, vm6 ], profile: spec } } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
until: 10s
";

/// Words of 4 bytes in a message of 1 MiB.
const MESSAGE: u64 = 1_048_576 / 4;
/// Words in a clear-to-send for one buffer.
const CLEAR: u64 = 64 / 4;
/// Messages on an edge in ten seconds, one each 100 ms, the first at 0 s.
const MESSAGES: u64 = 101;

/// A counter of the first port of a device, as its kernel shows it.
fn count(director: &Director<'_>, node: &str, device: &str, name: &str) -> u64 {
    let node = NodeName::from(node);
    let machine = director.fabric().machine(&node).expect("the node is known");
    let devices = machine.functions.values();
    let mut devices = devices.filter_map(|function| function.rdma.as_ref());
    let rdma = devices.find(|rdma| rdma.name.as_str() == device);
    let port = rdma.expect("it has the device").ports.values().next();
    match port.expect("it has a port").counters[name] {
        CounterValue::Count(count) => count,
        ref other => panic!("{other:?}"),
    }
}

/// The ring is vm1, vm2 (one island), vm5, vm6 (the other): the first and the third edge use SUP, the
/// others SOUT. A receiver's clear-to-send uses the rail of its edge.
#[test]
fn a_jobs_traffic_moves_the_counters_of_the_rail_that_carries_it() {
    let story = told_in("mpib-eight.yaml", RING);
    let (director, _) = freeze_at(&story, None).expect("it can be played");
    let (sout, sup) = ("mlx5_0", "mlx5_1");
    let (data, clears) = (MESSAGES * MESSAGE, MESSAGES * CLEAR);
    // vm1 and vm5 send on SUP and receive on SOUT; vm2 and vm6 the other way round.
    for (node, sends, receives) in [
        ("vm1", sup, sout),
        ("vm2", sout, sup),
        ("vm5", sup, sout),
        ("vm6", sout, sup),
    ] {
        let of = |device, name| count(&director, node, device, name);
        assert_eq!(of(sends, "port_xmit_data"), data, "{node}");
        assert_eq!(of(sends, "port_rcv_data"), clears, "{node}");
        assert_eq!(of(receives, "port_rcv_data"), data, "{node}");
        assert_eq!(of(receives, "port_xmit_data"), clears, "{node}");
        assert!(of(sends, "port_xmit_packets") >= MESSAGES * 256, "{node}");
    }
    for device in [sout, sup] {
        assert_eq!(count(&director, "vm3", device, "port_xmit_data"), 0);
        assert_eq!(count(&director, "vm3", device, "port_rcv_data"), 0);
    }
}

/// With pairs inside an island only, SOUT carries nothing.
#[test]
fn sout_carries_nothing_of_pairs_inside_an_island() {
    let story = told_in(
        "mpib-eight.yaml",
        &RING.replace(
            "ring: [ vm1, vm2, vm5, vm6 ]",
            "pairs: [ [ vm1, vm2 ], [ vm5, vm6 ] ]",
        ),
    );
    let (director, _) = freeze_at(&story, None).expect("it can be played");
    for node in ["vm1", "vm2", "vm5", "vm6"] {
        for name in ["port_xmit_data", "port_rcv_data"] {
            assert_eq!(count(&director, node, "mlx5_0", name), 0, "{node} {name}");
            assert!(count(&director, node, "mlx5_1", name) > 0, "{node} {name}");
        }
    }
}

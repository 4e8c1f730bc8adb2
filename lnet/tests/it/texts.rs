//! The output of `lnetctl`, compared with texts written by hand from its documented formats.

use lnet::{Lnet, LnetProfile, Notice, Pace, PortEvent, Request, Side, Verb};
use simfs::SimTime;

use crate::stage;

fn put(lnet: &mut Lnet, verb: Verb) {
    let request = Request {
        node: stage::name("A"),
        verb,
        source: None,
        destination: stage::nid("b1", "o2ib"),
        length: 4096,
        portal: 12,
    };
    lnet.send(request).unwrap();
}

/// Each printer of a node, by name, after half a second.
fn check(lnet: &mut Lnet, node: &str, print: fn(&lnet::Node) -> String) -> String {
    lnet.advance(lnet.now() + SimTime::from_ms(500));
    print(lnet.node(&stage::name(node)).unwrap())
}

#[test]
fn a_failing_interface_is_shown_with_its_failures_and_its_next_ping() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    put(&mut lnet, Verb::PutAck);
    lnet.advance(SimTime::from_ms(10));
    let rule = stage::simulate(Pace::Every, "local_timeout");
    lnet.add_rule(&stage::name("A"), rule).unwrap();
    put(&mut lnet, Verb::Put);
    insta::assert_snapshot!(check(&mut lnet, "A", lnet::Node::net_show), @r#"
    net:
        - net type: lo
          local NI(s):
            - nid: 0@lo
              status: up
              statistics:
                  send_count: 0
                  recv_count: 0
                  drop_count: 0
              sent_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              received_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              dropped_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              health stats:
                  fatal_error: 0
                  health value: 1000
                  interrupts: 0
                  dropped: 0
                  aborted: 0
                  no route: 0
                  timeouts: 0
                  error: 0
                  ping_count: 0
                  next_ping: 0
              tunables:
                  peer_timeout: 0
                  peer_credits: 0
                  peer_buffer_credits: 0
                  credits: 0
              lnd tunables:
              dev cpt: 0
              CPT: "[0]"
        - net type: o2ib
          local NI(s):
            - nid: a1@o2ib
              status: up
              interfaces:
                  0: ib0
              statistics:
                  send_count: 1
                  recv_count: 1
                  drop_count: 0
              sent_stats:
                  put: 1
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              received_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 1
                  hello: 0
              dropped_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              health stats:
                  fatal_error: 0
                  health value: 900
                  interrupts: 0
                  dropped: 0
                  aborted: 0
                  no route: 0
                  timeouts: 1
                  error: 0
                  ping_count: 0
                  next_ping: 1
              tunables:
                  peer_timeout: 180
                  peer_credits: 8
                  peer_buffer_credits: 0
                  credits: 256
              lnd tunables:
                  peercredits_hiw: 4
                  map_on_demand: 1
                  concurrent_sends: 8
                  fmr_pool_size: 512
                  fmr_flush_trigger: 384
                  fmr_cache: 1
                  ntx: 512
                  conns_per_peer: 1
              dev cpt: 0
              CPT: "[0]"
    "#);
}

#[test]
fn a_fatal_interface_is_shown_down_with_its_health_untouched() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let port = stage::port("A", "a2");
    lnet.notify(Notice::Port {
        port,
        event: PortEvent::Error,
    })
    .unwrap();
    let text = check(&mut lnet, "A", lnet::Node::net_show);
    let second = text.split("- nid: ").nth(3).unwrap();
    let rendered: Vec<&str> = second.lines().map(str::trim).take(2).collect();
    assert_eq!(rendered, ["a2@o2ib", "status: down"]);
    assert!(
        second.contains("fatal_error: 1\n              health value: 1000"),
        "{second}"
    );
}

#[test]
fn a_peer_that_drops_is_shown_with_its_health_and_its_failures() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.add_rule(
        &stage::name("A"),
        stage::simulate(Pace::OneIn(2), "remote_dropped"),
    )
    .unwrap();
    put(&mut lnet, Verb::Put);
    insta::assert_snapshot!(check(&mut lnet, "A", lnet::Node::peer_show), @r"
    peer:
        - primary nid: b1@o2ib
          Multi-Rail: True
          peer ni:
            - nid: b1@o2ib
              state: NA
              max_ni_tx_credits: 8
              available_tx_credits: 8
              tx_q_num_of_buf: 0
              statistics:
                  send_count: 0
                  recv_count: 0
                  drop_count: 0
              sent_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              received_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              dropped_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              health stats:
                  health value: 900
                  dropped: 1
                  timeout: 0
                  error: 0
                  network timeout: 0
                  ping_count: 0
                  next_ping: 1
            - nid: b2@o2ib
              state: NA
              max_ni_tx_credits: 8
              available_tx_credits: 8
              tx_q_num_of_buf: 0
              statistics:
                  send_count: 1
                  recv_count: 0
                  drop_count: 0
              sent_stats:
                  put: 1
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              received_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              dropped_stats:
                  put: 0
                  get: 0
                  reply: 0
                  ack: 0
                  hello: 0
              health stats:
                  health value: 1000
                  dropped: 0
                  timeout: 0
                  error: 0
                  network timeout: 0
                  ping_count: 0
                  next_ping: 0
    ");
    let node = lnet.node(&stage::name("A")).unwrap();
    insta::assert_snapshot!(node.recovery_show(Side::Peer), @r"
    peer NI recovery:
        nid-0: b1@o2ib
    ");
    insta::assert_snapshot!(node.recovery_show(Side::Local), @"local NI recovery:");
}

#[test]
fn the_statistics_stand_in_their_order() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.add_rule(
        &stage::name("A"),
        stage::simulate(Pace::OneIn(2), "local_dropped"),
    )
    .unwrap();
    put(&mut lnet, Verb::PutAck);
    insta::assert_snapshot!(check(&mut lnet, "A", lnet::Node::stats_show), @r"
    statistics:
        msgs_alloc: 0
        msgs_max: 1
        rst_alloc: 0
        errors: 0
        send_count: 1
        resend_count: 1
        response_timeout_count: 0
        local_interrupt_count: 0
        local_dropped_count: 1
        local_aborted_count: 0
        local_no_route_count: 0
        local_timeout_count: 0
        local_error_count: 0
        remote_dropped_count: 0
        remote_error_count: 0
        remote_timeout_count: 0
        network_timeout_count: 0
        failed_resends: 0
        successful_resends: 1
        recv_count: 1
        route_count: 0
        drop_count: 0
        send_length: 4096
        recv_length: 0
        route_length: 0
        drop_length: 0
    ");
}

#[test]
fn the_globals_stand_in_their_order() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    insta::assert_snapshot!(check(&mut lnet, "A", lnet::Node::global_show), @r"
    global:
        numa_range: 0
        max_interfaces: 200
        discovery: 1
        drop_asym_route: 0
        retry_count: 2
        transaction_timeout: 150
        health_sensitivity: 100
        recovery_interval: 1
        router_sensitivity: 100
        lnd_timeout: 49
        response_tracking: 3
        recovery_limit: 0
        max_recovery_ping_interval: 900
    ");
}

package main

// definition is what the program itself knows of a counter; the rest is configuration.
// NVSentinel, nic-health-monitor, counter checks: definitions.
type definition struct {
	name, file  string
	ofInterface bool
	fatal       bool
	description string
}

var catalogue = map[string]definition{}

func init() {
	port := func(folder, name string, fatal bool, description string) {
		catalogue[name] = definition{name, folder + "/" + name, false, fatal, description}
	}
	port("counters", "excessive_buffer_overrun_errors", true, "HCA internal buffer overflow - lossless contract violated")
	port("counters", "link_downed", true, "Port Training State Machine failed - QP disconnect")
	port("counters", "link_error_recovery", false, "Link retraining events - micro-flapping")
	port("counters", "local_link_integrity_errors", true, "Physical errors exceed LocalPhyErrors hardware cap")
	port("counters", "port_rcv_discards", false, "RX discards due to congestion or buffer pressure")
	port("counters", "port_rcv_errors", false, "Malformed packets received")
	port("counters", "port_rcv_remote_physical_errors", false, "Remote physical-layer errors received on this port")
	port("counters", "port_rcv_switch_relay_errors", false, "Packets discarded because switch relay forwarding failed")
	port("counters", "port_xmit_discards", false, "TX discards due to congestion")
	port("counters", "port_xmit_wait", false, "TX wait ticks - congestion backpressure")
	port("counters", "symbol_error", false, "PHY bit errors before FEC - physical layer degradation")
	port("counters", "symbol_error_fatal", true, "Symbol errors exceed IBTA BER threshold (10E-12) - link outside spec")
	port("hw_counters", "implied_nak_seq_err", false, "Implied NAK sequence errors - retransmission pressure")
	port("hw_counters", "local_ack_timeout_err", false, "ACK timeout - potential fabric black hole")
	port("hw_counters", "out_of_sequence", false, "Fabric routing issues - out of sequence packets")
	port("hw_counters", "packet_seq_err", false, "Packet sequence errors - retransmission pressure")
	port("hw_counters", "req_transport_retries_exceeded", true, "Requester transport retry limit exceeded")
	port("hw_counters", "rnr_nak_retry_err", true, "Receiver Not Ready NAK retry exhausted - connection severed")
	port("hw_counters", "roce_slow_restart", false, "Victim flow oscillation")
	fatal := catalogue["symbol_error_fatal"]
	fatal.file = "counters/symbol_error"
	catalogue["symbol_error_fatal"] = fatal

	netdev := func(file, name, description string) {
		catalogue[name] = definition{name, file, true, false, description}
	}
	netdev("carrier_changes", "carrier_changes", "Link instability - carrier state changes")
	netdev("statistics/rx_crc_errors", "rx_crc_errors", "RX packets with CRC/FCS errors")
	netdev("statistics/rx_errors", "rx_errors", "Aggregate RX packet errors")
	netdev("statistics/rx_missed_errors", "rx_missed_errors", "RX packets missed due to receive-side capacity pressure")
	netdev("statistics/tx_carrier_errors", "tx_carrier_errors", "TX carrier-sense errors")
	netdev("statistics/tx_errors", "tx_errors", "Aggregate TX packet errors")
}

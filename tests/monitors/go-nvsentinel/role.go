package main

import (
	"path"
	"strconv"
	"strings"
)

const (
	compute    = "compute"
	storage    = "storage"
	management = "management"
)

const routeTable = "/nvsentinel/proc/net/route"

// gatewayDevice is the RDMA device of the default route's interface, or empty.
func gatewayDevice(netPath string) string {
	table, err := readText(routeTable)
	if err != nil {
		log.warn("Route table unreadable, no device is excluded by it", "error", err)
		return ""
	}
	for _, row := range strings.Split(table, "\n")[1:] {
		if fields := strings.Fields(row); len(fields) >= 2 && fields[1] == "00000000" {
			devices, _ := entries(netPath, fields[0], "device/infiniband")
			if len(devices) == 0 {
				return ""
			}
			log.info("Default route", "interface", fields[0], "device", devices[0])
			return devices[0]
		}
	}
	return ""
}

// watches says whether the checks look at a device. NVSentinel, nic-health-monitor, state checks: eligibility.
func (v *inventory) watches(d device) bool {
	if v.config.pinning() {
		return true
	}
	return !d.foreign && (v.role(d.name) != management || makes(monitorsManagement))
}

// role is found once for a name, and remembered while the name is listed. No lock is held while files are read, so that a read
// that hangs in one loop does not stop the other.
func (v *inventory) role(name string) string {
	if known, ok := v.remembered(v.roles, name); ok {
		return known
	}
	role, sure := v.classify(name)
	if sure {
		v.remember(v.roles, name, role)
		log.info("Classified", "device", name, "role", role)
	}
	return role
}

func (v *inventory) remembered(of map[string]string, name string) (string, bool) {
	v.Lock()
	defer v.Unlock()
	known, ok := of[name]
	return known, ok
}

func (v *inventory) remember(in map[string]string, name, value string) {
	v.Lock()
	defer v.Unlock()
	in[name] = value
}

// classify asks in this order: default route, PIX and PXB, NUMA node, NODE and PHB, all SYS; the rest is storage.
// NVSentinel, nic-health-monitor, gpu_metadata.json: classification.
func (v *inventory) classify(name string) (role string, sure bool) {
	if name == v.gateway {
		return management, true
	}
	near, middle, far := 0, 0, 0
	levels := v.metadata.Topology[name]
	for _, level := range levels {
		switch level {
		case "PIX", "PXB":
			near++
		case "NODE", "PHB":
			middle++
		case "SYS":
			far++
		}
	}
	if near > 0 {
		return compute, true
	}
	folder := path.Join(v.config.ClassPath, name)
	text, err := readText(folder, "device/numa_node")
	if err != nil {
		return management, false
	}
	if numa, err := strconv.Atoi(text); err != nil || !v.metadata.numas[numa] {
		return management, err == nil
	}
	switch {
	case middle > 0:
	case len(levels) == 0 || far < len(levels):
		return storage, true
	default:
		hca, _ := readText(folder, "hca_type")
		for _, blueField := range []string{"MT41682", "MT41686", "MT41692"} {
			if strings.HasPrefix(hca, blueField) {
				return management, true
			}
		}
	}
	layer, err := readText(folder, "ports/1/link_layer")
	if layer == infiniBand {
		return compute, true
	}
	return storage, err == nil
}

// card is the PCI address of a device without its function: the same for both functions of a card.
func (v *inventory) card(name string) string {
	if known, ok := v.remembered(v.cards, name); ok {
		return known
	}
	text, _ := readText(v.config.ClassPath, name, "device/uevent")
	for _, line := range strings.Split(text, "\n") {
		address := strings.TrimPrefix(line, "PCI_SLOT_NAME=")
		if dot := strings.LastIndex(address, "."); address != line && dot >= 0 {
			v.remember(v.cards, name, address[:dot])
			return address[:dot]
		}
	}
	return name
}

// forget drops what is remembered of names that are listed no more: the next bearer of a name is another device.
func (v *inventory) forget(listed []string) {
	v.Lock()
	defer v.Unlock()
	there := map[string]bool{}
	for _, name := range listed {
		there[name] = true
	}
	for name := range v.roles {
		if !there[name] {
			delete(v.roles, name)
		}
	}
	for name := range v.cards {
		if !there[name] {
			delete(v.cards, name)
		}
	}
}

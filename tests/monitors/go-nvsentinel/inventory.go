package main

import (
	"errors"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
)

const (
	infiniBand = "InfiniBand"
	ethernet   = "Ethernet"
	mellanox   = "0x15b3"
)

// inventory finds the devices of the node. Every check lists and reads for itself; only roles and cards are remembered, and
// shared by all checks. NVSentinel, nic-health-monitor, every read of a poll.
type inventory struct {
	config   *config
	metadata *metadata
	gateway  string // the device of the default route

	sync.Mutex
	roles map[string]string
	cards map[string]string
}

// listing is what one check found in one poll.
type listing struct {
	incomplete bool     // the class folder is not there
	devices    []device // read in full; virtual functions only if they are pinned
	unreadable []string
	virtual    int
}

type device struct {
	name, netdev string
	foreign      bool // of another vendor: seen, and nothing more is read of it
	ports        []port
}

type port struct {
	device             string
	number             int
	state, phys, layer string
}

func (p port) key() string   { return p.device + "_" + strconv.Itoa(p.number) }
func (p port) healthy() bool { return p.state == "ACTIVE" && p.phys == "LinkUp" }

func (d device) portsOf(layer string) []port {
	var out []port
	for _, p := range d.ports {
		if p.layer == layer {
			out = append(out, p)
		}
	}
	return out
}

func newInventory(c *config, m *metadata) *inventory {
	return &inventory{config: c, metadata: m, gateway: gatewayDevice(c.NetPath), roles: map[string]string{}, cards: map[string]string{}}
}

func (v *inventory) discover() (listing, error) {
	var found listing
	names, err := entries(v.config.ClassPath)
	if errors.Is(err, os.ErrNotExist) {
		found.incomplete = true
		return found, nil
	}
	if err != nil {
		return found, err
	}
	for _, name := range names {
		if !v.config.selects(name) {
			continue
		}
		read, virtual, err := v.read(name)
		switch {
		case err != nil:
			log.debug("Device unreadable, holding its last known state", "device", name, "error", err)
			found.unreadable = append(found.unreadable, name)
		case virtual && !v.config.pinning():
			found.virtual++
		default:
			found.devices = append(found.devices, read)
		}
	}
	v.forget(names)
	log.debug("IB discovery summary", "devices", len(found.devices), "skipped_vfs", found.virtual, "unreadable", len(found.unreadable))
	return found, nil
}

func (v *inventory) read(name string) (device, bool, error) {
	d := device{name: name}
	folder := path.Join(v.config.ClassPath, name)
	vendor, err := readText(folder, "device/vendor")
	if err != nil {
		return d, false, err
	}
	if vendor != mellanox && !v.config.pinning() {
		d.foreign = true
		return d, false, nil
	}
	_, err = os.Lstat(path.Join(folder, "device/physfn"))
	virtual := err == nil
	// For the log alone: what cannot be read of these two is left out.
	hca, _ := readText(folder, "hca_type")
	firmware, _ := readText(folder, "fw_ver")
	log.debug("Device", "name", name, "hca_type", hca, "fw_ver", firmware)
	if netdevs, _ := entries(folder, "device/net"); len(netdevs) > 0 {
		d.netdev = netdevs[0]
	}
	numbers, err := entries(folder, "ports")
	if err != nil {
		return d, virtual, err
	}
	for _, text := range numbers {
		number, err := strconv.Atoi(text)
		if err != nil {
			continue
		}
		p := port{device: name, number: number}
		if p, err = v.readPort(p, path.Join(folder, "ports", text)); err != nil {
			return d, virtual, err
		}
		d.ports = append(d.ports, p)
	}
	return d, virtual, nil
}

func (v *inventory) readPort(p port, folder string) (port, error) {
	var err error
	if p.state, err = readText(folder, "state"); err == nil {
		p.phys, err = readText(folder, "phys_state")
	}
	if err != nil && makes(fatalForUnreadable) {
		p.state, err = "1: DOWN", nil
	}
	if err != nil {
		return p, err
	}
	layer, err := readText(folder, "link_layer")
	switch {
	case strings.EqualFold(layer, infiniBand):
		layer = infiniBand
	case strings.EqualFold(layer, ethernet):
		layer = ethernet
	}
	p.state, p.phys, p.layer = word(p.state), word(p.phys), layer
	return p, err
}

// word is what follows the number: of `4: ACTIVE`, ACTIVE.
func word(text string) string {
	if colon := strings.Index(text, ":"); colon >= 0 {
		return strings.TrimSpace(text[colon+1:])
	}
	return text
}

package main

import (
	"datamodels"
	"errors"
	"fmt"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"
)

// charCheck watches the character devices that InfiniBand needs: uverbs of each device, umad and issm of each port.
// NVSentinel, nic-health-monitor, state checks: InfiniBandCharDeviceCheck.
type charCheck struct {
	reporter
	inventory *inventory
	store     *store
	metrics   *metrics

	owed, seeded bool
	misses       map[charKey]int
	latched      map[charKey]bool
}

type charKey struct {
	kind, device string
	port         int
}

func (k charKey) String() string { return fmt.Sprintf("%s/%s_%d", k.kind, k.device, k.port) }

func newCharCheck(r reporter, v *inventory, s *store, m *metrics) *charCheck {
	c := &charCheck{reporter: r, inventory: v, store: s, metrics: m, misses: map[charKey]int{}, latched: map[charKey]bool{}}
	c.owed = s.owes(r.check, s.rebooted || s.rescoped)
	s.Lock()
	defer s.Unlock()
	for _, record := range s.state.CharDevices {
		c.latched[charKey{record.Kind, record.Device, record.Port}] = true
	}
	return c
}

func (c *charCheck) name() string { return c.check }

func (c *charCheck) prepare() (outcome, error) {
	found, err := c.inventory.discover()
	if err != nil {
		return outcome{}, fmt.Errorf("device discovery failed: failed to list IB devices at %s: %w", c.inventory.config.ClassPath, err)
	}
	if found.incomplete && c.seeded {
		return outcome{}, errIncomplete
	}
	if found.incomplete {
		return outcome{}, nil
	}
	expected := c.expected(found)
	there, blind, held, err := c.there(len(expected) > 0)
	if err != nil || held {
		return outcome{}, err
	}
	baseline := c.owed && len(found.unreadable) == 0
	misses, latched := map[charKey]int{}, map[charKey]bool{}
	var events []*datamodels.HealthEvent
	if baseline {
		events = append(events, c.clear("InfiniBand character-device check: clearing stale conditions after reboot"))
	}
	for _, key := range expected {
		switch stood := c.latched[key]; {
		case there[key] && stood && !baseline:
			events = append(events, c.back(key))
		case there[key]:
		case stood && !baseline:
			latched[key] = true
		case blind[key.kind] && !stood:
			misses[key] = c.misses[key]
		case stood || c.misses[key]+1 >= missThreshold:
			latched[key] = true
			events = append(events, c.gone(key))
			c.metrics.add("nic_health_monitor_state_check_errors_total", 1,
				"node", c.node, "check", c.check, "device", key.device, "port", strconv.Itoa(key.port))
		default:
			misses[key] = c.misses[key] + 1
		}
	}
	c.keep(found, expected, baseline, misses, latched)
	if baseline {
		datedBack(events)
	}
	return outcome{events, func() { c.commit(baseline, misses, latched) }}, nil
}

// keep holds what was known of devices of which this poll says nothing.
func (c *charCheck) keep(found listing, expected []charKey, baseline bool, misses map[charKey]int, latched map[charKey]bool) {
	asked, unreadable := map[charKey]bool{}, map[string]bool{}
	for _, key := range expected {
		asked[key] = true
	}
	for _, name := range found.unreadable {
		unreadable[name] = true
	}
	for key := range c.latched {
		if !asked[key] && !baseline {
			latched[key] = true
		}
	}
	for key, count := range c.misses {
		if unreadable[key.device] {
			misses[key] = count
		}
	}
}

func (c *charCheck) commit(baseline bool, misses map[charKey]int, latched map[charKey]bool) {
	c.seeded, c.misses, c.latched, c.owed = true, misses, latched, c.owed && !baseline
	c.store.change("Failed to persist state to disk", func(s *state) {
		s.CharDevices = map[string]charRecord{}
		for key := range latched {
			s.CharDevices[key.String()] = charRecord{key.kind, key.device, key.port}
		}
		if baseline {
			delete(s.Pending, c.check)
		}
	})
}

func (c *charCheck) expected(found listing) []charKey {
	var keys []charKey
	for _, d := range found.devices {
		ports := d.portsOf(infiniBand)
		if len(ports) == 0 || !c.inventory.watches(d) {
			continue
		}
		keys = append(keys, charKey{"uverbs", d.name, 0})
		for _, p := range ports {
			keys = append(keys, charKey{"umad", d.name, p.number}, charKey{"issm", d.name, p.number})
		}
	}
	devices := map[string]bool{}
	for _, key := range keys {
		devices[key.device] = true
	}
	c.metrics.gauge("nic_health_monitor_devices_discovered", float64(len(devices)), "node", c.node, "check", c.check)
	return keys
}

// there reads which character devices exist, and of which kinds an entry could not be read: it may be any of those that are
// missing. Without a class folder that is needed the poll is held.
func (c *charCheck) there(needed bool) (out map[charKey]bool, blind map[string]bool, held bool, err error) {
	out, blind = map[charKey]bool{}, map[string]bool{}
	for _, class := range []string{"_mad", "_verbs"} {
		folder := c.inventory.config.ClassPath + class
		names, err := entries(folder)
		if errors.Is(err, os.ErrNotExist) {
			if needed {
				log.warnOnce(folder, "Holding InfiniBand char-device poll: class directory unavailable", "path", folder)
				return nil, nil, true, nil
			}
			continue
		}
		if err != nil {
			return nil, nil, false, fmt.Errorf("failed to list %s: %w", folder, err)
		}
		log.again(folder)
		for _, name := range names {
			kind := strings.TrimRight(name, "0123456789")
			if kind != "uverbs" && kind != "umad" && kind != "issm" {
				continue
			}
			if key, err := readCharDevice(kind, folder, name); err == nil {
				out[key] = true
			} else {
				blind[kind] = true
			}
		}
	}
	return out, blind, false, nil
}

func readCharDevice(kind, folder, name string) (charKey, error) {
	device, err := readText(folder, name, "ibdev")
	if err == nil && device == "" {
		err = errors.New("empty")
	}
	if err != nil || kind == "uverbs" {
		return charKey{kind, device, 0}, err
	}
	text, err := readText(folder, name, "port")
	if err != nil {
		return charKey{}, err
	}
	number, err := strconv.Atoi(text)
	return charKey{kind, device, number}, err
}

func (c *charCheck) gone(k charKey) *datamodels.HealthEvent {
	class := path.Join("/sys/class", "infiniband_mad")
	message := fmt.Sprintf("Device %s port %d: umad character device missing from %s; pods cannot open /dev/infiniband/umad*",
		k.device, k.port, class)
	switch k.kind {
	case "issm":
		message = fmt.Sprintf("Device %s port %d: issm character device missing from %s (expected for an InfiniBand-mode port); "+
			"pods cannot open /dev/infiniband/issm*", k.device, k.port, class)
	case "uverbs":
		message = fmt.Sprintf("Device %s: verbs character device (uverbs) missing from /sys/class/infiniband_verbs; "+
			"RDMA workloads cannot open /dev/infiniband/uverbs*", k.device)
	}
	return c.about(k, fatal, message)
}

func (c *charCheck) back(k charKey) *datamodels.HealthEvent {
	where := fmt.Sprintf("device %s port %d", k.device, k.port)
	if k.kind == "uverbs" {
		where = "device " + k.device
	}
	return c.about(k, healthy, fmt.Sprintf("InfiniBand character device %s for %s is present again", k.kind, where))
}

func (c *charCheck) about(k charKey, v verdict, message string) *datamodels.HealthEvent {
	entities := nicPort(k.device, k.port)
	if k.kind == "uverbs" {
		entities = nic(k.device)
	}
	e := c.event(v, message, entities...)
	e.ErrorCode = []string{k.kind}
	return e
}

func sortedKeys(of map[string]breach) []string {
	var keys []string
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

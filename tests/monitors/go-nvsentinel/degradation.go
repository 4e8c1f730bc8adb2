package main

import (
	"datamodels"
	"fmt"
	"path"
	"strconv"
	"time"
)

// units are the windows of velocities, and how messages call them.
var units = map[string]struct {
	window time.Duration
	short  string
}{"second": {time.Second, "sec"}, "minute": {time.Minute, "min"}, "hour": {time.Hour, "hour"}}

// degradation watches the counters of the ports of one layer. NVSentinel, nic-health-monitor, counter checks.
type degradation struct {
	reporter
	layer     string
	stateName string // of the state check of the layer
	inventory *inventory
	store     *store
	metrics   *metrics
	enabled   []counterConfig

	owed, seeded bool
	deferrals    int
	committed    counterState
}

type counterState struct {
	snapshots map[string]snapshot
	breaches  map[string]breach
	last      map[string]uint64 // of the poll before; in memory only
}

func (c counterState) copy() counterState {
	out := counterState{map[string]snapshot{}, map[string]breach{}, map[string]uint64{}}
	for key, value := range c.snapshots {
		out.snapshots[key] = value
	}
	for key, value := range c.breaches {
		out.breaches[key] = value
	}
	for key, value := range c.last {
		out.last[key] = value
	}
	return out
}

func newDegradation(layer string, r reporter, v *inventory, s *store, m *metrics) *degradation {
	c := &degradation{reporter: r, layer: layer, stateName: layer + "StateCheck", inventory: v, store: s, metrics: m}
	c.enabled = v.config.enabled()
	c.owed = s.owes(r.check, s.rebooted)
	s.Lock()
	defer s.Unlock()
	c.committed = counterState{s.state.Snapshots, s.state.Breaches, nil}.copy()
	for key, flag := range c.committed.breaches {
		if !flag.Breached || flag.Check != "" && flag.Check != r.check {
			delete(c.committed.breaches, key)
		}
	}
	c.seeded = len(c.committed.snapshots) > 0
	return c
}

func (c *degradation) name() string { return c.check }

func (c *degradation) prepare() (outcome, error) {
	found, err := c.inventory.discover()
	if err != nil || found.incomplete && c.seeded {
		if err == nil {
			err = fmt.Errorf("failed to discover devices: InfiniBand sysfs tree unavailable")
		}
		return outcome{}, err
	}
	if found.incomplete {
		return outcome{}, nil
	}
	if !c.seeded && len(found.unreadable) > 0 && c.deferrals < firstDeferrals {
		c.deferrals++
		c.metrics.add("nic_health_monitor_first_poll_deferred_total", 1, "node", c.node, "check", c.check)
		return outcome{}, nil
	}
	w := &watch{
		degradation: c, found: found, baseline: c.owed && len(found.unreadable) == 0, next: c.committed.copy(),
		touched: map[string]bool{}, now: time.Now(),
	}
	events := w.play()
	return outcome{events, func() { c.commit(w) }}, nil
}

func (c *degradation) commit(w *watch) {
	before := c.committed
	c.seeded, c.committed, c.owed = true, w.next, c.owed && !w.baseline
	c.store.change("Failed to persist counter state to disk", func(s *state) {
		for key := range w.touched {
			if value, there := w.next.snapshots[key]; there {
				s.Snapshots[key] = value
			}
		}
		for key := range before.breaches {
			delete(s.Breaches, key)
		}
		for key, flag := range w.next.breaches {
			s.Breaches[key] = flag
		}
		if w.baseline {
			delete(s.Pending, c.check)
		}
	})
}

// watch is one poll of a counter check.
type watch struct {
	*degradation
	found    listing
	baseline bool
	next     counterState
	touched  map[string]bool
	now      time.Time
	events   []*datamodels.HealthEvent
}

// sample is one counter as one poll read it.
type sample struct {
	key, device, port string
	config            counterConfig
	definition        definition
	value             uint64
	linked            bool
}

func (w *watch) play() []*datamodels.HealthEvent {
	if w.baseline {
		w.events = append(w.events, w.clear("Host reboot detected: clearing all conditions previously reported by this check"))
	}
	for _, d := range w.found.devices {
		if !w.inventory.watches(d) {
			continue
		}
		for _, p := range d.portsOf(w.layer) {
			for _, counter := range w.enabled {
				if s, readable := w.sample(d, p, counter); readable && !w.touched[s.key] {
					w.touched[s.key] = true
					w.judge(s)
				}
			}
		}
	}
	w.sweep()
	if w.baseline {
		w.replayUntouched()
		datedBack(w.events)
	}
	return w.events
}

func (w *watch) sample(d device, p port, counter counterConfig) (sample, bool) {
	known := catalogue[counter.Name]
	number := strconv.Itoa(p.number)
	s := sample{device: d.name, port: number, config: counter, definition: known, linked: p.healthy()}
	s.key = d.name + ":" + number + ":" + counter.Name
	file := path.Join(w.inventory.config.ClassPath, d.name, "ports", number, known.file)
	if known.ofInterface {
		if w.layer != ethernet || d.netdev == "" {
			return s, false
		}
		s.key = "net:" + d.netdev + ":" + counter.Name
		file = path.Join(w.inventory.config.NetPath, d.netdev, known.file)
	}
	text, err := readText(file)
	if err == nil {
		s.value, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil {
		log.warnOnce(s.key, "Enabled counter is not readable; it will not be monitored until the read succeeds", "counter", s.key, "error", err)
		return s, false
	}
	log.again(s.key)
	return s, true
}

// judge steps the state machine of one counter. NVSentinel, nic-health-monitor, counter checks: state machine.
func (w *watch) judge(s sample) {
	before, known := w.next.snapshots[s.key]
	last, remembered := w.next.last[s.key]
	if !remembered {
		last = before.Value
	}
	flag, breached := w.next.breaches[s.key]
	reset := known && s.value < last
	w.next.last[s.key] = s.value
	if w.baseline {
		w.next.snapshots[s.key] = snapshot{s.value, w.now}
		if breached && !reset {
			w.say(s, verdictOf(flag.Fatal), fmt.Sprintf("Port %s port %s: %s - %s (re-asserting outstanding breach after baseline reconciliation)",
				s.device, s.port, s.config.Name, s.definition.description))
			return
		}
		delete(w.next.breaches, s.key)
		w.say(s, healthy, fmt.Sprintf("Counter %s healthy after reboot on port %s port %s", s.config.Name, s.device, s.port))
		return
	}
	if makes(breachClearedByLink) && breached && s.linked {
		reset = true
	}
	switch {
	case !known:
		w.next.snapshots[s.key] = snapshot{s.value, w.now}
	case reset:
		w.next.snapshots[s.key] = snapshot{s.value, w.now}
		if breached {
			delete(w.next.breaches, s.key)
			w.recovered(s, flag)
		}
	case breached:
	case s.config.Type == "delta":
		w.next.snapshots[s.key] = snapshot{s.value, w.now}
		w.compare(s, s.value-before.Value, float64(s.value-before.Value), 0, "interval")
	default:
		unit := units[s.config.Unit]
		elapsed := w.now.Sub(before.At)
		if elapsed < unit.window {
			return
		}
		w.next.snapshots[s.key] = snapshot{s.value, w.now}
		rate := float64(s.value-before.Value) / (elapsed.Seconds() / unit.window.Seconds())
		w.compare(s, s.value-before.Value, rate, rate, unit.short)
	}
}

func (w *watch) compare(s sample, delta uint64, measured, rate float64, unit string) {
	if measured <= s.config.Threshold {
		return
	}
	w.next.breaches[s.key] = breach{true, w.check, s.definition.fatal, w.now, s.device, s.port}
	w.metrics.add("nic_health_monitor_counter_threshold_breaches_total", 1, "node", w.node, "counter", s.config.Name,
		"device", s.device, "port", s.port, "is_fatal", strconv.FormatBool(s.definition.fatal))
	w.say(s, verdictOf(s.definition.fatal), fmt.Sprintf("Port %s port %s: %s - %s (value=%d, delta=%d, rate=%.2f/%s)",
		s.device, s.port, s.config.Name, s.definition.description, s.value, delta, rate, unit))
}

func (w *watch) recovered(s sample, flag breach) {
	if flag.Device != "" {
		s.device, s.port = flag.Device, flag.Port
	}
	w.say(s, healthy, fmt.Sprintf("Counter %s recovered on port %s port %s", s.config.Name, s.device, s.port))
	if flag.Check == "" && s.definition.fatal {
		w.events[len(w.events)-1].CheckName = w.stateName
	}
}

func (w *watch) say(s sample, v verdict, message string) {
	number, _ := strconv.Atoi(s.port)
	e := w.event(v, message, nicPort(s.device, number)...)
	e.ErrorCode = []string{s.config.Name}
	w.events = append(w.events, e)
}

// sweep clears breaches of counters that are switched off, and of devices that are watched no more. A device that is not there
// keeps its breaches. NVSentinel, nic-health-monitor, counter checks: baseline, sweep, gates.
func (w *watch) sweep() {
	out := map[string]bool{}
	for _, d := range w.found.devices {
		out[d.name] = !w.inventory.watches(d)
	}
	on := map[string]bool{}
	for _, counter := range w.enabled {
		on[counter.Name] = true
	}
	for _, key := range sortedKeys(w.next.breaches) {
		flag := w.next.breaches[key]
		counter := counterOf(key)
		if flag.Device == "" || on[counter] && !out[flag.Device] && w.inventory.config.selects(flag.Device) {
			continue
		}
		delete(w.next.breaches, key)
		w.say(flag.sample(counter), healthy, fmt.Sprintf("Counter %s on %s is no longer monitored "+
			"(counter disabled or device out of monitoring scope); clearing stale breach", counter, flag.Device))
	}
}

// replayUntouched says again, after a baseline, what stands about counters that this poll could not read.
func (w *watch) replayUntouched() {
	for _, key := range sortedKeys(w.next.breaches) {
		flag := w.next.breaches[key]
		if w.touched[key] {
			continue
		}
		counter := counterOf(key)
		if flag.Device == "" {
			log.warn("Dropping a breach without an identity", "key", key)
			delete(w.next.breaches, key)
			continue
		}
		w.say(flag.sample(counter), verdictOf(flag.Fatal), fmt.Sprintf("Counter %s on %s is not currently readable; "+
			"re-asserting outstanding breach after baseline reconciliation", counter, flag.Device))
	}
}

// sample is the counter of a breach that this poll did not read.
func (b breach) sample(counter string) sample {
	return sample{device: b.Device, port: b.Port, config: counterConfig{Name: counter}}
}

func counterOf(key string) string {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] == ':' {
			return key[i+1:]
		}
	}
	return key
}

func verdictOf(isFatal bool) verdict {
	if isFatal {
		return fatal
	}
	return nonFatal
}

package main

import (
	"datamodels"
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"
)

const (
	missThreshold  = 3 // polls without a device before it is reported
	firstDeferrals = 3 // first polls put off because a device could not be read
)

var errIncomplete = errors.New("device discovery incomplete: InfiniBand sysfs tree unavailable")

// wording is in what the messages of the two layers differ. NVSentinel, nic-health-monitor, state checks: event catalogue.
type wording struct{ port, deviceGone string }

var wordings = map[string]wording{
	infiniBand: {"Port", "NIC %s disappeared from /sys/class/infiniband/ - hardware failure"},
	ethernet:   {"RoCE port", "RoCE device %s disappeared from sysfs"},
}

// stateCheck watches the ports of one link layer, their devices and their cards.
type stateCheck struct {
	reporter
	wording
	layer     string
	inventory *inventory
	store     *store
	metrics   *metrics

	owed      bool // a baseline
	seeded    bool // a poll was committed, in this life or the one before
	deferrals int
	committed layerState
}

// layerState is what one state check remembers from poll to poll.
type layerState struct {
	devices     map[string]bool
	ports       map[string]portRecord
	misses      map[string]int
	goneDevices map[string]goneRecord
	gonePorts   map[string]goneRecord
	cards       map[string]bool
}

func newLayerState() layerState {
	return layerState{
		devices: map[string]bool{}, ports: map[string]portRecord{}, misses: map[string]int{},
		goneDevices: map[string]goneRecord{}, gonePorts: map[string]goneRecord{}, cards: map[string]bool{},
	}
}

func newStateCheck(layer string, r reporter, v *inventory, s *store, m *metrics) *stateCheck {
	c := &stateCheck{reporter: r, wording: wordings[layer], layer: layer, inventory: v, store: s, metrics: m}
	c.owed = s.owes(r.check, s.rebooted || s.rescoped)
	c.committed = s.layer(layer)
	c.seeded = len(c.committed.devices)+len(c.committed.goneDevices) > 0 && !s.rebooted && !s.rescoped
	return c
}

func (c *stateCheck) name() string { return c.check }

// severity of an unhealthy port. NVSentinel, nic-health-monitor, state checks: severity.
func (c *stateCheck) severity(p port) verdict {
	switch {
	case p.healthy():
		return healthy
	case c.layer == ethernet && p.state == "DOWN":
		return fatal
	case c.layer == ethernet:
		return silent
	case p.phys == "Disabled":
		return fatal
	case p.phys == "LinkErrorRecovery" || p.phys == "Polling":
		return nonFatal
	case p.state == "DOWN":
		return fatal
	}
	return nonFatal
}

// prepare looks once. What it found becomes the check's memory only by commit, after its events were delivered.
func (c *stateCheck) prepare() (outcome, error) {
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
	c.metrics.gauge("nic_health_monitor_devices_discovered", float64(len(found.devices)), "node", c.node, "check", c.check)
	first := !c.seeded
	if first && len(found.unreadable) > 0 && c.deferrals < firstDeferrals {
		c.deferrals++
		c.metrics.add("nic_health_monitor_first_poll_deferred_total", 1, "node", c.node, "check", c.check)
		log.warn("First poll deferred: device unreadable", "check", c.check, "devices", strings.Join(found.unreadable, ","))
		return outcome{}, nil
	}
	t := newTurn(c, found, first)
	events := t.play()
	return outcome{events, func() {
		c.seeded, c.committed = true, t.next
		if t.baseline {
			c.owed = false
		}
		c.store.change("Failed to persist state to disk", func(s *state) {
			s.setLayer(c.layer, t.next)
			if t.baseline {
				delete(s.Pending, c.check)
			}
		})
	}}, nil
}

// turn is one poll of a state check. NVSentinel, nic-health-monitor, state checks: per-poll algorithm, and batch order.
type turn struct {
	*stateCheck
	found           listing
	first, baseline bool
	was, next       layerState
	seen            map[string]bool // in any state
	unreadable      map[string]bool
	present         []device // watched, with a port of this layer
	tracked         map[string]device
	exempt          map[string]bool // cards with a management function
	held            bool            // a device is missing, and not yet for long enough
	standings       map[string]standing

	clears, reasserted, ports, devicesGone, portsGone, devicesBack, cardEvents []*datamodels.HealthEvent
}

func newTurn(c *stateCheck, found listing, first bool) *turn {
	t := &turn{
		stateCheck: c, found: found, first: first, baseline: c.owed && len(found.unreadable) == 0, was: c.committed, next: newLayerState(),
		seen: map[string]bool{}, unreadable: map[string]bool{}, tracked: map[string]device{}, exempt: map[string]bool{},
	}
	for key, record := range t.was.goneDevices {
		t.next.goneDevices[key] = record
	}
	for key, record := range t.was.gonePorts {
		t.next.gonePorts[key] = record
	}
	for key := range t.was.cards {
		t.next.cards[key] = true
	}
	return t
}

func (t *turn) play() []*datamodels.HealthEvent {
	t.collect()
	if t.baseline {
		t.reset()
	}
	t.missing()
	t.compare()
	for _, d := range t.present {
		for _, p := range d.portsOf(t.layer) {
			t.port(p, d.netdev)
		}
	}
	t.missingPorts()
	t.returned()
	t.judgeCards()
	var events []*datamodels.HealthEvent
	for _, group := range [][]*datamodels.HealthEvent{
		t.clears, t.reasserted, t.ports, t.devicesGone, t.portsGone, t.devicesBack, t.cardEvents,
	} {
		events = append(events, group...)
	}
	if t.baseline {
		datedBack(events)
	}
	return events
}

func (t *turn) collect() {
	for _, d := range t.found.devices {
		t.seen[d.name] = true
		if !t.inventory.watches(d) {
			if !d.foreign {
				t.exempt[t.inventory.card(d.name)] = true
			}
			continue
		}
		if len(d.portsOf(t.layer)) > 0 {
			t.present = append(t.present, d)
			t.tracked[d.name] = d
			t.next.devices[d.name] = true
		}
	}
	for _, name := range t.found.unreadable {
		t.seen[name], t.unreadable[name] = true, true
		t.hold(name)
	}
}

// hold keeps what was last known of a device.
func (t *turn) hold(name string) {
	if !t.was.devices[name] {
		return
	}
	t.next.devices[name] = true
	for key, record := range t.was.ports {
		if record.Device == name {
			t.next.ports[key] = record
		}
	}
}

// reset begins a baseline: whatever this check has said is taken back; what this boot saw vanish is said again.
func (t *turn) reset() {
	t.clears = append(t.clears, t.clear("Baseline reset (host reboot or discovery-scope change): "+
		"clearing all conditions previously reported by this check"))
	t.next.cards = map[string]bool{}
	for _, name := range sortedGone(t.next.goneDevices) {
		if t.next.goneDevices[name].ThisBoot && !t.seen[name] && t.inventory.config.selects(name) {
			t.reasserted = append(t.reasserted, t.deviceGone(name))
			continue
		}
		delete(t.next.goneDevices, name)
	}
	for _, key := range sortedGone(t.next.gonePorts) {
		record := t.next.gonePorts[key]
		_, tracked := t.tracked[record.Device]
		inScope := (tracked || !t.seen[record.Device]) && t.inventory.config.selects(record.Device)
		if record.ThisBoot && inScope && !t.has(record.Device, record.Port) {
			t.reasserted = append(t.reasserted, t.portGone(record.Device, record.Port))
			continue
		}
		delete(t.next.gonePorts, key)
	}
}

func (t *turn) has(name string, number int) bool {
	for _, p := range t.tracked[name].portsOf(t.layer) {
		if p.number == number {
			return true
		}
	}
	return false
}

// missing counts the polls without a device that was known, and reports it in the third.
func (t *turn) missing() {
	threshold := missThreshold
	if makes(debounceShort) {
		threshold--
	}
	for _, name := range sortedNames(t.was.devices) {
		if t.seen[name] {
			continue
		}
		if misses := t.was.misses[name] + 1; misses < threshold {
			t.held = true
			t.hold(name)
			t.next.misses[name] = misses
			continue
		}
		if _, stands := t.next.goneDevices[name]; !stands {
			t.devicesGone = append(t.devicesGone, t.deviceGone(name))
			t.countError(name, "")
			t.next.goneDevices[name] = goneRecord{Device: name, Layer: t.layer, ThisBoot: true, Dark: t.dark(name)}
		}
	}
}

// dark are the ports of a device that are unhealthy without anything said of it, such as those without a cable by design.
func (t *turn) dark(name string) []int {
	var out []int
	for _, key := range sortedPorts(t.was.ports) {
		record := t.was.ports[key]
		if v := t.severity(record.port()); record.Device == name && record.Reported == "" && (v == nonFatal || v == fatal) {
			out = append(out, record.Port)
		}
	}
	return out
}

func (r goneRecord) wasDark(number int) bool {
	for _, dark := range r.Dark {
		if dark == number {
			return true
		}
	}
	return false
}

func (t *turn) port(p port, netdev string) {
	key := p.key()
	old, known := t.was.ports[key]
	record := portRecord{p.device, p.number, p.state, p.phys, t.layer, old.Reported}
	now, before := t.severity(p), t.severity(old.port())
	gone, deviceGone := t.next.goneDevices[p.device]
	_, portGone := t.next.gonePorts[key]

	say := false
	if now == healthy {
		say = t.baseline || deviceGone || portGone || known && before != healthy
		record.Reported = ""
		delete(t.next.gonePorts, key)
	} else if now != silent {
		judged := t.first || t.baseline
		unproven := judged && !t.inventory.config.pinning() && !t.standings[t.inventory.card(p.device)].anomalous && old.Reported == ""
		worse := before < now && reportedAs(old.Reported) < now && !makes(escalationSwallowed)
		unproven = unproven || !known && gone.wasDark(p.number)
		say = !unproven && (judged || !known || before == healthy || worse || makes(repeatsEveryPoll))
		if say && (t.baseline || reportedAs(old.Reported) < now) {
			record.Reported = reportedText[now]
		}
	}
	if now != healthy {
		t.countError(p.device, fmt.Sprint(p.number))
	}
	if say {
		t.ports = append(t.ports, t.portEvent(now, p, netdev))
	}
	t.next.ports[key] = record
}

func (t *turn) portEvent(v verdict, p port, netdev string) *datamodels.HealthEvent {
	about := fmt.Sprintf("%s %s port %d: ", t.wording.port, p.device, p.number)
	if v == healthy {
		if makes(clearsWrongPort) && !t.baseline {
			last := t.present[len(t.present)-1].portsOf(t.layer)
			p.device, p.number = last[len(last)-1].device, last[len(last)-1].number
		}
		return t.event(v, about+fmt.Sprintf("healthy (%s, %s)", p.state, p.phys), nicPort(p.device, p.number)...)
	}
	message := about + fmt.Sprintf("state %s, phys_state %s", p.state, p.phys)
	if t.layer == ethernet && netdev != "" {
		if operstate, err := readText(t.inventory.config.NetPath, netdev, "operstate"); err == nil {
			message += ", operstate " + operstate
		}
	}
	return t.event(v, message, nicPort(p.device, p.number)...)
}

// missingPorts reports ports that their device no longer has. A device that shows no port of this layer at all is silent, but
// what is known of it is kept, and a port whose layer says nothing is no port that is gone.
func (t *turn) missingPorts() {
	for _, key := range sortedPorts(t.was.ports) {
		record := t.was.ports[key]
		_, kept := t.next.ports[key]
		if kept || !t.seen[record.Device] {
			continue
		}
		d, tracked := t.tracked[record.Device]
		if !tracked || d.murky(record.Port) {
			if parsed, ok := t.parsed(record.Device); ok && (len(parsed.ports) == 0 || parsed.murky(record.Port) || record.Reported != "") {
				t.next.ports[key] = record
				t.next.devices[record.Device] = true
			}
			continue
		}
		t.portsGone = append(t.portsGone, t.portGone(record.Device, record.Port))
		t.countError(record.Device, fmt.Sprint(record.Port))
		t.next.gonePorts[key] = goneRecord{Device: record.Device, Port: record.Port, Layer: t.layer, ThisBoot: true}
	}
}

// parsed finds a device that was read in this poll and is not kept out by vendor or role.
func (t *turn) parsed(name string) (device, bool) {
	for _, d := range t.found.devices {
		if d.name == name {
			return d, t.inventory.watches(d)
		}
	}
	return device{}, false
}

// murky says that a port is there, but under no layer that is known.
func (d device) murky(number int) bool {
	for _, p := range d.ports {
		if p.number == number && p.layer != infiniBand && p.layer != ethernet {
			return true
		}
	}
	return false
}

// returned takes back that a device disappeared: one of its ports is healthy, or all are as dark as they were before, or it has
// none of this layer.
func (t *turn) returned() {
	for _, name := range sortedGone(t.next.goneDevices) {
		if t.unreadable[name] || !t.seen[name] {
			continue
		}
		d, tracked := t.tracked[name]
		back, asBefore := !tracked, true
		for _, p := range d.portsOf(t.layer) {
			back = back || p.healthy()
			asBefore = asBefore && t.next.goneDevices[name].wasDark(p.number)
		}
		if !back && !asBefore {
			continue
		}
		delete(t.next.goneDevices, name)
		if !makes(neverClearsDevice) {
			t.devicesBack = append(t.devicesBack, t.event(healthy, fmt.Sprintf("Device %s re-enumerated in sysfs", name), nic(name)...))
		}
	}
}

func (t *turn) deviceGone(name string) *datamodels.HealthEvent {
	return t.event(fatal, fmt.Sprintf(t.wording.deviceGone, name), nic(name)...)
}

func (t *turn) portGone(name string, number int) *datamodels.HealthEvent {
	return t.event(fatal, fmt.Sprintf("%s %s port %d disappeared from sysfs", t.wording.port, name, number), nicPort(name, number)...)
}

func (t *turn) countError(device, port string) {
	t.metrics.add("nic_health_monitor_state_check_errors_total", 1, "node", t.node, "check", t.check, "device", device, "port", port)
}

func (r portRecord) port() port { return port{r.Device, r.Port, r.State, r.Phys, r.Layer} }

var reportedText = map[verdict]string{nonFatal: "non-fatal", fatal: "fatal"}

func reportedAs(text string) verdict {
	for v, known := range reportedText {
		if text == known {
			return v
		}
	}
	return silent
}

// layer is the part of the state that one state check owns.
func (s *store) layer(layer string) layerState {
	s.Lock()
	defer s.Unlock()
	out := newLayerState()
	for _, record := range s.state.Ports {
		if record.Layer == layer {
			out.devices[record.Device] = true
			out.ports[record.port().key()] = record
		}
	}
	for _, record := range s.state.Misses {
		if record.Layer == layer {
			out.misses[record.Device] = record.Count
		}
	}
	for _, record := range s.state.GoneDevices {
		if record.Layer == layer {
			out.goneDevices[record.Device] = record
		}
	}
	for _, record := range s.state.GonePorts {
		if record.Layer == layer {
			out.gonePorts[port{device: record.Device, number: record.Port}.key()] = record
		}
	}
	for _, record := range s.state.Cards {
		if record.Layer == layer {
			out.cards[record.Card] = true
		}
	}
	return out
}

func (s *state) setLayer(layer string, now layerState) {
	for key, record := range s.Ports {
		if record.Layer == layer {
			delete(s.Ports, key)
		}
	}
	for key, record := range now.ports {
		if _, taken := s.Ports[key]; !taken || now.devices[record.Device] {
			s.Ports[key] = record
		}
	}
	for key, record := range s.Misses {
		if record.Layer == layer {
			delete(s.Misses, key)
		}
	}
	for name, count := range now.misses {
		s.Misses[path.Join(layer, name)] = missRecord{name, layer, count}
	}
	for _, records := range []map[string]goneRecord{s.GoneDevices, s.GonePorts} {
		for key, record := range records {
			if record.Layer == layer {
				delete(records, key)
			}
		}
	}
	for name, record := range now.goneDevices {
		s.GoneDevices[path.Join(layer, name)] = record
	}
	for key, record := range now.gonePorts {
		s.GonePorts[path.Join(layer, key)] = record
	}
	for key, record := range s.Cards {
		if record.Layer == layer {
			delete(s.Cards, key)
		}
	}
	for card := range now.cards {
		s.Cards[path.Join(layer, card)] = cardRecord{card, layer}
	}
}

func sortedNames(of map[string]bool) []string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func sortedGone(of map[string]goneRecord) []string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func sortedPorts(of map[string]portRecord) []string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"sync"
	"time"
)

const schemaVersion = 2

// state is what survives a restart. NVSentinel, nic-health-monitor, state.json: schema. Two keys are ours: `reported`, the worst
// that was said of a port since it was last healthy, and `dark_ports`, those of a device that were unhealthy, and nothing said
// of it, when it disappeared.
type state struct {
	Version      int                   `json:"version"`
	BootID       string                `json:"boot_id,omitempty"`
	Scope        string                `json:"scope,omitempty"`
	Ports        map[string]portRecord `json:"port_states,omitempty"`
	KnownDevices []string              `json:"known_devices,omitempty"`
	Cards        map[string]cardRecord `json:"anomalous_cards,omitempty"`
	GoneDevices  map[string]goneRecord `json:"disappeared_devices,omitempty"`
	GonePorts    map[string]goneRecord `json:"disappeared_ports,omitempty"`
	Misses       map[string]missRecord `json:"device_miss_counts,omitempty"`
	CharDevices  map[string]charRecord `json:"missing_char_devices,omitempty"`
	Snapshots    map[string]snapshot   `json:"counter_snapshots,omitempty"`
	Breaches     map[string]breach     `json:"breach_flags,omitempty"`
	Pending      map[string]bool       `json:"pending_baselines,omitempty"`
}

type portRecord struct {
	Device   string `json:"device"`
	Port     int    `json:"port"`
	State    string `json:"state"`
	Phys     string `json:"physical_state"`
	Layer    string `json:"link_layer"`
	Reported string `json:"reported,omitempty"`
}

type cardRecord struct {
	Card  string `json:"card"`
	Layer string `json:"link_layer"`
}

type goneRecord struct {
	Device   string `json:"device"`
	Port     int    `json:"port,omitempty"`
	Layer    string `json:"link_layer"`
	ThisBoot bool   `json:"observed_this_boot,omitempty"`
	Dark     []int  `json:"dark_ports,omitempty"`
}

type missRecord struct {
	Device string `json:"device"`
	Layer  string `json:"link_layer"`
	Count  int    `json:"count"`
}

type charRecord struct {
	Kind   string `json:"kind"`
	Device string `json:"device"`
	Port   int    `json:"port,omitempty"`
}

type snapshot struct {
	Value uint64    `json:"value"`
	At    time.Time `json:"timestamp"`
}

type breach struct {
	Breached bool      `json:"breached"`
	Check    string    `json:"check_name"`
	Fatal    bool      `json:"is_fatal"`
	Since    time.Time `json:"since"`
	Device   string    `json:"device"`
	Port     string    `json:"port"`
}

// store holds the state that was committed, and its file.
type store struct {
	sync.Mutex
	path     string
	state    state
	rebooted bool // or nothing is known of the life before
	rescoped bool // other filters than in the life before
	failed   bool // the last save did not succeed
}

// openStore loads the file, whatever it is like. NVSentinel, nic-health-monitor, state.json: load decision tree.
func openStore(path, bootID, scope string) *store {
	s := &store{path: path}
	s.state, s.rebooted, s.rescoped = loadState(path, bootID, scope)
	s.state.Version, s.state.BootID, s.state.Scope = schemaVersion, bootID, scope
	s.state.make()
	return s
}

func loadState(path, bootID, scope string) (old state, rebooted, rescoped bool) {
	if bootID == "" {
		log.warn("Boot id unreadable: treating as a reboot, nothing is kept")
		return state{}, true, false
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &old)
	}
	switch {
	case err != nil:
		log.warn("No state to continue from, starting fresh", "path", path, "error", err)
		return state{}, true, false
	case old.BootID != bootID:
		log.info("Host reboot detected", "before", old.BootID, "now", bootID)
		kept := state{Cards: old.Cards, GoneDevices: old.GoneDevices, GonePorts: old.GonePorts, CharDevices: old.CharDevices}
		for _, gone := range []map[string]goneRecord{kept.GoneDevices, kept.GonePorts} {
			for key, record := range gone {
				record.ThisBoot = false
				gone[key] = record
			}
		}
		return kept, true, false
	case old.Version != schemaVersion:
		log.warn("State file has another version, starting fresh", "version", old.Version)
		return state{}, true, false
	case old.Scope != scope:
		log.info("Discovery scope changed", "before", old.Scope, "now", scope)
		old.Ports, old.KnownDevices, old.Misses = nil, nil, nil
		return old, false, true
	}
	if makes(forgetsOverRestart) {
		for key, record := range old.Ports {
			record.State, record.Phys, record.Reported = "ACTIVE", "LinkUp", ""
			old.Ports[key] = record
		}
		old.GoneDevices, old.GonePorts, old.Breaches = nil, nil, nil
	}
	return old, false, false
}

// make makes the maps that are not there.
func (s *state) make() {
	value := reflect.ValueOf(s).Elem()
	for i := 0; i < value.NumField(); i++ {
		if field := value.Field(i); field.Kind() == reflect.Map && field.IsNil() {
			field.Set(reflect.MakeMap(field.Type()))
		}
	}
}

// owes says whether a check still has to send its baseline, and notes that it does if the start asks for one.
func (s *store) owes(check string, baseline bool) bool {
	s.Lock()
	defer s.Unlock()
	if baseline {
		s.state.Pending[check] = true
	}
	return s.state.Pending[check]
}

// change alters the state and saves it if it became another one, or if the last save failed.
func (s *store) change(complaint string, alter func(*state)) {
	s.Lock()
	defer s.Unlock()
	before, _ := json.Marshal(s.state)
	alter(&s.state)
	devices := map[string]bool{}
	for _, record := range s.state.Ports {
		devices[record.Device] = true
	}
	s.state.KnownDevices = nil
	for name := range devices {
		s.state.KnownDevices = append(s.state.KnownDevices, name)
	}
	sort.Strings(s.state.KnownDevices)
	after, _ := json.Marshal(s.state)
	if string(before) == string(after) && !s.failed {
		return
	}
	err := s.save()
	if s.failed = err != nil; s.failed {
		log.error(complaint, "error", err)
	}
}

func (s *store) save() error {
	text, err := json.MarshalIndent(s.state, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(s.path + ".tmp")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(s.path+".tmp", s.path)
}

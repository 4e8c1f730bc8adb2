package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"
)

// config is the file of --config. NVSentinel, nic-health-monitor, configuration: config.toml.
type config struct {
	Exclusion     string `toml:"nicExclusionRegex"`
	Override      string `toml:"nicInclusionRegexOverride"`
	NetPath       string `toml:"sysClassNetPath"`
	ClassPath     string `toml:"sysClassInfinibandPath"`
	CounterSwitch struct {
		Enabled  bool            `toml:"enabled"`
		Counters []counterConfig `toml:"counters"`
	} `toml:"counterDetection"`

	excluded, included []*regexp.Regexp
}

type counterConfig struct {
	Name      string  `toml:"name"`
	Enabled   bool    `toml:"enabled"`
	Type      string  `toml:"thresholdType"`
	Threshold float64 `toml:"threshold"`
	Unit      string  `toml:"velocityUnit"`
}

func loadConfig(path string) (*config, error) {
	c := &config{NetPath: "/nvsentinel/sys/class/net", ClassPath: "/nvsentinel/sys/class/infiniband"}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		log.warn("Config file not found, using defaults with counter detection disabled", "path", path)
	case err != nil:
		return nil, err
	default:
		if _, err := toml.Decode(string(text), c); err != nil {
			return nil, fmt.Errorf("failed to decode TOML file %s: %w", path, err)
		}
	}
	return c, c.check()
}

func (c *config) check() error {
	var err error
	if c.excluded, err = patterns(c.Exclusion); err != nil {
		return fmt.Errorf("invalid nicExclusionRegex: %w", err)
	}
	if c.included, err = patterns(c.Override); err != nil {
		return fmt.Errorf("invalid nicInclusionRegexOverride: %w", err)
	}
	if c.pinning() && len(c.included) == 0 {
		return errors.New("invalid nicInclusionRegexOverride: must contain at least one non-empty pattern")
	}
	if !c.CounterSwitch.Enabled {
		return nil
	}
	seen := map[string]bool{}
	for i, counter := range c.CounterSwitch.Counters {
		if !counter.Enabled {
			continue
		}
		if err := counter.check(); err != nil {
			return fmt.Errorf("invalid counterDetection: counters[%d] (%q): %w", i, counter.Name, err)
		}
		if seen[counter.Name] {
			return fmt.Errorf("invalid counterDetection: counters[%d]: duplicate counter name %q", i, counter.Name)
		}
		seen[counter.Name] = true
	}
	return nil
}

func (c counterConfig) check() error {
	if c.Name == "" {
		return errors.New("name must not be empty")
	}
	if _, known := catalogue[c.Name]; !known {
		var names []string
		for name := range catalogue {
			names = append(names, name)
		}
		sort.Strings(names)
		return fmt.Errorf("counter name %q is not allowed; allowed counters: %s", c.Name, strings.Join(names, ", "))
	}
	if c.Type != "delta" && c.Type != "velocity" {
		return fmt.Errorf("thresholdType %q is invalid; must be one of: delta, velocity", c.Type)
	}
	if math.IsNaN(c.Threshold) || math.IsInf(c.Threshold, 0) || c.Threshold < 0 {
		return fmt.Errorf("threshold %v is invalid; must be a finite value >= 0", c.Threshold)
	}
	if _, known := units[c.Unit]; c.Type == "velocity" && !known {
		return fmt.Errorf("velocityUnit %q is invalid; must be one of: second, minute, hour", c.Unit)
	}
	return nil
}

// enabled are the counters that are watched, in the order of the file.
func (c *config) enabled() []counterConfig {
	var out []counterConfig
	for _, counter := range c.CounterSwitch.Counters {
		if c.CounterSwitch.Enabled && counter.Enabled {
			out = append(out, counter)
		}
	}
	return out
}

func (c *config) pinning() bool { return strings.TrimSpace(c.Override) != "" }

// fingerprint is kept in the state file: with another one the devices of the file mean nothing.
func (c *config) fingerprint() string {
	return "incl=" + strings.TrimSpace(c.Override) + ";excl=" + strings.TrimSpace(c.Exclusion)
}

// selects says whether the filters by name let a device through.
func (c *config) selects(device string) bool {
	if c.pinning() {
		return anyMatches(c.included, device)
	}
	return !anyMatches(c.excluded, device)
}

func patterns(list string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, part := range strings.Split(list, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		pattern, err := regexp.Compile(part)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", part, err)
		}
		out = append(out, pattern)
	}
	return out, nil
}

func anyMatches(all []*regexp.Regexp, name string) bool {
	for _, pattern := range all {
		if pattern.MatchString(name) {
			return true
		}
	}
	return false
}

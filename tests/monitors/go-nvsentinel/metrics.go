package main

import (
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"
)

var buckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// metrics are what /metrics shows. NVSentinel, nic-health-monitor, metrics and health endpoints.
type metrics struct {
	sync.Mutex
	kinds  map[string]string
	series map[string]map[string]float64

	started  time.Time
	lastPoll time.Time
	stale    time.Duration
}

func newMetrics(interval time.Duration) *metrics {
	now := time.Now()
	return &metrics{kinds: map[string]string{}, series: map[string]map[string]float64{}, started: now, lastPoll: now, stale: 3 * interval}
}

func (m *metrics) add(name string, by float64, labels ...string) {
	m.change("counter", name, name, labels, func(before float64) float64 { return before + by })
}

func (m *metrics) gauge(name string, value float64, labels ...string) {
	m.change("gauge", name, name, labels, func(float64) float64 { return value })
}

// observe counts a duration in a histogram.
func (m *metrics) observe(name string, seconds float64, labels ...string) {
	within := func(limit string, in bool) {
		m.change("histogram", name, name+"_bucket", append(labels[:len(labels):len(labels)], "le", limit), func(before float64) float64 {
			if in {
				before++
			}
			return before
		})
	}
	for _, limit := range buckets {
		within(fmt.Sprint(limit), seconds <= limit)
	}
	within("+Inf", true)
	m.change("histogram", name, name+"_sum", labels, func(before float64) float64 { return before + seconds })
	m.change("histogram", name, name+"_count", labels, func(before float64) float64 { return before + 1 })
}

func (m *metrics) change(kind, family, name string, labels []string, to func(float64) float64) {
	var pairs []string
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, fmt.Sprintf("%s=%q", labels[i], labels[i+1]))
	}
	line := name + "{" + strings.Join(pairs, ",") + "}"
	m.Lock()
	defer m.Unlock()
	m.kinds[family] = kind
	if m.series[family] == nil {
		m.series[family] = map[string]float64{}
	}
	m.series[family][line] = to(m.series[family][line])
}

// alive is called after each turn of the state loop, whatever became of it; the counter loop's do not count.
func (m *metrics) alive() {
	m.Lock()
	defer m.Unlock()
	m.lastPoll = time.Now()
}

func (m *metrics) serve(port int) {
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", m.page)
	mux.HandleFunc("/healthz", m.health)
	if err := http.ListenAndServe(fmt.Sprintf(":%d", port), mux); err != nil {
		log.error("Metrics server failed - continuing without metrics", "error", err)
	}
}

func (m *metrics) health(w http.ResponseWriter, _ *http.Request) {
	m.Lock()
	ago := time.Since(m.lastPoll)
	m.Unlock()
	if ago > m.stale {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, "polling loop stale: last iteration %.0fs ago, threshold %v", ago.Seconds(), m.stale)
		return
	}
	fmt.Fprint(w, "ok")
}

func (m *metrics) page(w http.ResponseWriter, _ *http.Request) {
	m.Lock()
	defer m.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	var families []string
	for family := range m.series {
		families = append(families, family)
	}
	sort.Strings(families)
	for _, family := range families {
		fmt.Fprintf(w, "# TYPE %s %s\n", family, m.kinds[family])
		var lines []string
		for line := range m.series[family] {
			lines = append(lines, line)
		}
		sort.Strings(lines)
		for _, line := range lines {
			fmt.Fprintf(w, "%s %v\n", line, m.series[family][line])
		}
	}
}

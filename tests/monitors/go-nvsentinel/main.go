// A stand-in for the nic-health-monitor of NVIDIA's NVSentinel (commit 3628b8fe), written anew from the facts about its
// behaviour; no line of it is copied. What it leaves out, and the mistakes that can be planted in it, are in README.md.
package main

import (
	"context"
	"datamodels"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
)

const (
	allChecks       = "InfiniBandStateCheck,InfiniBandDegradationCheck,InfiniBandCharDeviceCheck,EthernetStateCheck,EthernetDegradationCheck"
	counterInterval = time.Second

	// afterEnd is how long the program takes to end after its loops have: its web server is given that long.
	afterEnd = 500 * time.Millisecond
)

type options struct {
	checks, socket, node, interval, metricsPort, config, metadata, state, bootID, strategy string
}

// parse reads the command line. NVSentinel, nic-health-monitor, flags.
func parse() options {
	var o options
	flag.StringVar(&o.checks, "checks", allChecks, "checks to run, separated by commas")
	flag.StringVar(&o.socket, "platform-connector-socket", "unix:///var/run/nvsentinel.sock", "gRPC target of the platform connector")
	flag.StringVar(&o.node, "node-name", os.Getenv("NODE_NAME"), "name of the node")
	flag.StringVar(&o.interval, "state-polling-interval", "1s", "interval of the state checks")
	flag.StringVar(&o.metricsPort, "metrics-port", "2112", "TCP port of /metrics and /healthz")
	flag.StringVar(&o.config, "config", "/etc/nic-health-monitor/config.toml", "configuration file")
	flag.StringVar(&o.metadata, "metadata-path", "/var/lib/nvsentinel/gpu_metadata.json", "file of the metadata collector")
	flag.StringVar(&o.state, "state-file", "/var/run/nic_health_monitor/state.json", "what is remembered across restarts")
	flag.StringVar(&o.bootID, "boot-id-path", "/nvsentinel/proc/sys/kernel/random/boot_id", "the kernel's boot id")
	flag.StringVar(&o.strategy, "processing-strategy", "EXECUTE_REMEDIATION", "processing strategy of every event")
	flag.Var(&mistake, "mistake", "plants a mistake: one of "+strings.Join(mistakes, ", "))
	flag.Parse()
	return o
}

func main() {
	rand.Seed(time.Now().UnixNano())
	if err := run(parse()); err != nil {
		log.error("Fatal error", "error", err)
		os.Exit(1)
	}
}

// run starts in the order of the real one, whose every step can refuse. NVSentinel, nic-health-monitor, start-up order.
func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if o.node == "" {
		return errors.New("NODE_NAME env not set and --node-name flag not provided, cannot run")
	}
	c, err := loadConfig(o.config)
	if err != nil {
		return fmt.Errorf("invalid configuration at %s (fix or remove the file): %w", o.config, err)
	}
	strategy, known := datamodels.ProcessingStrategy_value[o.strategy]
	if !known {
		return fmt.Errorf("unexpected processing strategy value: %q", o.strategy)
	}
	interval, err := time.ParseDuration(o.interval)
	if err != nil {
		return fmt.Errorf("invalid state-polling-interval: %w", err)
	}
	if interval <= 0 {
		return fmt.Errorf("state-polling-interval must be > 0, got %v", interval)
	}
	port, err := strconv.Atoi(o.metricsPort)
	if err != nil {
		return fmt.Errorf("invalid metrics port: %w", err)
	}
	gpus, err := loadMetadata(o.metadata)
	if err != nil && !c.pinning() {
		return fmt.Errorf("NIC monitor cannot start without GPU metadata at %s: %w (hint: ensure the metadata-collector DaemonSet "+
			"is running and has written nic_topology)", o.metadata, err)
	}
	if err != nil {
		log.warn("No GPU metadata; the inclusion override does without", "error", err)
		gpus = &metadata{}
	}
	devices := newInventory(c, gpus)
	bootID, err := readText(o.bootID)
	if err != nil || bootID == "" {
		log.warn("Boot id unreadable", "path", o.bootID, "error", err)
		bootID = ""
	}
	kept := openStore(o.state, bootID, c.fingerprint())
	connection, err := dial(ctx, o.socket)
	if err != nil {
		return fmt.Errorf("failed to create gRPC client after retries: %w", err)
	}
	defer connection.Close()
	m := newMetrics(interval)
	base := reporter{node: o.node, strategy: datamodels.ProcessingStrategy(strategy)}
	states, counters := buildChecks(o.checks, base, devices, kept, m)
	if len(states)+len(counters) == 0 {
		return errors.New("no checks enabled — set --checks to include at least one of: InfiniBandStateCheck, InfiniBandDegradationCheck, " +
			"InfiniBandCharDeviceCheck, EthernetStateCheck, EthernetDegradationCheck")
	}
	go m.serve(port)
	sender := newPublisher(o.socket, connection, m)
	var loops sync.WaitGroup
	for _, l := range []*loop{
		{category: "state", interval: interval, checks: states, node: o.node, publisher: sender, metrics: m},
		{category: "counter", interval: counterInterval, checks: counters, node: o.node, publisher: sender, metrics: m},
	} {
		loops.Add(1)
		go func(l *loop) {
			defer loops.Done()
			l.run(ctx)
		}(l)
	}
	loops.Wait()
	time.Sleep(afterEnd)
	return nil
}

func newPublisher(target string, connection *grpc.ClientConn, m *metrics) *publisher {
	return &publisher{target: target, client: datamodels.NewPlatformConnectorClient(connection), metrics: m}
}

// buildChecks makes the checks of the two loops, in the order in which they are named.
func buildChecks(names string, base reporter, v *inventory, s *store, m *metrics) (states, counters []check) {
	for _, name := range strings.Split(names, ",") {
		name = strings.TrimSpace(name)
		r := base
		r.check = name
		switch name {
		case "InfiniBandStateCheck", "EthernetStateCheck":
			states = append(states, newStateCheck(strings.TrimSuffix(name, "StateCheck"), r, v, s, m))
		case "InfiniBandCharDeviceCheck":
			states = append(states, newCharCheck(r, v, s, m))
		case "InfiniBandDegradationCheck", "EthernetDegradationCheck":
			if !v.config.CounterSwitch.Enabled {
				log.warn("Skipping requested check: counterDetection.enabled is false", "check", name)
				continue
			}
			counters = append(counters, newDegradation(strings.TrimSuffix(name, "DegradationCheck"), r, v, s, m))
		default:
			log.warn("Unknown check, skipping", "check", name)
		}
	}
	return states, counters
}

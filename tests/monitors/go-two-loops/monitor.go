// A NIC monitor in the manner of NVSentinel's nic-health-monitor, written anew: a loop for states and a loop for counters
// side by side, each check listing the devices for itself; the route table of the host under /nvsentinel, written into the
// source; the system's clock; five attempts to send with pauses of 2, 3, 4.5 and 6.75 s; an end that waits for both loops
// and then a moment more; no start without the connector's socket; metrics under names of its own.
package main

import (
	"context"
	"datamodels"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/golang/protobuf/ptypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const routeTable = "/nvsentinel/proc/net/route"

var (
	class    = flag.String("class", "/nvsentinel/sys/class/infiniband", "folder of RDMA devices")
	socket   = flag.String("socket", "/var/run/nvsentinel.sock", "the connector's socket")
	node     = flag.String("node-name", os.Getenv("NODE_NAME"), "node's name")
	selected = flag.String("checks", "InfiniBandStateCheck,InfiniBandCharDeviceCheck,EthernetStateCheck,InfiniBandDegradationCheck,EthernetDegradationCheck", "checks to run")
	metrics  = flag.Int("metrics-port", 2112, "TCP port of /metrics")

	polls, delivered, failed int64
)

// A check looks once and returns what it has to say; commit is called when that was delivered.
type check interface {
	name() string
	look(devices []string) []*datamodels.HealthEvent
	commit()
}

func read(elements ...string) (string, error) {
	bytes, err := os.ReadFile(path.Join(elements...))
	return strings.TrimSpace(string(bytes)), err
}

func entries(elements ...string) ([]string, error) {
	folder, err := os.ReadDir(path.Join(elements...))
	var all []string
	for _, entry := range folder {
		all = append(all, entry.Name())
	}
	return all, err
}

// scope decides which devices are watched, and remembers it.
type scope struct {
	sync.Mutex
	gateway string
	watched map[string]bool
}

func newScope() *scope {
	s := &scope{watched: map[string]bool{}}
	table, err := read(routeTable)
	if err != nil {
		log.Print("no route table: ", err)
	}
	for _, row := range strings.Split(table, "\n") {
		if fields := strings.Fields(row); len(fields) >= 2 && fields[1] == "00000000" {
			s.gateway = fields[0]
			break
		}
	}
	return s
}

func (s *scope) watches(device string) bool {
	s.Lock()
	defer s.Unlock()
	if known, ok := s.watched[device]; ok {
		return known
	}
	vendor, err := read(*class, device, "device/vendor")
	if err != nil {
		return false
	}
	_, virtual := os.Lstat(path.Join(*class, device, "device/physfn"))
	numa, _ := read(*class, device, "device/numa_node")
	netdevs, _ := entries(*class, device, "device/net")
	way := s.gateway != "" && len(netdevs) > 0 && netdevs[0] == s.gateway
	s.watched[device] = vendor == "0x15b3" && virtual != nil && numa != "-1" && !way
	return s.watched[device]
}

func newEvent(check string, fatal, healthy bool, message, device, port string, code ...string) *datamodels.HealthEvent {
	out := &datamodels.HealthEvent{
		Version: 1, Agent: "nic-health-monitor", ComponentClass: "NIC", CheckName: check, NodeName: *node,
		IsFatal: fatal, IsHealthy: healthy, Message: message, ErrorCode: code,
		ProcessingStrategy: datamodels.ProcessingStrategy_EXECUTE_REMEDIATION,
		EntitiesImpacted: []*datamodels.Entity{
			{EntityType: "NIC", EntityValue: device}, {EntityType: "NICPort", EntityValue: port},
		},
	}
	if fatal {
		out.RecommendedAction = datamodels.RecommendedAction_REPLACE_VM
	}
	out.GeneratedTimestamp, _ = ptypes.TimestampProto(time.Now())
	return out
}

// states reports ports of one layer that go down and come back.
type states struct {
	layer       string
	scope       *scope
	seen, fresh map[string]bool
}

func (c *states) name() string { return c.layer + "StateCheck" }
func (c *states) commit()      { c.seen = c.fresh }

func (c *states) look(devices []string) (out []*datamodels.HealthEvent) {
	c.fresh = map[string]bool{}
	for port, up := range c.seen {
		c.fresh[port] = up
	}
	for _, device := range devices {
		if !c.scope.watches(device) {
			continue
		}
		ports, _ := entries(*class, device, "ports")
		for _, port := range ports {
			state, e1 := read(*class, device, "ports", port, "state")
			phys, e2 := read(*class, device, "ports", port, "phys_state")
			layer, e3 := read(*class, device, "ports", port, "link_layer")
			if e1 != nil || e2 != nil || e3 != nil || layer != c.layer {
				continue
			}
			up := state == "4: ACTIVE" && phys == "5: LinkUp"
			before, known := c.seen[device+" "+port]
			// A port that was never up may lack a cable on purpose.
			if before == up && (known || !up) || !up && state != "1: DOWN" {
				continue
			}
			c.fresh[device+" "+port] = up
			message := fmt.Sprintf("Port %s port %s: state %s, phys_state %s", device, port, state, phys)
			out = append(out, newEvent(c.name(), !up, up, message, device, port))
		}
	}
	return out
}

// counters reports each port of one layer whose link_downed has grown, until it is reset.
type counters struct {
	layer       string
	scope       *scope
	seen, fresh map[string]count
}

type count struct {
	value    uint64
	breached bool
}

func (c *counters) name() string { return c.layer + "DegradationCheck" }
func (c *counters) commit()      { c.seen = c.fresh }

func (c *counters) look(devices []string) (out []*datamodels.HealthEvent) {
	c.fresh = map[string]count{}
	for port, known := range c.seen {
		c.fresh[port] = known
	}
	for _, device := range devices {
		if !c.scope.watches(device) {
			continue
		}
		ports, _ := entries(*class, device, "ports")
		for _, port := range ports {
			layer, _ := read(*class, device, "ports", port, "link_layer")
			text, err := read(*class, device, "ports", port, "counters/link_downed")
			value, malformed := strconv.ParseUint(text, 10, 64)
			if layer != c.layer || err != nil || malformed != nil {
				continue
			}
			before, known := c.seen[device+" "+port]
			now := count{value, before.breached}
			switch {
			case known && value > before.value && !before.breached:
				now.breached = true
				message := fmt.Sprintf("Port %s port %s: link_downed - grew by %d", device, port, value-before.value)
				out = append(out, newEvent(c.name(), true, false, message, device, port, "link_downed"))
			case before.breached && value < before.value:
				now.breached = false
				message := fmt.Sprintf("Port %s port %s: link_downed was reset", device, port)
				out = append(out, newEvent(c.name(), false, true, message, device, port, "link_downed"))
			}
			c.fresh[device+" "+port] = now
		}
	}
	return out
}

// umads reports each InfiniBand port that has no umad device in three polls, and its return.
type umads struct {
	scope         *scope
	misses, fresh map[string]int
}

func (c *umads) name() string { return "InfiniBandCharDeviceCheck" }
func (c *umads) commit()      { c.misses = c.fresh }

func (c *umads) look(devices []string) (out []*datamodels.HealthEvent) {
	c.fresh = map[string]int{}
	nodes, err := entries(*class + "_mad")
	if err != nil {
		c.fresh = c.misses
		return nil
	}
	there := map[string]bool{}
	for _, node := range nodes {
		if strings.HasPrefix(node, "umad") {
			device, _ := read(*class+"_mad", node, "ibdev")
			port, _ := read(*class+"_mad", node, "port")
			there[device+" "+port] = true
		}
	}
	for _, device := range devices {
		if !c.scope.watches(device) {
			continue
		}
		ports, _ := entries(*class, device, "ports")
		for _, port := range ports {
			layer, _ := read(*class, device, "ports", port, "link_layer")
			key := device + " " + port
			if layer != "InfiniBand" {
				continue
			}
			if there[key] {
				if c.misses[key] >= 3 {
					out = append(out, newEvent(c.name(), false, true, "umad of "+key+" is back", device, port, "umad"))
				}
				continue
			}
			c.fresh[key] = c.misses[key] + 1
			if c.fresh[key] == 3 {
				out = append(out, newEvent(c.name(), true, false, "umad of "+key+" is missing", device, port, "umad"))
			}
		}
	}
	return out
}

// send tries five times, and stands still meanwhile.
func send(ctx context.Context, client datamodels.PlatformConnectorClient, events []*datamodels.HealthEvent) error {
	pause := 2 * time.Second
	for attempt := 1; ; attempt++ {
		if _, err := os.Stat(*socket); errors.Is(err, os.ErrNotExist) {
			return err
		}
		_, err := client.HealthEventOccurredV1(ctx, &datamodels.HealthEvents{Version: 1, Events: events})
		if code := status.Code(err); err == nil || attempt == 5 || code != codes.Unavailable && code != codes.DeadlineExceeded {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause += pause / 2
	}
}

func loop(ctx context.Context, client datamodels.PlatformConnectorClient, checks []check) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, check := range checks {
			devices, err := entries(*class)
			if err != nil {
				log.Print(check.name(), ": ", err)
				continue
			}
			events := check.look(devices)
			if len(events) > 0 {
				if err := send(ctx, client, events); err != nil {
					atomic.AddInt64(&failed, 1)
					log.Print(check.name(), ": not sent: ", err)
					continue
				}
				atomic.AddInt64(&delivered, int64(len(events)))
			}
			check.commit()
		}
		atomic.AddInt64(&polls, 1)
	}
}

func main() {
	flag.Parse()
	if _, err := os.Stat(*socket); err != nil {
		log.Fatal("failed to connect: socket file not found: ", err)
	}
	connection, err := grpc.Dial("unix://"+*socket, grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "stand_in_polls_total %d\nstand_in_events_total %d\nstand_in_failures_total %d\n",
			atomic.LoadInt64(&polls), atomic.LoadInt64(&delivered), atomic.LoadInt64(&failed))
	})
	go func() { log.Print(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *metrics), nil)) }()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	watched := newScope()
	var inStates, inCounters []check
	for _, name := range strings.Split(*selected, ",") {
		switch name = strings.TrimSpace(name); name {
		case "InfiniBandStateCheck", "EthernetStateCheck":
			inStates = append(inStates, &states{layer: strings.TrimSuffix(name, "StateCheck"), scope: watched})
		case "InfiniBandCharDeviceCheck":
			inStates = append(inStates, &umads{scope: watched})
		case "InfiniBandDegradationCheck", "EthernetDegradationCheck":
			inCounters = append(inCounters, &counters{layer: strings.TrimSuffix(name, "DegradationCheck"), scope: watched})
		}
	}
	client := datamodels.NewPlatformConnectorClient(connection)
	var loops sync.WaitGroup
	for _, checks := range [][]check{inStates, inCounters} {
		if len(checks) > 0 {
			loops.Add(1)
			go func(checks []check) {
				defer loops.Done()
				loop(ctx, client, checks)
			}(checks)
		}
	}
	<-ctx.Done()
	loops.Wait()
	time.Sleep(500 * time.Millisecond)
	log.Print("ended")
}

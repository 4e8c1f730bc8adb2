// A NIC health monitor in Go with grpc-go.
//
// Usage: monitor ROOT SOCKET NODE. It polls for ever: it reads the ports below ROOT, and reports each change over the
// unix socket SOCKET, one call per check. An event that was not accepted is sent again in the next poll.
package main

import (
	"context"
	"datamodels"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/golang/protobuf/ptypes"
	"google.golang.org/grpc"
)

// How bad something is. A silent port is unhealthy in a way that is not reported.
const (
	unknown = iota
	healthy
	nonfatal
	fatal
	silent
)

var (
	root, socket, node = os.Args[1], os.Args[2], os.Args[3]
	class              = filepath.Join(root, "sys/class/infiniband")
	checks             = map[string]string{"InfiniBand": "InfiniBandStateCheck", "Ethernet": "EthernetStateCheck"}
)

type event struct {
	layer, device, port string
	severity            int
	message             string
}

type device struct {
	layer    string
	gone     bool
	reported map[string]int
}

// read returns a file below the class folder without its newline.
func read(path ...string) (string, error) {
	text, err := os.ReadFile(filepath.Join(class, filepath.Join(path...)))
	return strings.TrimSpace(string(text)), err
}

// names lists a folder below the class folder in order.
func names(path ...string) (all []string) {
	entries, _ := os.ReadDir(filepath.Join(class, filepath.Join(path...)))
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

// isMonitored tells whether it is an NVIDIA function that is neither virtual nor the node's own way out.
func isMonitored(name string) bool {
	vendor, _ := read(name, "device/vendor")
	numaNode, _ := read(name, "device/numa_node")
	routes, _ := os.ReadFile(filepath.Join(root, "proc/net/route"))
	for _, line := range strings.Split(string(routes), "\n") {
		for _, netdev := range names(name, "device/net") {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == netdev && fields[1] == "00000000" {
				return false
			}
		}
	}
	_, physical := os.Stat(filepath.Join(class, name, "device/physfn"))
	return vendor == "0x15b3" && numaNode != "-1" && os.IsNotExist(physical)
}

func judge(layer, state, phys string) int {
	switch {
	case state == "4: ACTIVE" && phys == "5: LinkUp":
		return healthy
	case state == "1: DOWN", layer == "InfiniBand" && phys == "3: Disabled":
		return fatal
	case layer == "InfiniBand":
		return nonfatal
	}
	return silent
}

// poll returns the events of one poll.
func poll(devices map[string]*device, ignored map[string]bool) (events []event) {
	listed := names()
	present := map[string]bool{}
	for _, name := range listed {
		present[name] = true
	}
	// A map of Go is walked in another order each time, and what a condition cuts off depends on the order.
	absent := []string{}
	for name, known := range devices {
		if !present[name] && !known.gone {
			absent = append(absent, name)
		}
	}
	sort.Strings(absent)
	for _, name := range absent {
		devices[name].gone = true
		events = append(events, event{devices[name].layer, name, "", fatal, name + " has disappeared"})
	}
	for _, name := range listed {
		if devices[name] == nil && !ignored[name] {
			if isMonitored(name) {
				devices[name] = &device{reported: map[string]int{}}
			} else {
				ignored[name] = true
			}
		}
		if !ignored[name] {
			events = append(events, pollDevice(name, devices[name])...)
		}
	}
	return events
}

func pollDevice(name string, known *device) (events []event) {
	ports, well := []event{}, true
	for _, port := range names(name, "ports") {
		layer, e1 := read(name, "ports", port, "link_layer")
		state, e2 := read(name, "ports", port, "state")
		phys, e3 := read(name, "ports", port, "phys_state")
		if e1 != nil || e2 != nil || e3 != nil {
			return nil // what cannot be read tells nothing
		}
		known.layer = layer
		found := event{layer, name, port, judge(layer, state, phys), name + " port " + port + " is " + state + ", " + phys}
		well = well && found.severity == healthy
		ports = append(ports, found)
	}
	if known.gone {
		if len(ports) == 0 || !well {
			return nil
		}
		known.gone, known.reported = false, map[string]int{}
		events = append(events, event{known.layer, name, "", healthy, name + " is back"})
	}
	for _, found := range ports {
		before := known.reported[found.port]
		worse := before != unknown && found.severity != silent && found.severity > before
		if worse || found.severity == healthy && before != healthy {
			known.reported[found.port] = found.severity
			events = append(events, found)
		}
	}
	return events
}

func message(number int, found event) *datamodels.HealthEvent {
	action := datamodels.RecommendedAction_NONE
	if found.severity == fatal {
		action = datamodels.RecommendedAction_REPLACE_VM
	}
	entities := []*datamodels.Entity{{EntityType: "NIC", EntityValue: found.device}}
	if found.port != "" {
		entities = append(entities, &datamodels.Entity{EntityType: "NICPort", EntityValue: found.port})
	}
	at, _ := ptypes.TimestampProto(time.Now().Add(time.Duration(number)))
	return &datamodels.HealthEvent{
		Version: 1, Agent: "nic-health-monitor", ComponentClass: "NIC", CheckName: checks[found.layer],
		IsFatal: found.severity == fatal, IsHealthy: found.severity == healthy, Message: found.message,
		RecommendedAction: action, EntitiesImpacted: entities, GeneratedTimestamp: at, NodeName: node,
		ProcessingStrategy: datamodels.ProcessingStrategy_EXECUTE_REMEDIATION,
	}
}

func main() {
	connection, err := grpc.Dial("unix://"+socket, grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	connector := datamodels.NewPlatformConnectorClient(connection)
	devices, ignored, pending := map[string]*device{}, map[string]bool{}, []event{}
	for {
		pending = append(pending, poll(devices, ignored)...)
		kept := []event{}
		for _, layer := range []string{"InfiniBand", "Ethernet"} {
			batch, found := &datamodels.HealthEvents{Version: 1}, []event{}
			for _, each := range pending {
				if each.layer == layer {
					batch.Events = append(batch.Events, message(len(found), each))
					found = append(found, each)
				}
			}
			if len(found) > 0 {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				if _, err := connector.HealthEventOccurredV1(ctx, batch); err != nil {
					log.Print(err)
					kept = append(kept, found...)
				}
				cancel()
			}
		}
		pending = kept
		time.Sleep(time.Millisecond)
	}
}

// A small NIC monitor as a site might write it: one static program, the paths of the host written into the source, and a
// loop that comes once a second and cannot be told otherwise. The environment has the socket (CONNECTOR_SOCKET) and the
// node's name (NODE_NAME); there are no flags.
package main

import (
	"context"
	"datamodels"
	"fmt"
	"io/ioutil"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/golang/protobuf/ptypes"
	"google.golang.org/grpc"
)

const (
	class = "/sys/class/infiniband/"
	route = "/proc/net/route"
	agent = "nic-health-monitor"
)

// portKey names a port: device and number.
type portKey struct{ device, port string }

// status is what a port looked like.
type status struct{ layer, state, phys string }

func (s status) up() bool   { return s.state == "4: ACTIVE" && s.phys == "5: LinkUp" }
func (s status) down() bool { return s.state == "1: DOWN" }

func text(path string) (string, bool) {
	bytes, err := ioutil.ReadFile(path)
	return strings.TrimSpace(string(bytes)), err == nil
}

func list(path string) []string {
	files, _ := ioutil.ReadDir(path)
	var out []string
	for _, f := range files {
		out = append(out, f.Name())
	}
	return out
}

// uplink is the interface of the node's default route, through which jobs do not talk.
func uplink() string {
	table, _ := text(route)
	for _, row := range strings.Split(table, "\n") {
		if cells := strings.Fields(row); len(cells) > 2 && cells[1] == "00000000" {
			return cells[0]
		}
	}
	return ""
}

// look reads all ports of NVIDIA's physical functions that belong to a GPU's NUMA node.
func look(away string) map[portKey]status {
	found := map[portKey]status{}
	for _, device := range list(class) {
		base := class + device
		if vendor, _ := text(base + "/device/vendor"); vendor != "0x15b3" {
			continue
		}
		if _, err := os.Lstat(base + "/device/physfn"); err == nil {
			continue
		}
		if numa, _ := text(base + "/device/numa_node"); numa == "-1" {
			continue
		}
		if netdevs := list(base + "/device/net"); len(netdevs) > 0 && netdevs[0] == away {
			continue
		}
		for _, port := range list(base + "/ports") {
			at := base + "/ports/" + port
			layer, a := text(at + "/link_layer")
			state, b := text(at + "/state")
			phys, c := text(at + "/phys_state")
			if a && b && c {
				found[portKey{device, port}] = status{layer, state, phys}
			}
		}
	}
	return found
}

func event(key portKey, seen status, node string, nth int) *datamodels.HealthEvent {
	e := &datamodels.HealthEvent{
		Version:            1,
		Agent:              agent,
		ComponentClass:     "NIC",
		CheckName:          seen.layer + "StateCheck",
		NodeName:           node,
		ProcessingStrategy: datamodels.ProcessingStrategy_EXECUTE_REMEDIATION,
		Message:            fmt.Sprintf("%s/%s %s %s", key.device, key.port, seen.state, seen.phys),
		EntitiesImpacted: []*datamodels.Entity{
			{EntityType: "NIC", EntityValue: key.device},
			{EntityType: "NICPort", EntityValue: key.port},
		},
	}
	e.GeneratedTimestamp, _ = ptypes.TimestampProto(time.Now().Add(time.Duration(nth) * time.Microsecond))
	if seen.up() {
		e.IsHealthy = true
	} else {
		e.IsFatal = true
		e.RecommendedAction = datamodels.RecommendedAction_REPLACE_VM
	}
	return e
}

func main() {
	node := os.Getenv("NODE_NAME")
	conn, err := grpc.Dial("unix://"+os.Getenv("CONNECTOR_SOCKET"), grpc.WithInsecure())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	client := datamodels.NewPlatformConnectorClient(conn)
	away := uplink()
	// The last status of each port that the connector has taken: up or down.
	reported := map[portKey]bool{}
	for range time.Tick(time.Second) {
		now := look(away)
		keys := make([]portKey, 0, len(now))
		for key := range now {
			keys = append(keys, key)
		}
		sort.Slice(keys, func(i, j int) bool {
			return keys[i].device+"\x00"+keys[i].port < keys[j].device+"\x00"+keys[j].port
		})
		for _, layer := range []string{"InfiniBand", "Ethernet"} {
			var batch []*datamodels.HealthEvent
			var about []portKey
			for _, key := range keys {
				seen := now[key]
				was, known := reported[key]
				// A port that was never up may lack a cable on purpose.
				if seen.layer != layer || !seen.up() && !seen.down() || was == seen.up() && (known || !was) {
					continue
				}
				batch = append(batch, event(key, seen, node, len(batch)))
				about = append(about, key)
			}
			if len(batch) == 0 {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			_, err := client.HealthEventOccurredV1(ctx, &datamodels.HealthEvents{Version: 1, Events: batch})
			cancel()
			if err != nil {
				fmt.Fprintln(os.Stderr, "not delivered:", err)
				continue
			}
			for _, key := range about {
				reported[key] = now[key].up()
			}
		}
	}
}

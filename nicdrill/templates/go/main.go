// A NIC health monitor: reports the link state of NVIDIA's RDMA ports to the platform connector.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	unknown = iota
	healthy
	nonFatal
	fatal
)

const publish = "/datamodels.PlatformConnector/HealthEventOccurredV1"

var (
	root     = flag.String("root", "/", "root folder")
	socket   = flag.String("socket", "/var/run/nvsentinel.sock", "the connector's socket")
	node     = flag.String("node", os.Getenv("NODE_NAME"), "name of the node")
	checks   = flag.String("checks", "InfiniBandStateCheck,EthernetStateCheck", "checks to run")
	interval = flag.Float64("interval", 1, "seconds between two polls")
	watched  = map[string]bool{}    // whether a device is monitored
	said     = map[[2]string]int{}  // the worst of a port that was accepted since its last healthy event
	known    = map[[2]string]bool{} // the ports that have been healthy
)

type change struct {
	port  [2]string
	now   int
	event *HealthEvent
}

func read(path ...string) (string, error) {
	text, err := os.ReadFile(filepath.Join(path...))
	return strings.TrimSpace(string(text)), err
}

// isWatched tells a physical function of NVIDIA that does not carry the default route.
func isWatched(device string) (bool, error) {
	vendor, err := read(device, "device/vendor")
	if err != nil {
		return false, err
	}
	_, isVirtual := os.Lstat(filepath.Join(device, "device/physfn"))
	if vendor != "0x15b3" || isVirtual == nil {
		return false, nil
	}
	routes, err := read(*root, "proc/net/route")
	for _, line := range strings.Split(routes, "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[1] == "00000000" {
			if _, err := os.Stat(filepath.Join(device, "device/net", words[0])); err == nil {
				return false, nil
			}
		}
	}
	return true, err
}

func severity(layer, state, phys string) int {
	switch {
	case state == "ACTIVE" && phys == "LinkUp":
		return healthy
	case state == "DOWN" || layer == "InfiniBand" && phys == "Disabled":
		return fatal
	case layer == "InfiniBand":
		return nonFatal
	}
	return unknown // an Ethernet port in between is not reported
}

// changesOf finds what changed at a device's ports; what cannot be read is neither healthy nor faulty.
func changesOf(class, device string) (changes []change) {
	folder := filepath.Join(class, device)
	if _, known := watched[device]; !known {
		is, err := isWatched(folder)
		if err != nil {
			return nil
		}
		watched[device] = is
	}
	if !watched[device] {
		return nil
	}
	ports, _ := os.ReadDir(filepath.Join(folder, "ports"))
	for _, entry := range ports {
		port := entry.Name()
		layer, err1 := read(folder, "ports", port, "link_layer")
		state, err2 := read(folder, "ports", port, "state")     // such as `4: ACTIVE`
		phys, err3 := read(folder, "ports", port, "phys_state") // such as `5: LinkUp`
		_, state, isState := strings.Cut(state, ": ")
		_, phys, isPhys := strings.Cut(phys, ": ")
		if err1 != nil || err2 != nil || err3 != nil || !isState || !isPhys {
			continue
		}
		which := [2]string{device, port}
		now, before := severity(layer, state, phys), said[which]
		known[which] = known[which] || now == healthy
		// The first event of a port is a healthy one; after it, a worse state and the return to healthy are reported.
		if now == unknown || now == before || !known[which] || now != healthy && now < before {
			continue
		}
		action := int32(actionNone)
		if now == fatal {
			action = actionReplaceVM
		}
		changes = append(changes, change{which, now, &HealthEvent{
			Version: 1, Agent: "nic-health-monitor", ComponentClass: "NIC", CheckName: layer + "StateCheck",
			IsFatal: now == fatal, IsHealthy: now == healthy, RecommendedAction: action,
			Message:          "Port " + device + " port " + port + ": state " + state + ", phys_state " + phys,
			EntitiesImpacted: []*Entity{{"NIC", device}, {"NICPort", port}},
			NodeName:         *node, ProcessingStrategy: executeRemediation,
		}})
	}
	return changes
}

// send delivers a batch. A connector that is not available is tried again at once, three times.
func send(connector *grpc.ClientConn, batch *HealthEvents) (err error) {
	for attempt := 0; attempt < 4; attempt++ {
		limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err = connector.Invoke(limit, publish, batch, &Empty{})
		cancel()
		if status.Code(err) != codes.Unavailable {
			break
		}
		time.Sleep(time.Duration(*interval * float64(time.Second) / 10 * float64(int(1)<<attempt)))
	}
	return err
}

// poll lists the class folder once: nicdrill counts this as a poll.
func poll(connector *grpc.ClientConn) error {
	class := filepath.Join(*root, "sys/class/infiniband")
	devices, err := os.ReadDir(class)
	if err != nil {
		return err
	}
	var changes []change
	for _, device := range devices {
		changes = append(changes, changesOf(class, device.Name())...)
	}
	// Clears come first.
	sort.SliceStable(changes, func(a, b int) bool { return changes[a].now < changes[b].now })
	for _, check := range strings.Split(*checks, ",") {
		batch := &HealthEvents{Version: 1}
		for _, change := range changes {
			if change.event.CheckName == check {
				at := time.Now()
				change.event.GeneratedTimestamp = &Timestamp{at.Unix(), int32(at.Nanosecond())}
				batch.Events = append(batch.Events, change.event)
			}
		}
		if len(batch.Events) == 0 {
			continue
		}
		if err := send(connector, batch); err != nil {
			return err
		}
		for _, change := range changes { // delivered, then remembered
			if change.event.CheckName == check {
				said[change.port] = change.now
			}
		}
	}
	return nil
}

func main() {
	flag.Parse()
	connector, err := grpc.Dial("unix:"+*socket, grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	for {
		if err := poll(connector); err != nil {
			log.Print(err) // the next poll finds the same changes again
		}
		time.Sleep(time.Duration(*interval * float64(time.Second)))
	}
}

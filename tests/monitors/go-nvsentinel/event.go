package main

import (
	"datamodels"
	"strconv"
	"time"

	"github.com/golang/protobuf/ptypes"
	"github.com/golang/protobuf/ptypes/timestamp"
)

const (
	agent = "nic-health-monitor"

	// clearSkew is how far the clear of a whole check is dated back. NVSentinel, nic-health-monitor, state checks: the clear.
	clearSkew = time.Second
)

type verdict int

const (
	silent verdict = iota
	nonFatal
	fatal
	healthy
)

// reporter makes the events of one check. NVSentinel, nic-health-monitor, wire contract: what is set.
type reporter struct {
	check, node string
	strategy    datamodels.ProcessingStrategy
}

func (r reporter) event(v verdict, message string, entities ...*datamodels.Entity) *datamodels.HealthEvent {
	e := &datamodels.HealthEvent{
		Version: 1, Agent: agent, ComponentClass: "NIC", CheckName: r.check, NodeName: r.node,
		IsFatal: v == fatal, IsHealthy: v == healthy, Message: message, EntitiesImpacted: entities,
		ProcessingStrategy: r.strategy, GeneratedTimestamp: stamp(time.Now()),
	}
	if v == fatal {
		e.RecommendedAction = datamodels.RecommendedAction_REPLACE_VM
	}
	return e
}

// clear takes back all that the check has said. It has no entities, and it is older than the rest of its batch.
func (r reporter) clear(message string) *datamodels.HealthEvent { return r.event(healthy, message) }

func datedBack(events []*datamodels.HealthEvent) []*datamodels.HealthEvent {
	at := time.Now()
	for _, e := range events[1:] {
		if when, err := ptypes.Timestamp(e.GeneratedTimestamp); err == nil && when.Before(at) {
			at = when
		}
	}
	events[0].GeneratedTimestamp = stamp(at.Add(-clearSkew))
	return events
}

func stamp(at time.Time) *timestamp.Timestamp {
	out, _ := ptypes.TimestampProto(at)
	return out
}

func nic(name string) []*datamodels.Entity {
	return []*datamodels.Entity{{EntityType: "NIC", EntityValue: name}}
}

func nicPort(device string, number int) []*datamodels.Entity {
	return append(nic(device), &datamodels.Entity{EntityType: "NICPort", EntityValue: strconv.Itoa(number)})
}

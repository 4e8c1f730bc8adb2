package main

import "fmt"

// The messages of health_event.proto that a monitor sends, with its field numbers.

type HealthEvents struct {
	Version uint32         `protobuf:"varint,1,opt,name=version,proto3"`
	Events  []*HealthEvent `protobuf:"bytes,2,rep,name=events,proto3"`
}

type HealthEvent struct {
	Version            uint32     `protobuf:"varint,1,opt,name=version,proto3"`
	Agent              string     `protobuf:"bytes,2,opt,name=agent,proto3"`
	ComponentClass     string     `protobuf:"bytes,3,opt,name=componentClass,proto3"`
	CheckName          string     `protobuf:"bytes,4,opt,name=checkName,proto3"`
	IsFatal            bool       `protobuf:"varint,5,opt,name=isFatal,proto3"`
	IsHealthy          bool       `protobuf:"varint,6,opt,name=isHealthy,proto3"`
	Message            string     `protobuf:"bytes,7,opt,name=message,proto3"`
	RecommendedAction  int32      `protobuf:"varint,8,opt,name=recommendedAction,proto3"`
	EntitiesImpacted   []*Entity  `protobuf:"bytes,10,rep,name=entitiesImpacted,proto3"`
	GeneratedTimestamp *Timestamp `protobuf:"bytes,12,opt,name=generatedTimestamp,proto3"`
	NodeName           string     `protobuf:"bytes,13,opt,name=nodeName,proto3"`
	ProcessingStrategy int32      `protobuf:"varint,16,opt,name=processingStrategy,proto3"`
}

type Entity struct {
	EntityType  string `protobuf:"bytes,1,opt,name=entityType,proto3"`
	EntityValue string `protobuf:"bytes,2,opt,name=entityValue,proto3"`
}

type Timestamp struct {
	Seconds int64 `protobuf:"varint,1,opt,name=seconds,proto3"`
	Nanos   int32 `protobuf:"varint,2,opt,name=nanos,proto3"`
}

type Empty struct{}

const (
	actionNone         = 0
	actionReplaceVM    = 25
	executeRemediation = 1
)

func (m *HealthEvents) Reset()         { *m = HealthEvents{} }
func (m *HealthEvents) String() string { return fmt.Sprint(*m) }
func (*HealthEvents) ProtoMessage()    {}
func (m *HealthEvent) Reset()          { *m = HealthEvent{} }
func (m *HealthEvent) String() string  { return fmt.Sprint(*m) }
func (*HealthEvent) ProtoMessage()     {}
func (m *Entity) Reset()               { *m = Entity{} }
func (m *Entity) String() string       { return fmt.Sprint(*m) }
func (*Entity) ProtoMessage()          {}
func (m *Timestamp) Reset()            { *m = Timestamp{} }
func (m *Timestamp) String() string    { return fmt.Sprint(*m) }
func (*Timestamp) ProtoMessage()       {}
func (m *Empty) Reset()                { *m = Empty{} }
func (m *Empty) String() string        { return "" }
func (*Empty) ProtoMessage()           {}

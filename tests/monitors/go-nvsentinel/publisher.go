package main

import (
	"context"
	"datamodels"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
)

const (
	attempts   = 5
	firstPause = 2 * time.Second
	growth     = 1.5
	jitter     = 0.1

	dials       = 10
	dialTimeout = 5 * time.Second
)

var errUnavailable = errors.New("platform-connector unix socket missing; send skipped")

// publisher sends the events of one check and poll in one call. NVSentinel, health monitors, wire contract: publisher.
type publisher struct {
	target  string
	client  datamodels.PlatformConnectorClient
	metrics *metrics
}

// socketMissing says whether the target's socket is not there; any other trouble with it is left to gRPC.
func socketMissing(target string) error {
	if !strings.HasPrefix(target, "unix:") {
		return nil
	}
	_, err := os.Stat("/" + strings.TrimLeft(strings.TrimPrefix(target, "unix:"), "/"))
	if errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// dial waits for the connector: ten attempts, and longer and longer pauses.
func dial(ctx context.Context, target string) (*grpc.ClientConn, error) {
	var err error
	for attempt := 1; attempt <= dials; attempt++ {
		var connection *grpc.ClientConn
		if connection, err = dialOnce(ctx, target); err == nil {
			return connection, nil
		}
		log.warn("Failed to connect to the platform connector", "attempt", attempt, "error", err)
		if attempt < dials && !pause(ctx, time.Duration(attempt)*time.Second) || ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, fmt.Errorf("failed to connect after %d retries: %w", dials, err)
}

func dialOnce(ctx context.Context, target string) (*grpc.ClientConn, error) {
	if err := socketMissing(target); err != nil {
		return nil, fmt.Errorf("socket file not found: %w", err)
	}
	connection, err := grpc.Dial(target, grpc.WithInsecure())
	if err != nil {
		return nil, err
	}
	limited, stop := context.WithTimeout(ctx, dialTimeout)
	defer stop()
	for state := connection.GetState(); state != connectivity.Ready; state = connection.GetState() {
		if !connection.WaitForStateChange(limited, state) {
			connection.Close()
			return nil, fmt.Errorf("client not ready: %w", limited.Err())
		}
	}
	return connection, nil
}

// publish returns nil when the connector has accepted the events.
func (p *publisher) publish(ctx context.Context, events []*datamodels.HealthEvent) error {
	wait := firstPause
	for attempt := 1; ; attempt++ {
		if socketMissing(p.target) != nil {
			p.metrics.add("nvsentinel_health_events_publisher_skipped_pc_unavailable_total", 1, "monitor", agent)
			return errUnavailable
		}
		_, err := p.client.HealthEventOccurredV1(ctx, &datamodels.HealthEvents{Version: 1, Events: events})
		if err == nil {
			p.metrics.add("nvsentinel_health_events_publisher_sends_success_total", 1, "monitor", agent)
			p.count(events)
			return nil
		}
		again := retryable(err)
		if !again || attempt == attempts || !pause(ctx, wait+time.Duration(rand.Float64()*jitter*float64(wait))) {
			p.metrics.add("nvsentinel_health_events_publisher_sends_error_total", 1, "monitor", agent, "code", status.Code(err).String())
			if !again {
				return fmt.Errorf("non-retryable error sending health events: %w", err)
			}
			return fmt.Errorf("failed to send health events after %d attempts: %w", attempt, err)
		}
		wait = time.Duration(float64(wait) * growth)
	}
}

func (p *publisher) count(events []*datamodels.HealthEvent) {
	for _, e := range events {
		p.metrics.add("nic_health_monitor_health_events_sent_total", 1,
			"node", e.NodeName, "check", e.CheckName, "is_fatal", strconv.FormatBool(e.IsFatal))
		log.info("Health event sent", "check", e.CheckName, "fatal", e.IsFatal, "healthy", e.IsHealthy, "message", e.Message)
	}
}

func retryable(err error) bool {
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded || errors.Is(err, io.EOF) ||
		strings.Contains(err.Error(), "connection reset") || strings.Contains(err.Error(), "broken pipe")
}

// pause returns false if the context ended first.
func pause(ctx context.Context, long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

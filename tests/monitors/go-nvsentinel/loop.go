package main

import (
	"context"
	"datamodels"
	"time"
)

// check looks once in each poll of its loop.
type check interface {
	name() string
	prepare() (outcome, error)
}

// outcome is what a poll has to say, and what is to be remembered once it is said. Without commit nothing is remembered.
type outcome struct {
	events []*datamodels.HealthEvent
	commit func()
}

// loop polls with its checks, one after another, each with a call of its own. The first poll is one interval after the start.
type loop struct {
	category string
	interval time.Duration
	checks   []check

	node      string
	publisher *publisher
	metrics   *metrics
}

func (l *loop) run(ctx context.Context) {
	ticker := time.NewTicker(l.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// Both may be ready, and then the end comes first.
		if ctx.Err() != nil {
			return
		}
		began := time.Now()
		for _, c := range l.checks {
			l.poll(ctx, c)
		}
		l.metrics.observe("nic_health_monitor_poll_cycle_duration_seconds", time.Since(began).Seconds(), "node", l.node, "category", l.category)
		if l.category == "state" {
			l.metrics.alive()
		}
	}
}

// poll commits what a check found only after its events were accepted. NVSentinel, health monitors: prepare, publish, commit.
func (l *loop) poll(ctx context.Context, c check) {
	found, err := c.prepare()
	if err != nil {
		log.error("Check failed", "check", c.name(), "error", err)
		return
	}
	if len(found.events) > 0 {
		if err := l.publisher.publish(ctx, found.events); err != nil {
			log.error("Failed to publish health events", "check", c.name(), "error", err)
			if !makes(lostAfterRefusedPublish) {
				return
			}
		}
	}
	if found.commit != nil {
		found.commit()
	}
}

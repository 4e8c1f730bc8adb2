package main

import (
	"fmt"
	"sort"
)

// standing is how a card compares with its peers: the cards of the same role and layer.
type standing struct {
	role            string
	active, mode    int
	anomalous, fair bool // fair: its group is decisive
}

// compare finds the standing of each card. NVSentinel, nic-health-monitor, gpu_metadata.json: card homogeneity.
func (t *turn) compare() {
	t.standings = map[string]standing{}
	if t.inventory.config.pinning() || len(t.found.unreadable) > 0 || t.held {
		return
	}
	for _, d := range t.present {
		card := t.inventory.card(d.name)
		if t.exempt[card] {
			continue
		}
		s := t.standings[card]
		s.role = t.inventory.role(d.name)
		for _, p := range d.portsOf(t.layer) {
			if p.healthy() {
				s.active++
			}
		}
		t.standings[card] = s
	}
	cards := map[string][]string{}
	for card, s := range t.standings {
		cards[s.role] = append(cards[s.role], card)
	}
	for _, group := range cards {
		mode, decisive := t.mode(group)
		if !decisive {
			continue
		}
		for _, card := range group {
			s := t.standings[card]
			s.mode, s.fair, s.anomalous = mode, true, s.active < mode
			t.standings[card] = s
		}
	}
}

// mode is the most frequent number of active ports; a lonely card, a tie, and a mode of none prove nothing.
func (t *turn) mode(group []string) (mode int, decisive bool) {
	counts := map[int]int{}
	for _, card := range group {
		counts[t.standings[card].active]++
	}
	most, tied := 0, false
	for active, count := range counts {
		switch {
		case count > most:
			mode, most, tied = active, count, false
		case count == most:
			tied = true
			if makes(tieUpward) && active > mode {
				mode = active
			}
		}
	}
	return mode, len(group) > 1 && mode > 0 && (!tied || makes(tieUpward))
}

// judgeCards reports cards below their peers once, and their recovery.
func (t *turn) judgeCards() {
	for _, card := range sortedNames(t.next.cards) {
		if t.exempt[card] {
			delete(t.next.cards, card)
			t.say(card, healthy, fmt.Sprintf("Card %s exempt from peer comparison (management NIC sibling); clearing anomaly", card))
		}
	}
	var fair []string
	for card, s := range t.standings {
		if s.fair {
			fair = append(fair, card)
		}
	}
	sort.Strings(fair)
	for _, card := range fair {
		if s := t.standings[card]; s.anomalous && !t.next.cards[card] {
			t.next.cards[card] = true
			t.say(card, fatal, fmt.Sprintf("Card %s (%s) has %d active ports, expected %d (peer mode)", card, s.role, s.active, s.mode))
		}
	}
	for _, card := range fair {
		s := t.standings[card]
		stood := t.next.cards[card]
		if s.anomalous || !stood && !t.baseline {
			continue
		}
		delete(t.next.cards, card)
		if !stood || !makes(cardWithoutRecovery) {
			t.say(card, healthy, fmt.Sprintf("Card %s (%s) healthy: %d active ports meet peer mode %d", card, s.role, s.active, s.mode))
		}
	}
}

func (t *turn) say(card string, v verdict, message string) {
	t.cardEvents = append(t.cardEvents, t.event(v, message, nic(card)...))
}

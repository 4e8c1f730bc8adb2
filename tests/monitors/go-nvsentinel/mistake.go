package main

import (
	"fmt"
	"sort"
	"strings"
)

// The mistakes that can be planted with --mistake, one at a time. README.md says after which bug each is modelled.
const (
	lostAfterRefusedPublish = "lost-after-refused-publish"
	forgetsOverRestart      = "forgets-faults-over-restart"
	fatalForUnreadable      = "fatal-for-an-unreadable-file"
	breachClearedByLink     = "latched-breach-cleared-by-the-wrong-event"
	escalationSwallowed     = "escalation-swallowed"
	debounceShort           = "device-debounce-one-poll-short"
	neverClearsDevice       = "never-clears-a-vanished-device"
	cardWithoutRecovery     = "card-without-recovery"
	tieUpward               = "tie-resolved-upward"
	repeatsEveryPoll        = "repeats-every-poll"
	monitorsManagement      = "monitors-management-nics"
	clearsWrongPort         = "clears-the-wrong-port"
)

var mistakes = []string{
	lostAfterRefusedPublish, forgetsOverRestart, fatalForUnreadable, breachClearedByLink, escalationSwallowed, debounceShort,
	neverClearsDevice, cardWithoutRecovery, tieUpward, repeatsEveryPoll, monitorsManagement, clearsWrongPort,
}

// mistake is the one that was chosen; empty for none.
var mistake mistakeFlag

type mistakeFlag string

func (m *mistakeFlag) String() string { return string(*m) }

func (m *mistakeFlag) Set(name string) error {
	for _, known := range append(mistakes, "") {
		if name == known {
			*m = mistakeFlag(name)
			return nil
		}
	}
	names := append([]string(nil), mistakes...)
	sort.Strings(names)
	return fmt.Errorf("no such mistake; there are: %s", strings.Join(names, ", "))
}

func makes(name string) bool { return string(mistake) == name }

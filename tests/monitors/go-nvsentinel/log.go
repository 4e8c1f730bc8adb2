package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// logger writes one JSON object a line to stderr. NVSentinel, nic-health-monitor, environment: LOG_LEVEL.
type logger struct {
	sync.Mutex
	least int
	once  map[string]bool
}

var levels = map[string]int{"debug": 0, "info": 1, "warn": 2, "error": 3}

var log = newLogger(os.Getenv("LOG_LEVEL"))

func newLogger(level string) *logger {
	least, known := levels[level]
	if !known {
		least = levels["info"]
	}
	return &logger{least: least, once: map[string]bool{}}
}

func (l *logger) debug(text string, pairs ...interface{}) { l.write(0, "DEBUG", text, pairs) }
func (l *logger) info(text string, pairs ...interface{})  { l.write(1, "INFO", text, pairs) }
func (l *logger) warn(text string, pairs ...interface{})  { l.write(2, "WARN", text, pairs) }
func (l *logger) error(text string, pairs ...interface{}) { l.write(3, "ERROR", text, pairs) }

// warnOnce warns the first time that it is called with a key.
func (l *logger) warnOnce(key, text string, pairs ...interface{}) {
	l.Lock()
	said := l.once[key]
	l.once[key] = true
	l.Unlock()
	if !said {
		l.warn(text, pairs...)
	}
}

// again lets the next warning with the key be written.
func (l *logger) again(key string) {
	l.Lock()
	defer l.Unlock()
	delete(l.once, key)
}

func (l *logger) write(level int, name, text string, pairs []interface{}) {
	if level < l.least {
		return
	}
	record := map[string]interface{}{"time": time.Now().Format(time.RFC3339Nano), "level": name, "msg": text, "module": agent}
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		if err, is := value.(error); is {
			value = err.Error()
		}
		record[fmt.Sprint(pairs[i])] = value
	}
	line, err := json.Marshal(record)
	if err != nil {
		line = []byte(fmt.Sprintf("{%q:%q}", "msg", text))
	}
	l.Lock()
	defer l.Unlock()
	os.Stderr.Write(append(line, '\n'))
}

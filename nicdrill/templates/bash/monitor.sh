#!/usr/bin/env bash
# Logs the state of every port, in every round.
trap exit TERM
while :; do
  for port in "$ROOT"/sys/class/infiniband/*/ports/*; do
    device=${port%/ports/*}
    read -r state <"$port/state" && echo "${device##*/}/${port##*/} ${state#*: }"
  done
  sleep "$INTERVAL"
done

#!/usr/bin/env bash
# A custom plugin of node-problem-detector: exit code 0 is OK, 1 is NonOK, anything else is Unknown. The message is the
# first line of stdout, of which node-problem-detector keeps 80 characters.
shopt -s nullglob
bad=()
ports=0
for port in /sys/class/infiniband/*/ports/*; do
  device=${port%/ports/*}
  read -r layer <"$port/link_layer" && [ "$layer" = InfiniBand ] || continue
  ports=$((ports + 1))
  read -r state <"$port/state" || exit 2
  [ "${state#*: }" = ACTIVE ] || bad+=("${device##*/}/${port##*/}")
done 2>/dev/null
if [ ${#bad[@]} -gt 0 ]; then
  echo "ports not ACTIVE: ${bad[*]}"
  exit 1
elif [ $ports = 0 ]; then
  echo "no InfiniBand port"
  exit 2
fi
echo "all $ports ports are ACTIVE"

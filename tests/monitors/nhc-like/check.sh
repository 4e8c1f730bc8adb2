#!/usr/bin/env bash
# A node health check in the manner of LBNL Node Health Check: a list of checks, of which the first that fails ends the
# run. Usage: check.sh [-a] CHECK... ; a check is one argument, such as 'check_hw_ib 400 mlx5_0'. With -a all
# checks run.
# With SLURM=1 it drains the node where NHC does, and resumes what it drained itself: what it drained is known by its mark.
set -u
shopt -s nullglob
MARK=NHC:
all=0 failed=()

# Of the ports of all devices, or of one, at least one is up at exactly this rate in Gb/sec.
check_hw_ib() {
  local want=$1 device=${2:-*} port state phys rate found=0
  if [ ! -r /sys/class/infiniband_mad/abi_version ]; then
    die "check_hw_ib:  No userspace MAD support"
    return
  fi
  for port in /sys/class/infiniband/$device/ports/*; do
    found=1
    read -r state <"$port/state" && read -r phys <"$port/phys_state" && read -r rate <"$port/rate" || continue
    if [ "${state#*: }" = ACTIVE ] && [ "${phys#*: }" = LinkUp ] && [ "${rate%% *}" = "$want" ]; then
      return 0
    fi
  done 2>/dev/null
  if [ "$device" = '*' ]; then
    die "check_hw_ib:  No IB port is ACTIVE (LinkUp $want Gb/sec)."
  elif [ $found = 0 ]; then
    die "check_hw_ib:  No IB device $device."
  else
    die "check_hw_ib:  No IB port of $device is ACTIVE (LinkUp $want Gb/sec)."
  fi
}

# An interface of this name exists.
check_hw_eth() {
  local line
  while read -r line; do
    case $line in "$1":*) return 0 ;; esac
  done </proc/net/dev
  die "check_hw_eth:  Ethernet device $1 not detected."
}

die() {
  echo "ERROR:  nhc:  Health check failed:  $1" >&2
  failed+=("$1")
}

# What NHC's helpers do under Slurm: a node that is out of service for another reason is left alone.
mark() {
  local state reason
  read -r state reason < <(sinfo -o '%t %E' -hn "$HOSTNAME")
  case $state:$reason in
    drain:"$MARK"*) [ "$1" = online ] && scontrol update State=RESUME NodeName="$HOSTNAME" ;;
    drain:* | down:*) ;;
    *) [ "$1" = online ] || scontrol update State=DRAIN NodeName="$HOSTNAME" Reason="$MARK $2" ;;
  esac
}

while getopts a option; do
  case $option in
    a) all=1 ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
for check; do
  $check
  [ $all = 1 ] || [ ${#failed[@]} = 0 ] || break
done
if [ ${#failed[@]} = 0 ]; then
  [ -z "${SLURM-}" ] || mark online
  exit 0
fi
[ -z "${SLURM-}" ] || mark offline "${failed[0]}"
exit 1

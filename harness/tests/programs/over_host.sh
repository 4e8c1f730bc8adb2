# Runs a program that finds the tree at /sys, and the tree's character devices in /dev/infiniband.
# Arguments: the folder of the tree, an empty folder, the program with its arguments.
set -eu
root=$1 scratch=$2
shift 2
mount --rbind "$root/sys" /sys
mount -t tmpfs tmpfs "$scratch"
mkdir "$scratch/infiniband"
for class in infiniband_verbs infiniband_mad; do
  for device in /sys/class/$class/*/; do
    device=${device%/}
    [ ! -d "$device" ] || : >"$scratch/infiniband/${device##*/}"
  done
done
: >"$scratch/null"
mount --bind /dev/null "$scratch/null"
mount --rbind "$scratch" /dev
exec "$@"

#!/usr/bin/python3
"""A NIC monitor that becomes a daemon: it forks twice, leaves its session, and polls on under another parent.

Usage: monitor.py ROOT SOCKET NODE. Messages are written by hand in protobuf's wire format, so that only grpcio is needed.
"""

import os
import sys
import time

ROOT, SOCKET, NODE = sys.argv[1:4]
CLASS = f"{ROOT}/sys/class/infiniband"
METHOD = "/datamodels.PlatformConnector/HealthEventOccurredV1"


def daemonise():
    """Forks twice, so that no session and no parent is left (daemon(7), SysV daemons)."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """One field: a varint for a number, length-delimited for anything else."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def event(layer, device, port, up, message):
    now = time.time_ns()
    out = field(1, 1) + field(2, "nic-health-monitor") + field(3, "NIC") + field(4, f"{layer}StateCheck")
    out += field(6, 1) if up else field(5, 1)
    out += field(7, message) + field(8, 0 if up else 25)
    out += field(10, field(1, "NIC") + field(2, device)) + field(10, field(1, "NICPort") + field(2, port))
    out += field(12, field(1, now // 10**9) + field(2, now % 10**9)) + field(13, NODE) + field(16, 1)
    return out


def read(*path):
    with open(os.path.join(CLASS, *path), encoding="ascii") as file:
        return file.read().strip()


def gateway():
    with open(f"{ROOT}/proc/net/route", encoding="ascii") as table:
        rows = [line.split() for line in table]
    return next((row[0] for row in rows if row[1:2] == ["00000000"]), None)


def is_watched(device, away):
    if os.path.lexists(f"{CLASS}/{device}/device/physfn") or read(device, "device/vendor") != "0x15b3":
        return False
    folder = f"{CLASS}/{device}/device/net"
    netdevs = os.listdir(folder) if os.path.isdir(folder) else []
    return read(device, "device/numa_node") != "-1" and away not in netdevs


def poll(away, known):
    """The changes of ports since they were last delivered: (layer, device, port) and whether it is up."""
    for device in sorted(os.listdir(CLASS)):
        try:
            if not is_watched(device, away):
                continue
            for port in sorted(os.listdir(f"{CLASS}/{device}/ports")):
                state, phys, layer = (read(device, "ports", port, it) for it in ("state", "phys_state", "link_layer"))
                up = (state, phys) == ("4: ACTIVE", "5: LinkUp")
                # A port that was never up may lack a cable on purpose.
                if known.get((layer, device, port), False) != up and (up or state == "1: DOWN"):
                    yield (layer, device, port), up, f"{device} port {port}: {state}, {phys}"
        except OSError:
            continue  # what cannot be read tells nothing


def main():
    daemonise()
    import grpc  # its threads do not survive a fork

    send = grpc.insecure_channel(f"unix://{SOCKET}").unary_unary(METHOD)
    away, known = gateway(), {}
    while True:
        changes = list(poll(away, known))
        for layer in ("InfiniBand", "Ethernet"):
            mine = [change for change in changes if change[0][0] == layer]
            if not mine:
                continue
            events = b"".join(field(2, event(*port, up, message)) for port, up, message in mine)
            try:
                send(field(1, 1) + events, timeout=10)
                known.update((port, up) for port, up, _ in mine)
            except grpc.RpcError as error:
                print(error.code(), error.details(), file=sys.stderr, flush=True)
        time.sleep(0.001)


main()

#!/usr/bin/env python3
"""A NIC health monitor: reports the link state of NVIDIA's RDMA ports to the platform connector."""
import argparse, functools, os, pathlib, signal, sys, time

import grpc
import health_event_pb2 as pb
from google.protobuf.empty_pb2 import Empty

flags = argparse.ArgumentParser()
for name, default in {"root": "/", "socket": "/var/run/nvsentinel.sock", "node": os.environ.get("NODE_NAME", ""),
                      "checks": "InfiniBandStateCheck,EthernetStateCheck", "interval": "1.0"}.items():
    flags.add_argument("--" + name, default=default)
flags = flags.parse_args()
CLASS = pathlib.Path(flags.root, "sys/class/infiniband")
HEALTHY, NONFATAL, FATAL = range(3)
said = {}  # (device, port): the severity that was accepted last
known = set()  # (device, port) of the ports that have been healthy


def read(path):
    return path.read_text().strip()


@functools.cache
def is_watched(device):
    """A physical function of NVIDIA that does not carry the default route."""
    routes = (line.split()[:2] for line in read(pathlib.Path(flags.root, "proc/net/route")).splitlines())
    carries = any(to == "00000000" and (device / "device/net" / name).exists() for name, to in routes)
    return read(device / "device/vendor") == "0x15b3" and not (device / "device/physfn").exists() and not carries


def ports():
    """Yields (device, port, link layer, state, phys_state). The listing of CLASS is what nicdrill counts as a poll."""
    for device in sorted(CLASS.iterdir()):
        try:
            for port in sorted((device / "ports").iterdir()) if is_watched(device) else []:
                layer, state, phys = (read(port / name) for name in ("link_layer", "state", "phys_state"))
                yield device.name, port.name, layer, state.split(": ")[1], phys.split(": ")[1]  # "4: ACTIVE", "5: LinkUp"
        except (OSError, ValueError, IndexError):
            pass  # what cannot be read is neither healthy nor faulty


def severity(layer, state, phys):
    if (state, phys) == ("ACTIVE", "LinkUp"):
        return HEALTHY
    if state == "DOWN" or (layer == "InfiniBand" and phys == "Disabled"):
        return FATAL
    return NONFATAL if layer == "InfiniBand" else None  # an Ethernet port in between is not reported


def publish(batch):
    """Sends a batch. A connector that is not available is tried again at once, three times."""
    for attempt in range(4):
        try:
            return call(batch, timeout=10)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE or attempt == 3:
                raise
        time.sleep(float(flags.interval) / 10 * 2**attempt)


def poll():
    found = []  # the changes, as (severity, port, event)
    for device, port, layer, state, phys in ports():
        now, before = severity(layer, state, phys), said.get((device, port))
        if now == HEALTHY:
            known.add((device, port))
        # The first event of a port is a healthy one; after it, a worse state and the return to healthy are reported.
        if now in (before, None) or (device, port) not in known or (now != HEALTHY and now < (before or HEALTHY)):
            continue
        found.append((now, (device, port), pb.HealthEvent(
            version=1, agent="nic-health-monitor", componentClass="NIC", checkName=layer + "StateCheck",
            nodeName=flags.node, isFatal=now == FATAL, isHealthy=now == HEALTHY,
            message=f"Port {device} port {port}: state {state}, phys_state {phys}",
            recommendedAction=pb.REPLACE_VM if now == FATAL else pb.NONE, processingStrategy=pb.EXECUTE_REMEDIATION,
            entitiesImpacted=[pb.Entity(entityType="NIC", entityValue=device), pb.Entity(entityType="NICPort", entityValue=port)])))
    found.sort(key=lambda change: change[0])  # clears come first
    for check in flags.checks.split(","):
        changes = [change for change in found if change[2].checkName == check]
        for _, _, event in changes:
            event.generatedTimestamp.FromNanoseconds(time.time_ns())
        if changes:
            publish(pb.HealthEvents(version=1, events=[event for _, _, event in changes]))
            said.update((port, now) for now, port, _ in changes)  # delivered, then remembered


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
call = grpc.insecure_channel("unix:" + flags.socket).unary_unary(
    "/datamodels.PlatformConnector/HealthEventOccurredV1",
    request_serializer=pb.HealthEvents.SerializeToString, response_deserializer=Empty.FromString)
while True:
    try:
        poll()
    except (OSError, grpc.RpcError) as error:
        print(repr(error), file=sys.stderr)  # the next poll finds the same changes again
    time.sleep(float(flags.interval))

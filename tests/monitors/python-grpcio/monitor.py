"""A NIC health monitor in Python, with a stock grpcio channel and without options.

Usage: monitor.py ROOT SOCKET NODE. It polls for ever: it reads the ports below ROOT, and reports each change over
the unix socket SOCKET, one call per check. An event that was not accepted is sent again in the next poll.
"""

import os
import sys
import time

import grpc
from google.protobuf import empty_pb2
from health_event_pb2 import HealthEvents

HEALTHY, NONFATAL, FATAL = range(3)
METHOD = "/datamodels.PlatformConnector/HealthEventOccurredV1"
CHECK = {"InfiniBand": "InfiniBandStateCheck", "Ethernet": "EthernetStateCheck"}

ROOT, SOCKET, NODE = sys.argv[1:]
CLASS = os.path.join(ROOT, "sys/class/infiniband")


def read(*path):
    with open(os.path.join(CLASS, *path)) as file:
        return file.read().strip()


def names(*path):
    try:
        return sorted(os.listdir(os.path.join(CLASS, *path)))
    except OSError:
        return []


def is_monitored(device):
    """An NVIDIA function that is neither virtual nor the node's own way out."""
    if read(device, "device/vendor") != "0x15b3" or read(device, "device/numa_node") == "-1":
        return False
    with open(os.path.join(ROOT, "proc/net/route")) as routes:
        way_out = [line.split()[0] for line in routes if line.split()[1] == "00000000"]
    virtual = os.path.exists(os.path.join(CLASS, device, "device/physfn"))
    return not virtual and not set(way_out) & set(names(device, "device/net"))


def judge(layer, state, phys):
    """How bad a port is; None if it is unhealthy in a way that is not reported."""
    if (state, phys) == ("ACTIVE", "LinkUp"):
        return HEALTHY
    if layer == "Ethernet":
        return FATAL if state == "DOWN" else None
    return FATAL if state == "DOWN" or phys == "Disabled" else NONFATAL


class Monitor:
    def __init__(self):
        self.layers = {}  # device -> link layer, of all monitored devices
        self.ignored = set()
        self.reported = {}  # (device, port or None) -> what was last reported
        self.gone = set()

    def poll(self):
        """The events of one poll, as (layer, device, port, severity, message)."""
        listed = names()
        for device in sorted(set(self.layers) - set(listed) - self.gone):
            self.gone.add(device)
            yield self.layers[device], device, None, FATAL, f"{device} has disappeared"
        for device in listed:
            if device not in self.ignored | set(self.layers) and not is_monitored(device):
                self.ignored.add(device)
            if device not in self.ignored:
                try:
                    yield from self.device(device)
                except OSError as error:  # what cannot be read tells nothing
                    print(error, file=sys.stderr, flush=True)

    def device(self, device):
        ports = {}
        for port in names(device, "ports"):
            layer = self.layers[device] = read(device, "ports", port, "link_layer")
            state, phys = (read(device, "ports", port, file).split(": ")[1] for file in ("state", "phys_state"))
            ports[port] = judge(layer, state, phys), f"{device} port {port} is {state}, {phys}"
        if device in self.gone:
            if not ports or any(severity != HEALTHY for severity, _ in ports.values()):
                return
            self.gone.remove(device)
            self.reported = {key: value for key, value in self.reported.items() if key[0] != device}
            yield self.layers[device], device, None, HEALTHY, f"{device} is back"
        for port, (severity, message) in ports.items():
            before = self.reported.get((device, port))
            worse = before is not None and severity is not None and severity > before
            if worse or severity == HEALTHY != before:
                self.reported[device, port] = severity
                yield self.layers[device], device, port, severity, message


def fill(batch, number, layer, device, port, severity, message):
    event = batch.events.add(
        version=1,
        agent="nic-health-monitor",
        componentClass="NIC",
        checkName=CHECK[layer],
        isFatal=severity == FATAL,
        isHealthy=severity == HEALTHY,
        message=message,
        recommendedAction="REPLACE_VM" if severity == FATAL else "NONE",
        nodeName=NODE,
        processingStrategy="EXECUTE_REMEDIATION",
    )
    event.entitiesImpacted.add(entityType="NIC", entityValue=device)
    if port:
        event.entitiesImpacted.add(entityType="NICPort", entityValue=port)
    event.generatedTimestamp.FromNanoseconds(time.time_ns() + number)


def main():
    channel = grpc.insecure_channel(f"unix://{SOCKET}")
    send = channel.unary_unary(METHOD, HealthEvents.SerializeToString, empty_pb2.Empty.FromString)
    monitor, pending = Monitor(), []
    while True:
        pending += monitor.poll()
        for layer in CHECK:
            batch = HealthEvents(version=1)
            for number, event in enumerate(event for event in pending if event[0] == layer):
                fill(batch, number, *event)
            try:
                if batch.events:
                    send(batch, timeout=10)
                pending = [event for event in pending if event[0] != layer]
            except grpc.RpcError as error:
                print(error.code(), error.details(), file=sys.stderr, flush=True)
        time.sleep(0.001)


main()

#!/usr/bin/env python3
"""A NIC health monitor: reports the link state of NVIDIA's RDMA ports to the platform connector."""
import argparse, os, sys, time

try:
    import grpc
    import health_event_pb2 as pb
    from google.protobuf.empty_pb2 import Empty
except ImportError as missing:
    sys.exit(f"{missing}: nicdrill.md beside this file says how to install it")

flags = argparse.ArgumentParser()
flags.add_argument("--root", default="/")
flags.add_argument("--socket", default="/var/run/nvsentinel.sock")
flags.add_argument("--node", default=os.environ.get("NODE_NAME", ""))
flags.add_argument("--checks", default="InfiniBandStateCheck,EthernetStateCheck")
flags.add_argument("--interval", type=float, default=1.0, help="seconds between two polls")
flags = flags.parse_args()
CLASS = os.path.join(flags.root, "sys/class/infiniband")
HEALTHY, NONFATAL, FATAL = range(3)
watched = {}  # device: whether it is monitored
said = {}  # (device, port): the worst that was accepted since its last healthy event


def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read().strip()


def is_watched(device):
    """A physical function of NVIDIA that does not carry the default route."""
    folder = os.path.join(CLASS, device, "device")
    if read(folder, "vendor") != "0x15b3" or os.path.exists(os.path.join(folder, "physfn")):
        return False
    net = os.path.join(folder, "net")
    names = os.listdir(net) if os.path.isdir(net) else []
    routes = (line.split()[:2] for line in read(flags.root, "proc/net/route").splitlines())
    return not any(name in names and to == "00000000" for name, to in routes)


def ports():
    """Yields (device, port, link layer, state, phys_state). The listing of CLASS is what nicdrill counts as a poll."""
    for device in sorted(os.listdir(CLASS)):
        try:
            if device not in watched:
                watched[device] = is_watched(device)
            folder = os.path.join(CLASS, device, "ports")
            for port in sorted(os.listdir(folder)) if watched[device] else []:
                layer, state, phys = (read(folder, port, name) for name in ("link_layer", "state", "phys_state"))
                yield device, port, layer, state.split(": ")[1], phys.split(": ")[1]  # "4: ACTIVE", "5: LinkUp"
        except (OSError, IndexError):
            pass  # what cannot be read is neither healthy nor faulty


def severity(layer, state, phys):
    if (state, phys) == ("ACTIVE", "LinkUp"):
        return HEALTHY
    if state == "DOWN" or (layer == "InfiniBand" and phys == "Disabled"):
        return FATAL
    return NONFATAL if layer == "InfiniBand" else None  # an Ethernet port in between is not reported


def poll(publish):
    found = {}  # check: its changes, as ((device, port), severity, event)
    for device, port, layer, state, phys in ports():
        now, before = severity(layer, state, phys), said.get((device, port))
        # The first event of a port is a healthy one; after it, a worse state and the return to healthy are reported.
        if now == before or now is None or (now != HEALTHY and (before is None or now < before)):
            continue
        check = layer + "StateCheck"
        event = pb.HealthEvent(
            version=1, agent="nic-health-monitor", componentClass="NIC", checkName=check, nodeName=flags.node,
            isFatal=now == FATAL, isHealthy=now == HEALTHY,
            message=f"Port {device} port {port}: state {state}, phys_state {phys}",
            recommendedAction=pb.REPLACE_VM if now == FATAL else pb.NONE, processingStrategy=pb.EXECUTE_REMEDIATION,
            entitiesImpacted=[pb.Entity(entityType="NIC", entityValue=device), pb.Entity(entityType="NICPort", entityValue=port)])
        event.generatedTimestamp.FromNanoseconds(time.time_ns())
        found.setdefault(check, []).append(((device, port), now, event))
    for check in flags.checks.split(","):
        changes = sorted(found.get(check, []), key=lambda change: change[1])  # clears come first
        if changes:
            publish(pb.HealthEvents(version=1, events=[event for _, _, event in changes]), timeout=10)
            said.update((which, now) for which, now, _ in changes)  # delivered, then remembered


def main():
    channel = grpc.insecure_channel("unix:" + flags.socket)
    publish = channel.unary_unary(
        "/datamodels.PlatformConnector/HealthEventOccurredV1",
        request_serializer=pb.HealthEvents.SerializeToString, response_deserializer=Empty.FromString)
    while True:
        try:
            poll(publish)
        except OSError as error:
            print(error, file=sys.stderr)
        except grpc.RpcError as error:
            print(error.code(), error.details(), file=sys.stderr)  # the next poll finds the same changes again
        time.sleep(flags.interval)


main()

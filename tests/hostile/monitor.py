#!/usr/bin/env python3
"""A monitor that is hostile in one way, named by its first argument; the others are its root and its socket.

It polls like a small monitor: it lists the devices, reads the state of each port, and writes `DEVICE/PORT STATE`.
In its second poll it turns hostile. What it does is bounded, in case nobody stops it.
"""

import ctypes
import mmap
import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

WAY, ROOT, SOCKET = sys.argv[1:4]
CLASS = f"{ROOT}/sys/class/infiniband"
LONG_S = 300


def poll():
    for device in sorted(os.listdir(CLASS)):
        for port in sorted(os.listdir(f"{CLASS}/{device}/ports")):
            with open(f"{CLASS}/{device}/ports/{port}/state") as file:
                state = file.read().strip()
            print(f"{device}/{port} {state[3:]}", flush=True)


def sit():
    time.sleep(LONG_S)


def children(count, work):
    """Starts so many processes, each of which does this work."""
    for _ in range(count):
        if os.fork() == 0:
            work()
            os._exit(0)


def in_a_sandbox():
    """Whether the first process is nicdrill: without a pid namespace of its own this program kills nobody."""
    with open("/proc/1/cmdline") as file:
        if "nicdrill" not in file.read().split("\0")[0]:
            sys.exit("there is no sandbox around this monitor")


def parent():
    """Its parent, or the first process if that is in another pid namespace."""
    return os.getppid() or 1


# A gRPC call by hand: HTTP/2 frames, headers as literals without an index (RFC 9113, RFC 7541).

def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def connected():
    link = socket.socket(socket.AF_UNIX)
    link.connect(SOCKET)
    return link


def preface(link):
    link.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b""))


def headers(stream):
    path = b"/datamodels.PlatformConnector/HealthEventOccurredV1"
    block = b"".join(literal(*of) for of in [
        (b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"localhost"),
        (b"content-type", b"application/grpc"), (b"te", b"trailers"),
    ])
    return frame(1, 4, stream, block)


def swallow(link):
    """Reads whatever the server answers, so that it is never kept from writing."""
    def read():
        try:
            while link.recv(65536):
                pass
        except OSError:
            pass
    threading.Thread(target=read, daemon=True).start()


def call(link, stream, message):
    body = b"\0" + struct.pack(">I", len(message)) + message
    link.sendall(headers(stream))
    pieces = [body[at:at + 16384] for at in range(0, len(body), 16384)] or [b""]
    for piece in pieces[:-1]:
        link.sendall(frame(0, 0, stream, piece))
    link.sendall(frame(0, 1, stream, pieces[-1]))


# The ways.

def quiet():
    pass


def calls_without_end():
    while True:
        link = connected()
        preface(link)
        swallow(link)
        for stream in range(1, 2001, 2):
            call(link, stream, b"\x08\x01")
        link.close()


def huge_messages():
    link = connected()
    preface(link)
    swallow(link)
    call(link, 1, b"\x12" + b"\xff\xff\xff\x2f" + bytes(100_000_000))


def events_by_the_hundred_thousand():
    link = connected()
    preface(link)
    swallow(link)
    for stream in range(1, 30, 2):
        call(link, stream, b"\x08\x01" + b"\x12\0" * 20_000)
        time.sleep(0.2)
    sit()


def garbage():
    while True:
        link = connected()
        try:
            link.sendall(os.urandom(65536))
        except OSError:
            pass
        link.close()


def garbage_after_the_preface():
    while True:
        link = connected()
        try:
            preface(link)
            link.sendall(os.urandom(65536))
        except OSError:
            pass
        link.close()


def half_a_frame():
    link = connected()
    preface(link)
    link.sendall(headers(1)[:7])
    sit()


def thousands_of_connections():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    links = [connected() for _ in range(min(5000, most - 100))]
    sit()
    return links


def requests_whose_answers_nobody_reads():
    link = connected()
    preface(link)
    stream = 1
    while True:
        link.sendall(frame(1, 4, stream, b"\x83\x86\x44\x02/x\x41\x01a"))
        stream += 2


def calls_that_are_never_complete():
    link = connected()
    preface(link)
    swallow(link)
    for stream in range(1, 20001, 2):
        link.sendall(headers(stream))
    sit()


def messages_that_are_never_complete():
    """Each within the longest message, so that each is kept until its end comes."""
    piece = b"\0\0\x3f\xff\xff" + bytes(16379)
    links = []
    for _ in range(90):
        link = connected()
        preface(link)
        swallow(link)
        link.sendall(headers(1) + frame(0, 0, 1, piece))
        for _ in range(60):
            link.sendall(frame(0, 0, 1, bytes(16384)))
        links.append(link)
    sit()


def connections_that_end_at_once():
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        connected().close()


def output_without_end():
    line = b"there is nothing to be said about this\n" * 1000
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        os.write(2, line)


def a_line_without_end():
    for _ in range(40):
        os.write(2, b"x" * 1_000_000)


def control_characters():
    os.write(1, b"\x1b[2J\x1b]0;title\x07\xff\xfe mlx5_0 1 \x00\x1b[31mred\n")


def ten_thousand_files():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    files = [open(f"{CLASS}/mlx5_0/ports/1/state") for _ in range(10_000)]
    for _ in range(100):
        poll()
    return files


def reads_without_end():
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        with open(f"{CLASS}/mlx5_0/ports/1/state") as file:
            file.read()


def forks():
    for _ in range(500):
        if os.fork() == 0:
            sit()
            os._exit(0)
    sit()


def daemon_that_holds_a_file():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            held = open(f"{CLASS}/mlx5_0/ports/1/state")
            sit()
            held.close()
        os._exit(0)


def daemon_that_holds_the_output():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            sit()
        os._exit(0)
    sys.exit(0)


def unmounts():
    libc = ctypes.CDLL(None, use_errno=True)
    for flags in (0, 1, 2, 8):
        libc.umount2(ROOT.encode(), flags)
    libc.mount(b"none", ROOT.encode(), b"tmpfs", 0, None)
    subprocess.run(["umount", "-l", ROOT], stderr=subprocess.DEVNULL)


def removes_its_socket():
    os.unlink(SOCKET)


def kills_everything():
    in_a_sandbox()
    os.kill(-1, signal.SIGKILL)


def kills_its_parent():
    in_a_sandbox()
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.kill(1, number)
        os.kill(parent(), number)


def stops_its_parent():
    in_a_sandbox()
    os.kill(parent(), signal.SIGSTOP)


def stops_itself():
    os.kill(os.getpid(), signal.SIGSTOP)


def traces_its_parent():
    # PTRACE_ATTACH is 16 (`ptrace(2)`).
    ctypes.CDLL(None).ptrace(16, parent(), 0, 0)


def ignores_sigterm():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def ends_with_success():
    os._exit(0)


def faults():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), signal.SIGSEGV)


def never_polls_again():
    sit()


def spins():
    def turn():
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            pass
    for _ in range(30):
        threading.Thread(target=turn, daemon=True).start()


def fills_its_folder():
    with open(f"{os.environ['TMPDIR']}/big", "wb") as file:
        for _ in range(64):
            file.write(bytes(1_000_000))


def eats_memory():
    eaten = []
    for _ in range(500):
        eaten.append(bytearray(b"x") * 1_000_000)


def writes_to_the_host():
    for path in ("/proc/sysrq-trigger", "/etc/passwd", "/usr/nicdrill-was-here", f"{CLASS}/mlx5_0/node_desc"):
        try:
            with open(path, "a") as file:
                file.write("x")
            print(f"wrote {path}", flush=True)
        except OSError:
            pass


def faults_its_parent():
    in_a_sandbox()
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP):
        for _ in range(5):
            os.kill(1, number)
            os.kill(parent(), number)
            time.sleep(0.01)


def forks_by_the_thousand():
    children(3000, sit)
    sit()


def reads_by_1600_processes():
    children(1600, reads_without_end)
    sit()


def forks_that_spin():
    def turn():
        end = time.monotonic() + LONG_S
        while time.monotonic() < end:
            pass
    children(200, turn)
    sit()


def memory_of_many_processes():
    def eat():
        eaten = bytearray(b"x") * 250_000_000
        sit()
        return eaten
    children(8, eat)
    sit()


def shared_memory():
    shared = mmap.mmap(-1, 1_500_000_000)
    for at in range(0, len(shared), 4096):
        shared[at] = 1
    sit()


def fills_every_folder_of_its_own():
    here = pathlib.Path(ROOT).parent
    for folder in (os.environ["TMPDIR"], "/dev/shm", here, f"{ROOT}/var/run/nic_health_monitor"):
        try:
            for number in range(1000):
                pathlib.Path(folder, f"big-{number}").write_bytes(bytes(1_000_000))
        except OSError:
            pass


def files_by_the_ten_thousand():
    for folder in (os.environ["TMPDIR"], str(pathlib.Path(ROOT).parent), f"{ROOT}/var/run/nic_health_monitor"):
        try:
            for number in range(50_000):
                pathlib.Path(folder, f"small-{number}").touch()
        except OSError:
            pass


def folders_in_folders():
    os.chdir(pathlib.Path(ROOT).parent)
    try:
        for _ in range(10_000):
            os.mkdir("in")
            os.chdir("in")
    except OSError:
        pass
    os.chdir("/")


def a_line_of_20_mb():
    sys.stdout.write("x" * 20_000_000 + "\n")
    sys.stdout.flush()


def statements_by_the_million():
    sys.stdout.write("mlx5_0/1 ACTIVE\n" * 1_000_000)
    sys.stdout.flush()


def lines_of_nothing():
    sys.stdout.write("\n" * 5_000_000)
    sys.stdout.flush()


def control_characters_by_the_million():
    sys.stderr.write("\x01" * 5_000_000 + "\n")
    sys.stderr.flush()


def a_pipe_for_its_log():
    path = f"{os.environ['TMPDIR']}/log"
    os.mkfifo(path)
    with open(path, "w") as log:
        log.write("nobody reads this\n")


def closes_everything():
    os.closerange(0, 1000)


def changes_the_network():
    libc = ctypes.CDLL(None)
    libc.setns(os.open("/proc/1/ns/net", os.O_RDONLY), 0)
    # CLONE_NEWNET is 0x40000000 (`unshare(2)`).
    libc.unshare(0x40000000)


HELPERS = {poll, sit, children, in_a_sandbox, parent, frame, literal, connected, preface, headers, swallow, call}
WAYS = {
    name.replace("_", "-"): way
    for name, way in list(globals().items())
    if callable(way) and name.islower() and way not in HELPERS
}


def main():
    poll()
    way = WAYS[WAY]
    # The listing with which the second poll begins.
    os.listdir(CLASS)
    way()
    while True:
        poll()


main()

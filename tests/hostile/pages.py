#!/usr/bin/env python3
"""A monitor that serves a page and is hostile in one way, named by its first argument; the others are its root and its port.

Its first answer is the page of metrics, or in JSON under the path `/json`. From its second request on it does what its way says.
"""

import json
import os
import pathlib
import socket
import sys
import time

WAY, ROOT, PORT = sys.argv[1:4]
CLASS = pathlib.Path(ROOT, "sys/class/infiniband")
VALUES = {"ACTIVE": 1, "DOWN": 0}
LONG_S = 300
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def states():
    """The state of each port as a number."""
    for device in sorted(os.listdir(CLASS)):
        for port in sorted(os.listdir(CLASS / device / "ports")):
            state = (CLASS / device / "ports" / port / "state").read_text()
            yield device, port, VALUES.get(state[3:].strip(), 2)


def page(path):
    if path == "/json":
        ports = [{"device": device, "port": port, "up": up} for device, port, up in states()]
        return json.dumps({"ports": ports})
    return "".join(f'nic_port_up{{device="{device}",port="{port}"}} {up}\n' for device, port, up in states())


def quiet(link, path):
    text = page(path).encode()
    link.sendall(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(text) + text)


def without_end(link, piece, first=b""):
    """A body that ends when nobody reads it any more."""
    link.sendall(HEAD + b"Connection: close\r\n\r\n" + first)
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        link.sendall(piece)


def an_endless_body(link, _):
    without_end(link, b'nic_port_up{device="d",port="1"} 1\n' * 1000)


def an_endless_body_in_chunks(link, _):
    link.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    piece = b'nic_port_up{device="d",port="1"} 1\n' * 1000
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        link.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n")


def a_page_of_400_mb(link, _):
    piece = b'nic_port_up{device="%s"} 1\n' % (b"x" * 970) * 1000
    link.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % (400 * len(piece)))
    for _ in range(400):
        link.sendall(piece)


def a_line_without_end(link, _):
    without_end(link, b"x" * 100_000)


def comments_without_end(link, _):
    without_end(link, b"# HELP nic_port_up Up.\n" * 1000)


def a_head_without_end(link, _):
    link.sendall(HEAD)
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        link.sendall(b"X-Field: " + b"x" * 10_000 + b"\r\n")


def interim_answers_without_end(link, _):
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        link.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


def fields_without_end(link, _):
    link.sendall(HEAD + b"X-F: x\r\n" * 1500 + b"\r\n")


def a_body_that_drips(link, _):
    link.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n")
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        link.sendall(b"#")
        time.sleep(0.2)


def a_head_that_drips(link, _):
    link.sendall(HEAD)
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        link.sendall(b"X")
        time.sleep(0.2)


def never_answers(*_):
    time.sleep(LONG_S)


def closes(*_):
    pass


def garbage(link, _):
    link.sendall(os.urandom(1_000_000))


def fails_from_the_fault_on(link, path):
    if list(states()) == AT_REST:
        return quiet(link, path)
    link.sendall(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")


def closes_from_the_fault_on(link, path):
    if list(states()) == AT_REST:
        quiet(link, path)


def a_body_that_is_too_short(link, _):
    link.sendall(HEAD + b"Content-Length: 1000000\r\n\r\nnic_port_up 1\n")


def a_list_without_end(link, _):
    without_end(link, b'{"device": "d", "up": 1}, ' * 1000, b'{"ports": [')


def a_string_without_end(link, _):
    without_end(link, b"x" * 100_000, b'{"ports": "')


def lists_in_lists(link, _):
    without_end(link, b"[" * 100_000)


def blanks_without_end(link, _):
    without_end(link, b" " * 100_000)


AT_REST = list(states())
HELPERS = {states, page, quiet, without_end}
WAYS = {
    name.replace("_", "-"): way
    for name, way in list(globals().items())
    if callable(way) and name.islower() and way not in HELPERS
}


def main():
    listener = socket.create_server(("127.0.0.1", int(PORT)))
    answered = 0
    while True:
        link, _ = listener.accept()
        with link:
            request = link.recv(65536).split()
            if len(request) < 2:
                # Somebody only looked whether it listens.
                continue
            way = WAYS.get(WAY, quiet) if answered else quiet
            answered += 1
            try:
                way(link, request[1].decode())
            except OSError:
                pass


main()

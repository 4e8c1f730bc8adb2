#!/usr/bin/env python3
"""A monitor that writes files for a textfile collector and is hostile in one way, named by its first argument; the others are
its root and the folder of the collector.

In each poll it lists the devices, reads the state of each port, and writes `nic.prom`. From its second poll on it does what its
way says instead.
"""

import os
import pathlib
import shutil
import socket
import sys

WAY, ROOT, FOLDER = sys.argv[1:4]
CLASS = pathlib.Path(ROOT, "sys/class/infiniband")
FILE = pathlib.Path(FOLDER, "nic.prom")
VALUES = {"ACTIVE": 1, "DOWN": 0}


def states():
    """The series of all ports."""
    for device in sorted(os.listdir(CLASS)):
        for port in sorted(os.listdir(CLASS / device / "ports")):
            state = (CLASS / device / "ports" / port / "state").read_text()
            yield f'nic_port_up{{device="{device}",port="{port}"}} {VALUES.get(state[3:].strip(), 2)}\n'


def write(text):
    new = FILE.with_suffix(".tmp")
    new.write_text(text)
    new.rename(FILE)


def gone():
    """Takes away what is there instead of the file, if something is."""
    if FILE.is_dir() and not FILE.is_symlink():
        FILE.rmdir()
    else:
        FILE.unlink(missing_ok=True)


def a_pipe():
    gone()
    os.mkfifo(FILE)


def a_socket():
    gone()
    os.chdir(FOLDER)
    socket.socket(socket.AF_UNIX).bind(FILE.name)
    os.chdir("/")


def a_folder():
    gone()
    FILE.mkdir()


def a_link_to_zero():
    gone()
    FILE.symlink_to("/dev/zero")


def a_link_to_a_file_of_the_host():
    gone()
    FILE.symlink_to("/etc/passwd")


def a_link_to_itself():
    gone()
    FILE.symlink_to(FILE.name)


def a_sparse_file():
    gone()
    with open(FILE, "wb") as file:
        file.truncate(1 << 38)


def a_large_file():
    gone()
    line = f'nic_port_up{{device="{"x" * 1000}"}} 1\n'.encode() * 1000
    try:
        with open(FILE, "wb") as file:
            for _ in range(8000):
                file.write(line)
    except OSError:
        pass


def series_without_end():
    write("".join(f'nic_port_up{{device="d{number}"}} 1\n' for number in range(100_000)))


def a_line_without_end():
    write(f'nic_port_up{{device="{"x" * 10_000_000}"}} 1\n')


def files_without_end():
    if pathlib.Path(FOLDER, "0.prom").exists():
        return
    gone()
    try:
        for number in range(12_000):
            pathlib.Path(FOLDER, f"{number}.prom").write_text("nic_other 1\n")
    except OSError:
        pass


def no_folder():
    shutil.rmtree(FOLDER, ignore_errors=True)


def a_pipe_for_the_folder():
    if not pathlib.Path(FOLDER).is_fifo():
        no_folder()
        os.mkfifo(FOLDER)


def a_link_for_the_folder():
    if not pathlib.Path(FOLDER).is_symlink():
        no_folder()
        os.symlink("/etc", FOLDER)


HELPERS = {states, write, gone}
WAYS = {
    name.replace("_", "-"): way
    for name, way in list(globals().items())
    if callable(way) and name.islower() and way not in HELPERS
}


def quiet():
    write("".join(states()))


def main():
    quiet()
    way = WAYS.get(WAY, quiet)
    while True:
        # The listing with which a poll begins.
        os.listdir(CLASS)
        way()


main()

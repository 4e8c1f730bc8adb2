#!/usr/bin/env python3
"""A program that is run again and again, and in each run is hostile in the way that its first argument names; the other is its
root. It ends with 1 if a port is down, and says which.
"""

import os
import pathlib
import sys
import time

WAY, ROOT = sys.argv[1:3]
CLASS = pathlib.Path(ROOT, "sys/class/infiniband")
LONG_S = 300


def quiet():
    pass


def a_line_of_20_mb():
    print("x" * 20_000_000, flush=True)


def output_without_end():
    line = b"there is nothing to be said about this\n" * 1000
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        os.write(1, line)


def never_ends():
    time.sleep(LONG_S)


def leaves_daemons():
    for _ in range(10):
        if os.fork() == 0:
            os.setsid()
            time.sleep(LONG_S)
            os._exit(0)


def main():
    {
        "quiet": quiet,
        "a-line-of-20-mb": a_line_of_20_mb,
        "output-without-end": output_without_end,
        "never-ends": never_ends,
        "leaves-daemons": leaves_daemons,
    }[WAY]()
    down = [
        f"{device}/{port}"
        for device in sorted(os.listdir(CLASS))
        for port in sorted(os.listdir(CLASS / device / "ports"))
        if (CLASS / device / "ports" / port / "state").read_text().startswith("1:")
    ]
    for port in down:
        print(f"{port} is down", flush=True)
    sys.exit(1 if down else 0)


main()

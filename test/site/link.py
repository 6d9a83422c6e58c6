"""A line between two network namespaces: python3 link.py PID DELAY LOSS VERSIONS

One end is here, the other in the network of process PID. Each packet takes DELAY seconds, and LOSS of them get lost, the same in each run.
VERSIONS is "46", or "6" if the other end has no IPv4. What goes nowhere is swallowed, as by a broken route.
"""
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

pid, delay, loss, versions = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
chance = random.Random(1)


def tun(name, addresses, routes):
    end = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(end, 0x400454CA, struct.pack("16sH", name.encode(), 0x0001 | 0x1000))  # TUNSETIFF, IFF_TUN | IFF_NO_PI
    for args in (*(f"addr add {each} dev {name}" for each in addresses), f"link set {name} up", "link set lo up", *routes):
        subprocess.run(["ip", *args.split()], check=True)
    return end


ours = [f"10.9.0.{n}/24" for n in (1, 3, 4)] + [f"fd00:9::{n}/64 nodad" for n in (1, 3, 4)]
here = tun("site", ours, [])
libc, own = ctypes.CDLL(None), os.open("/proc/self/ns/net", os.O_RDONLY)
libc.setns(os.open(f"/proc/{pid}/ns/net", os.O_RDONLY), 0)
theirs = ["10.9.0.2/24"] * ("4" in versions) + ["fd00:9::2/64 nodad"]
there = tun("line", theirs, ["-6 route add default dev line"])
libc.setns(own, 0)
print("up", flush=True)
under_way, count = [], 0
while True:
    wait = max(0, under_way[0][0] - time.monotonic()) if under_way else None
    for end in select.select([here, there], [], [], wait)[0]:
        packet = os.read(end, 4096)
        if chance.random() < loss:
            continue
        count += 1
        heapq.heappush(under_way, (time.monotonic() + delay, count, there if end == here else here, packet))
    while under_way and under_way[0][0] <= time.monotonic():
        _, _, end, packet = heapq.heappop(under_way)
        try:
            os.write(end, packet)
        except OSError:
            pass

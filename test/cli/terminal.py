"""Relays a pseudo-terminal: types what comes on standard input, and prints what the terminal receives.

    python3 terminal.py [COLUMNS PROGRAM [ARGUMENT…]]

Runs a program on it. Without one it first prints a line, the name of the device, for who opens that.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios

child = 0
if sys.argv[1:]:
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
        os.execvp(sys.argv[2], sys.argv[2:])
else:
    terminal, device = pty.openpty()
    os.write(1, f"{os.ttyname(device)}\n".encode())

while True:
    source = select.select([terminal, 0], [], [])[0][0]
    try:
        data = os.read(source, 65536)
    except OSError:  # the program has ended
        break
    if not data:
        break
    os.write(terminal if source == 0 else 1, data)
status = os.waitpid(child, 0)[1] if child else 0
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))

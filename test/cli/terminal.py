"""Runs a program on a pseudo-terminal, and types. Prints what the terminal received.

    python3 terminal.py COLUMNS STEPS OUTPUT PROGRAM [ARGUMENT…]

STEPS is JSON: a list of [text, keys]. The keys are typed when the text has appeared. Standard output goes to the file OUTPUT, or
to the terminal if that is empty.
"""
import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

columns, steps = int(sys.argv[1]), json.loads(sys.argv[2])
child, terminal = pty.fork()
if child == 0:
    # The parent sets the size first.
    time.sleep(0.2)
    if sys.argv[3]:
        os.dup2(os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
    os.execvp(sys.argv[4], sys.argv[4:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

shown, searched = b"", 0
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    if steps:
        text, keys = steps[0]
        at = shown.find(text.encode(), searched)
        if at >= 0:
            searched = at + len(text.encode())
            os.write(terminal, keys.encode())
            steps.pop(0)
            continue
    if select.select([terminal], [], [], 0.05)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the program has ended
            break
        if not data:
            break
        shown += data
else:
    os.kill(child, 9)
sys.stdout.buffer.write(shown)
sys.stdout.flush()
status = os.waitpid(child, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))

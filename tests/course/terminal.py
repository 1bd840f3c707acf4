"""A program on a terminal, for tests of what learners see."""

import os
import pty
import re
import select
import sys
import time

PATIENCE = 120  # seconds; the checks of an exercise may have to be built first


class Terminal:
    """The program on a terminal of 80 columns."""

    def __init__(self, command, environment):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)
        self.text = self.seen = ""  # not yet waited for; up to the text that was waited for

    def wait_for(self, wanted):
        """Reads until the text appears, and forgets what came before its end."""
        end = time.monotonic() + PATIENCE
        while wanted not in self.plain():
            if time.monotonic() > end:
                sys.exit(f"\"{wanted}\" did not appear; the screen:\n{self.plain()}")
            if select.select([self.file], [], [], 1)[0]:
                try:
                    self.text += os.read(self.file, 65536).decode(errors="replace")
                except OSError:  # the program has ended
                    if wanted not in self.plain():
                        sys.exit(f"ended before \"{wanted}\":\n{self.plain()}")
        plain = self.plain()
        end = plain.index(wanted) + len(wanted)
        self.seen, self.text = plain[:end], plain[end:]

    def plain(self):
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\r", "", self.text)

    def press(self, keys):
        os.write(self.file, keys.encode())

    def exit_code(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

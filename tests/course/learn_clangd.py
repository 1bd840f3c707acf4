#!/usr/bin/env python3
"""Opens the skeleton of every exercise in clangd, as an editor does: a fresh workspace has no
diagnostics, and clangd finds the headers of the library and of the chapter. Does nothing where
clangd is not installed.

usage: learn_clangd.py PROGRAM [EXERCISE...]
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ERROR, WARNING = 1, 2  # severities; hints such as "unused include" are no fault of the workspace


class Clangd:
    """A server that is spoken to in the protocol of editors (LSP)."""

    def __init__(self, folder):
        # Without the index in the background: it reads the whole library, and nobody waits for it.
        self.server = subprocess.Popen(
            ["clangd", "--background-index=false", "-j=2", "--log=error"], cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.send({"id": 1, "method": "initialize", "params": {
            "processId": os.getpid(), "rootUri": pathlib.Path(folder).as_uri(),
            "capabilities": {}}})
        while self.receive().get("id") != 1:
            pass
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.server.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if length == 0:
            sys.exit("clangd has ended")
        return json.loads(self.server.stdout.read(length))

    def diagnostics(self, file):
        """The diagnostics of a file: [(line from 1, severity, message)]."""
        uri = file.as_uri()
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": {
            "uri": uri, "languageId": "cpp", "version": 1, "text": file.read_text("utf-8")}}})
        while True:
            message = self.receive()
            if (message.get("method") == "textDocument/publishDiagnostics"
                    and message["params"]["uri"] == uri):
                break
        self.send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})
        return [(d["range"]["start"]["line"] + 1, d["severity"], d["message"])
                for d in message["params"]["diagnostics"]]


def main():
    program, chosen = sys.argv[1], sys.argv[2:]
    if not shutil.which("clangd"):
        print("clangd is not installed: nothing was checked")
        return
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HEADROOM_WORKSPACE": folder}

        def learn(*words):
            return subprocess.run([program, "learn", *words], env=environment, text=True,
                                  capture_output=True, check=True).stdout

        exercises = [e for e in json.loads(learn("list", "--json"))
                     if not chosen or e["id"] in chosen]
        for exercise in exercises:
            learn("reset", exercise["id"])
        clangd = Clangd(folder)
        for exercise in exercises:
            found = clangd.diagnostics(pathlib.Path(exercise["file"]))
            for line, severity, message in found:
                if severity <= WARNING:
                    wrong += 1
                    print(f"{exercise['id']} {exercise['file']}:{line}: {message}")
        # An error must be found, or nothing above says anything.
        file = pathlib.Path(exercises[0]["file"])
        file.write_text(file.read_text("utf-8").replace("#include \"", "#include \"no_such_", 1),
                        "utf-8")
        if not any(severity == ERROR for _, severity, _ in clangd.diagnostics(file)):
            wrong += 1
            print(f"{file}: an error was not found")
        clangd.server.kill()
    print(f"{len(exercises)} skeletons, {wrong} faults")
    sys.exit(1 if wrong or not exercises else 0)


if __name__ == "__main__":
    main()

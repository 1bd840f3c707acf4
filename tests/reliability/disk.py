"""A disk that loses power: which files there are after a cut, by the calls of a program so far.

Data are safe after fsync of their file, names after fsync of their folder. Until then a disk may
have written any part of them, in any order.
"""
import dataclasses
import os

PAGE = 4096
CUTS = ("nothing", "names", "data", "everything", "some")  # of what was not synced reached the disk


def operations(record):
    """[(call, arguments...)] of a file that the library of failing calls wrote."""
    found, at = [], 0

    def line():
        nonlocal at
        end = record.index(b"\n", at)
        text = record[at:end].decode()
        at = end + 1
        return text

    while at < len(record):
        call, _, rest = line().partition(" ")
        if call == "write":
            file, offset, count = map(int, rest.split())
            found.append((call, file, offset, record[at:at + count]))
            at += count
        elif call in ("create", "open"):
            file, path = rest.split(" ", 1)
            found.append((call, int(file), path))
        elif call == "truncate":
            found.append((call, *map(int, rest.split())))
        elif call == "sync":
            found.append((call, int(rest)))
        elif call == "rename":
            found.append((call, rest, line()))
        else:  # sync_folder, unlink, mkdir, end
            found.append((call, rest))
    return found


def changed(content, change):
    kind, offset, data = change
    if kind == "truncate":
        return content[:offset].ljust(offset, b"\0")
    return content.ljust(offset, b"\0")[:offset] + data + content[offset + len(data):]


@dataclasses.dataclass
class File:
    safe: bytes = b""
    now: bytes = b""
    pending: list = dataclasses.field(default_factory=list)

    def change(self, *change):
        self.now = changed(self.now, change)
        self.pending.append(change)

    def sync(self):
        self.safe, self.pending = self.now, []

    def after(self, cut, rng):
        if cut in ("data", "everything"):
            return self.now
        if cut in ("nothing", "names"):
            return self.safe
        content = self.safe
        for kind, offset, data in self.pending:  # page by page
            for begin in range(0, max(1, len(data)), PAGE):
                if rng.random() < 0.5:
                    content = changed(content, (kind, offset + begin, data[begin:begin + PAGE]))
        return content


class Disk:
    def __init__(self, folder, files):
        self.folder = folder
        self.numbered = {}  # file number of the system -> File
        self.names = {folder: None}  # what programs see: path -> File, or None for a folder
        for name, content in files.items():
            self.names[f"{folder}/{name}"] = None if content is None else File(content, content)
        self.safe_names = dict(self.names)
        self.pending = []  # (folder, path, File, None or "gone")

    def name(self, path, what):
        if what == "gone":
            self.names.pop(path, None)
        else:
            self.names[path] = what
        self.pending.append((os.path.dirname(path), path, what))

    def apply(self, operation):
        call, *rest = operation
        if call == "create":
            self.numbered[rest[0]] = File()
            self.name(rest[1], self.numbered[rest[0]])
        elif call == "open":  # a file that was there, for writing
            self.numbered[rest[0]] = self.names[rest[1]]
        elif call in ("write", "truncate"):
            number, offset, data = rest[0], rest[1], rest[2] if call == "write" else b""
            self.numbered[number].change(call, offset, data)
        elif call == "sync":
            self.numbered[rest[0]].sync()
        elif call == "sync_folder":
            for folder, path, what in self.pending:
                if folder == rest[0]:
                    put(self.safe_names, path, what)
            self.pending = [change for change in self.pending if change[0] != rest[0]]
        elif call == "rename":
            self.name(rest[1], self.names[rest[0]])
            self.name(rest[0], "gone")
        elif call == "unlink":
            self.name(rest[0], "gone")
        elif call == "mkdir":
            self.name(rest[0], None)

    def after(self, cut, rng):
        """{path relative to the folder: content} after a power cut."""
        names = dict(self.safe_names)
        for _, path, what in self.pending:
            if cut in ("names", "everything") or (cut == "some" and rng.random() < 0.5):
                put(names, path, what)
        files, contents = {}, {}
        for path in sorted(names):
            if path == self.folder or os.path.dirname(path) not in names:
                continue  # a file of a folder whose own name is lost is lost with it
            file = names[path]
            if file is not None and id(file) not in contents:
                contents[id(file)] = file.after(cut, rng)
            files[os.path.relpath(path, self.folder)] = None if file is None else contents[id(file)]
        return files


def put(names, path, what):
    if what == "gone":
        names.pop(path, None)
    else:
        names[path] = what


def versions(folder, files, calls):
    """{relative path: [(index of the call that named it so, content)]} of files renamed whole."""
    disk, found = Disk(folder, files), {}
    for name, content in files.items():
        if content is not None:
            found.setdefault(name, []).append((-1, content))
    for index, operation in enumerate(calls):
        disk.apply(operation)
        if operation[0] == "rename":
            path = operation[2]
            found.setdefault(os.path.relpath(path, folder), []).append(
                (index, disk.names[path].now))
    return found

"""Shows headroom's Shape, Array and Tensor in gdb as their elements. In gdb, or in ~/.gdbinit:

    source PATH/headroom-gdb.py

Then `print x` shows [[1 2 3] [4 5 6]] below the shape, as text(x) does in a program; `print /r x`
shows the members. The program needs debug information (-g), the library none.
"""

import re

import gdb

MOST_ELEMENTS, EDGE = 1000, 3  # as in src/headroom/array/print.cpp
OURS = re.compile(r"headroom::(f32|f64)::(Shape|ArrayOf<.*>|Tensor)$")


def sizes_of(shape):
    sizes = shape["sizes_"]["_M_elems"]
    return [int(sizes[axis]) for axis in range(int(shape["rank_"]))]


def indices(length, shortened):
    """The indices of an axis that are shown, with None for the gap."""
    if not shortened or length <= 2 * EDGE + 1:
        return list(range(length))
    return [*range(EDGE), None, *range(length - EDGE, length)]


def lists(element, sizes, shortened, axis=0, first=0):
    """The elements in brackets: one line for each list of the last axis."""
    if axis == len(sizes):
        return element(first)
    parts = ["..." if i is None else
             lists(element, sizes, shortened, axis + 1, first * sizes[axis] + i)
             for i in indices(sizes[axis], shortened)]
    last = axis + 1 == len(sizes)
    return "[" + (" " if last else "\n" + " " * (axis + 1)).join(parts) + "]"


def array_text(array):
    sizes = sizes_of(array["shape_"])
    if int(array["block_"]) == 0:
        return "undefined"
    kind = array.type.strip_typedefs().template_argument(0)
    elements = (array["block_"] + 1).cast(kind.pointer())  # they follow the header of the block
    whole = kind.strip_typedefs().code == gdb.TYPE_CODE_INT

    def element(i):
        value = elements[i]
        return str(int(value)) if whole else f"{float(value):.6g}"

    count = 1
    for size in sizes:
        count *= size
    return f"{sizes}\n{lists(element, sizes, count > MOST_ELEMENTS)}"


class Printer:
    def __init__(self, value, precision, name):
        self.value, self.precision, self.name = value, precision, name

    def to_string(self):
        if self.name == "Shape":
            return str(sizes_of(self.value))
        if self.name != "Tensor":
            return "Array " + array_text(self.value)
        body = self.value["body_"]["_M_ptr"]
        if int(body) == 0:
            return "Tensor undefined"
        real = "float" if self.precision == "f32" else "double"
        array = gdb.lookup_type(f"headroom::{self.precision}::ArrayOf<{real}>")
        # The body's type is private; its first member is the value.
        return "Tensor " + array_text(body.cast(array.pointer()).dereference())


def printer_of(value):
    kind = value.type.unqualified().strip_typedefs()
    if kind.code == gdb.TYPE_CODE_REF:
        kind = kind.target().unqualified().strip_typedefs()
        value = value.referenced_value()
    match = OURS.match(kind.tag or "")
    return Printer(value, *match.groups()) if match else None


gdb.pretty_printers.insert(0, printer_of)

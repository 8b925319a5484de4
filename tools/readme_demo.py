#!/usr/bin/env python3
"""Holds README.md's demo output against what the program prints. Ends with 1 if they differ.

usage: readme_demo.py PROGRAM [--update]

With --update the block between the two "demo output" comments is written anew; `./dev readme` does
that.
"""

import re
import subprocess
import sys
from pathlib import Path

README = Path("README.md")
BLOCK = re.compile(r"(<!-- demo output: begin .*? -->\n)(.*?)(<!-- demo output: end -->)", re.DOTALL)


def main(arguments):
    program, update = arguments[0], arguments[1:] == ["--update"]
    printed = subprocess.run([program, "simulate", "demo"], check=True, capture_output=True,
                             text=True).stdout
    text = README.read_text(encoding="utf-8")
    if not BLOCK.search(text):
        sys.exit(f"{README} has no block of demo output")
    wanted = BLOCK.sub(lambda m: f"{m[1]}```text\n{printed}```\n{m[3]}", text)
    if wanted == text:
        return
    if not update:
        sys.exit(f"{README} does not show what `fairlead simulate demo` prints; run ./dev readme")
    README.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

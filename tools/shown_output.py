#!/usr/bin/env python3
"""Holds the outputs that documents show against what the program prints. Ends with 1 if they differ.

usage: shown_output.py PROGRAM [--update]

An output stands between two comments of a document:

    <!-- output: begin fairlead simulate demo --fairness; parts 4-5 -->
    ...
    <!-- output: end -->

`parts` are the pieces between empty lines that are shown, counted from 1; without it all is shown.
With --update the blocks are written anew; `./dev outputs` does that.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

DOCUMENTS = [Path("README.md"), *sorted(Path("docs").glob("*.md"))]
BEGIN = r"<!-- output: begin fairlead (?P<arguments>[^;\n]*?)(?:; parts (?P<from>\d+)-(?P<to>\d+))? -->\n"
BLOCK = re.compile(rf"(?P<begin>{BEGIN})(?P<shown>.*?)(?P<end><!-- output: end -->)", re.DOTALL)


def printed(program, block, memory):
    """What the command of a block prints, or the parts of it that the block shows."""
    arguments = block["arguments"]
    if arguments not in memory:
        memory[arguments] = subprocess.run([program, *shlex.split(arguments)], check=True,
                                           capture_output=True, text=True).stdout
    if block["from"] is None:
        return memory[arguments]
    parts = memory[arguments].rstrip("\n").split("\n\n")
    first, last = int(block["from"]), int(block["to"])
    if not 1 <= first <= last <= len(parts):
        sys.exit(f"`fairlead {arguments}` prints {len(parts)} parts; {first}-{last} are asked for")
    return "\n\n".join(parts[first - 1:last]) + "\n"


def main(arguments):
    program, update = arguments[0], arguments[1:] == ["--update"]
    memory, wrong, blocks = {}, [], 0
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        blocks += len(BLOCK.findall(text))
        wanted = BLOCK.sub(
            lambda b: f"{b['begin']}```text\n{printed(program, b, memory)}```\n{b['end']}", text)
        if wanted == text:
            continue
        if update:
            document.write_text(wanted, encoding="utf-8")
        else:
            wrong.append(str(document))
    if not blocks:
        sys.exit("no document shows an output: the comments of shown_output.py are not in them")
    if wrong:
        sys.exit(f"not what the program prints: {', '.join(wrong)}; run ./dev outputs")


if __name__ == "__main__":
    main(sys.argv[1:])

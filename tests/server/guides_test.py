#!/usr/bin/env python3
"""Runs what the guides tell people to type, on a server with simulated GPUs.

usage: guides_test.py PROGRAM GUIDE.md…

Each ```sh block is a script that must succeed; in a ```console block each line behind "$ " must, and
must print what stands below it. There "…" stands for anything within a line, and a line of "…" alone
for any lines; blanks between words may be any. Comments that readers do not see say more:

    <!-- not run: why -->       the next block is left alone
    <!-- file: NAME -->         the next block is written to NAME, in the folder where all is run
    <!-- run                    these lines are run, and nobody reads them
    COMMANDS
    -->

A guide has a server of its own. Blocks that call a program this machine lacks (curl, jq, envsubst)
are left out, and said.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from server import Server  # noqa: E402

OPTIONAL = ("curl", "jq", "envsubst")
SECONDS = 60  # per block


class Block:
    def __init__(self, line, kind, text, mark):
        self.line = line
        self.kind = kind
        self.text = text
        self.mark = mark  # "not run: why", "file: NAME" or ""


def blocks_of(text):
    """Blocks of code and hidden commands, in their order."""
    blocks, mark, lines, at = [], "", text.split("\n"), 0
    while at < len(lines):
        line = lines[at]
        begin = at + 1
        if line.startswith("```") and line != "```":
            end = lines.index("```", begin)
            blocks.append(Block(begin, line[3:].strip(), "\n".join(lines[begin:end]), mark))
            mark, at = "", end
        elif line.strip() == "<!-- run":
            end = lines.index("-->", begin)
            blocks.append(Block(begin, "sh", "\n".join(lines[begin:end]), ""))
            at = end
        elif found := re.fullmatch(r"<!-- ((?:not run|file): .+) -->", line.strip()):
            mark = found.group(1)
        at += 1
    return blocks


def commands_of(block):
    """(command, what it prints) of a console block."""
    out = []
    for line in block.text.split("\n"):
        if line.startswith("$ "):
            out.append([line[2:], []])
        elif out and out[-1][0].endswith("\\") and not out[-1][1]:
            out[-1][0] += "\n" + line
        elif out:
            out[-1][1].append(line)
        else:
            raise AssertionError(f"line {block.line}: a console block begins with \"$ \"")
    return out


def line_matches(shape, line):
    parts = [re.escape(" ".join(part.split())) for part in shape.split("…")]
    return re.fullmatch(".*".join(parts), " ".join(line.split())) is not None


def matches(shapes, lines):
    if not shapes:
        return not lines
    if shapes[0].strip() == "…":
        return any(matches(shapes[1:], lines[n:]) for n in range(len(lines) + 1))
    return bool(lines) and line_matches(shapes[0], lines[0]) and matches(shapes[1:], lines[1:])


class Guide:
    def __init__(self, program, path):
        self.path = path
        self.program = program
        self.wrong = []
        self.count = 0

    def run(self):
        self.root = tempfile.mkdtemp(prefix="fairlead-guide-")
        self.work = self.root + "/work"
        os.makedirs(self.work + "/bin")
        os.symlink(self.program, self.work + "/bin/fairlead")
        self.environment = {
            "PATH": self.work + "/bin:" + os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": self.work, "FAIRLEAD_STATE": self.root + "/state", "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR", ""), "NO_COLOR": "1"}
        server = Server(self.program, self.root + "/state", "--simulate", "8xH100-80GB").start()
        try:
            for block in blocks_of(open(self.path).read()):
                self.run_block(block)
        finally:
            # The guide itself may have stopped it and started another.
            subprocess.run([self.program, "down"], env=self.environment, stderr=subprocess.DEVNULL)
            server.process.wait(30)
            if not self.wrong:
                shutil.rmtree(self.root, ignore_errors=True)

    def run_block(self, block):
        if block.mark.startswith("not run"):
            return
        if block.mark.startswith("file: "):
            with open(f"{self.work}/{block.mark[6:]}", "w") as file:
                file.write(block.text + "\n")
            return
        if block.kind not in ("sh", "console"):
            return
        lacking = [name for name in OPTIONAL
                   if re.search(rf"\b{name}\b", block.text) and not shutil.which(name)]
        if lacking:
            print(f"{self.path}:{block.line}: left out, there is no {', '.join(lacking)}")
            return
        self.count += 1
        if block.kind == "sh":
            self.expect(block, block.text, None)
        else:
            for command, shapes in commands_of(block):
                self.expect(block, command, shapes)

    def expect(self, block, command, shapes):
        # A script ends at its first failure; of a line the last word counts, as for who types it.
        script = ("set -e -o pipefail\n" if shapes is None else "set -o pipefail\n") + command
        try:
            ran = subprocess.run(["bash", "-c", script], cwd=self.work, env=self.environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, timeout=SECONDS, text=True)
            status, text = ran.returncode, ran.stdout
        except subprocess.TimeoutExpired as late:
            status, text = "still running", (late.stdout or b"").decode()
        where = f"{self.path}:{block.line}: "
        if status != 0:
            self.wrong.append(f"{where}status {status} of\n{command}\nwhich printed\n{text}")
        elif shapes is not None and not matches(shapes, text.rstrip("\n").split("\n")):
            shape = "\n".join(shapes)
            self.wrong.append(f"{where}{command}\nprinted\n{text}\nand the guide says\n{shape}")


def main():
    program = os.path.abspath(sys.argv[1])
    status = 0
    for path in sys.argv[2:]:
        guide = Guide(program, path)
        guide.run()
        print(f"{path}: {guide.count} blocks, {len(guide.wrong)} wrong")
        for text in guide.wrong:
            print(f"--- {text}")
            status = 1
        if guide.wrong:
            print(f"kept: {guide.root}")
    return status


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Rules of the house that neither compiler nor clang-tidy knows. Says where and why; ends with 1.

usage: tidy.py [ROOT]

Looks at the sources as text, needs no build, takes under a second. What each rule is for stands in
CONTRIBUTING.md. The tables below are the whole of what may be changed without touching code; which
.cc files may include a heavy header is said in tools/header_owners.txt.
"""

import re
import sys
from fnmatch import fnmatch
from pathlib import Path

# room: the rooms it may include besides itself (ARCHITECTURE.md, "Map").
ARROWS = {
    "base": set(),
    "net": {"base"},
    "model": {"base"},
    "store": {"base"},
    "node": {"base", "model"},
    "sched": {"base", "model"},
    "sim": {"base", "model", "sched"},
    "engine": {"base", "model", "node"},
    "control": {"base", "model", "store", "sched", "node", "engine"},
    "api": {"base", "model", "store", "sched", "node", "engine", "net", "control"},
    "cli": {"base", "model", "store", "sched", "sim", "net", "node", "engine", "control", "api"},
}

# Third-party headers by the beginning of their path, and the files (a regular expression over the
# path from the root) that may include them. Those of OWNED are only for the files in the table.
TEST_FILES = r"_test\.cc$|_testing\.(h|cc)$|/testing/|^tests/"
HEADERS = {
    "fmt/": r"",
    "boost/container/": r"",
    "boost/crc.hpp": r"\.cc$",
    "boost/intrusive/": r"",
    "boost/multiprecision/": r"\.cc$",
    "boost/unordered/": r"",
    "gtest/": TEST_FILES,
    "gmock/": TEST_FILES,
    "rapidcheck.h": TEST_FILES,
    "rapidcheck/": TEST_FILES,
    "benchmark/": r"^bench/|_bench\.cc$",
    "sqlite3.h": r"^src/store/sqlite\.cc$",
    "sodium.h": r"^src/control/secrets\.cc$",
    "sys/": r"^src/(?!model/|sched/)|^(tests|bench|fuzz)/",
    "linux/": r"^src/(node|engine)/.*\.cc$",
    "openssl/": r"^src/net/.*_testing\.cc$",
    "arpa/": r"^src/(net|api)/",
    "netinet/": r"^src/(net|api)/",
}
OWNED = ("nlohmann/", "yaml-cpp/", "CLI/", "curl/", "boost/asio", "boost/beast", "boost/system")
# Folders whose headers include heavy ones, and are seen only within their room.
INNER = ("net/wire/",)
OWNERS_FILE = "tools/header_owners.txt"

# (what, where, why). Matched against code without comments and strings.
EVERYWHERE = r""
PURE = r"^src/(model|sched)/"
CORE = r"^src/sched/(?!.*(_test\.cc|_testing\.h)$)"
NOT_A_MEMBER = r"(?<![\w.>])(?<!\w::)(std::|::)?"
BANNED = [
    (NOT_A_MEMBER + r"system\s*\(", EVERYWHERE, "system(): start programs by argument list"),
    (NOT_A_MEMBER + r"s?rand\s*\(", EVERYWHERE, "rand(): randomness comes from outside, by base/"),
    (NOT_A_MEMBER + r"time\s*\(\s*(nullptr|NULL|0)\s*\)", EVERYWHERE, "time(): time is handed in"),
    (r"\bstd::w?regex\b|#\s*include\s*<regex>", EVERYWHERE, "std::regex: slow to build and to run"),
    (r"\bco_(await|yield|return)\b", EVERYWHERE, "coroutines: g++ 12 miscompiles temporaries"),
    (
        r"\b(system|steady|high_resolution|utc|file)_clock\b"
        r"|\b(gettimeofday|clock_gettime|localtime(_r)?)\s*\(",
        PURE,
        "wall clock: the core is given its time",
    ),
    (
        r"#\s*include\s*<(fstream|iostream|cstdio|filesystem|thread|mutex|shared_mutex|"
        r"condition_variable|future|random|unistd\.h|fcntl\.h|stdio\.h)>",
        CORE,
        "the core does no I/O, has no threads and no randomness of its own",
    ),
]

LONG_FILE = 600
LONG_TEST = 1000
SCENARIO_KINDS = {".scn", ".yaml", ".json"}

# Comments, strings (raw ones too) and character literals, whichever begins first. The apostrophe of
# 1'000 is no literal.
LEXEME = re.compile(
    r"""//(?:\\\n|[^\n])*
    |/\*.*?\*/
    |\bR"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"
    |"(?:\\.|[^"\\\n])*"
    |(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.VERBOSE,
)


def blank(text, strings):
    """The text with comments (and the inside of strings) gone, line numbers kept."""

    def replace(match):
        lexeme = match.group(0)
        newlines = "\n" * lexeme.count("\n")
        if lexeme.startswith("/"):
            return " " + newlines
        return '""' + newlines if strings else lexeme

    return LEXEME.sub(replace, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


class Tidy:
    def __init__(self, root):
        self.root = root
        self.problems = []
        self.notes = []
        self.sources = sorted(
            path
            for folder in ("src", "tests", "bench", "fuzz")
            for path in (root / folder).rglob("*")
            if path.suffix in (".cc", ".h") and path.is_file()
        )
        self.owners = self.read_owners()

    def name(self, path):
        return path.relative_to(self.root).as_posix()

    def say(self, name, line, text):
        self.problems.append((name, line, text))

    def read_owners(self):
        """The table as (header prefix, pattern of .cc files)."""
        owners = []
        table = self.root / OWNERS_FILE
        if not table.is_file():
            return owners
        for number, line in enumerate(table.read_text().splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            inner = len(words) == 2 and any(words[1].startswith(f"src/{f}") for f in INNER)
            if (
                len(words) != 2
                or words[0] not in OWNED
                or not (words[1].endswith(".cc") or (inner and words[1].endswith(".h")))
            ):
                self.say(OWNERS_FILE, number, f"want one of {' '.join(OWNED)} and a .cc file")
            elif not any(fnmatch(self.name(path), words[1]) for path in self.sources):
                self.say(OWNERS_FILE, number, f"{words[1]} does not exist")
            else:
                owners.append((words[0], words[1]))
        return owners

    # -- one file ------------------------------------------------------------------------------

    def check_source(self, path):
        name = self.name(path)
        text = path.read_text(errors="replace")
        without_comments = blank(text, strings=False)
        code = blank(text, strings=True)
        self.check_includes(name, path, without_comments)
        self.check_banned(name, code)
        self.check_using(name, code)
        if path.suffix == ".h" and not text.lstrip().startswith(("//", "/*")):
            self.say(name, 1, "a header opens with what it is: a comment comes first")
        lines = text.count("\n")
        if lines > (LONG_TEST if re.search(TEST_FILES, name) else LONG_FILE):
            self.notes.append(f"{name}: {lines} lines; does it hold one idea?")

    def check_includes(self, name, path, text):
        room = name.split("/")[1] if name.startswith("src/") else None
        for match in re.finditer(r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"]", text, re.M):
            line, target = line_of(text, match.start(1)), match.group(2)
            if match.group(1) == '"':
                self.check_ours(name, path, line, room, target)
            else:
                self.check_theirs(name, line, target)

    def check_ours(self, name, path, line, room, target):
        other = target.split("/")[0]
        if "/" not in target or other not in ARROWS:
            if room is None and (path.parent / target).is_file():
                return
            self.say(name, line, f'"{target}": paths are rooted at src and begin with a room')
        elif room in ARROWS and other != room and other not in ARROWS[room]:
            may = ", ".join(sorted(ARROWS[room])) or "no other room"
            self.say(name, line, f'"{target}": {room} may include {may}, not {other}')
        elif other != room and target.startswith(INNER):
            self.say(name, line, f'"{target}" is only for {other} itself')

    def check_theirs(self, name, line, target):
        if target.split("/")[0] in ARROWS and "/" in target:
            self.say(name, line, f"<{target}>: our own headers are in quotes")
            return
        for prefix in OWNED:
            if target.startswith(prefix):
                if not any(prefix == p and fnmatch(name, files) for p, files in self.owners):
                    self.say(name, line, f"<{target}> is only for the files in {OWNERS_FILE}")
                return
        for prefix, where in HEADERS.items():
            if target.startswith(prefix):
                if not re.search(where, name):
                    self.say(name, line, f"<{target}> has no place here (HEADERS in tools/tidy.py)")
                return
        if "/" in target:
            self.say(name, line, f"<{target}>: unknown third party; add it to tools/tidy.py")

    def check_banned(self, name, code):
        for pattern, where, why in BANNED:
            if re.search(where, name):
                for match in re.finditer(pattern, code):
                    self.say(name, line_of(code, match.start()), why)

    def check_using(self, name, code):
        """`using namespace` is fine inside a function, never where others can see it."""
        inside = []  # one entry per open brace: does it open a namespace?
        token = r'\busing\s+namespace\b|\b(?:namespace\b[^;{}()=]*|extern\s*""\s*)\{|[{}]'
        for match in re.finditer(token, code):
            if match.group(0).startswith("using"):
                if all(inside):
                    line = line_of(code, match.start())
                    self.say(name, line, "using namespace outside a function")
            elif match.group(0) == "}":
                if inside:
                    inside.pop()
            else:
                inside.append(match.group(0) != "{")

    # -- the tree ------------------------------------------------------------------------------

    def cmake_files(self):
        yield self.root / "CMakeLists.txt"
        yield from sorted((self.root / "cmake").glob("*.cmake"))
        for folder in ("src", "tests", "bench", "fuzz"):
            yield from sorted((self.root / folder).rglob("CMakeLists.txt"))

    def check_file_lists(self):
        listed = set()
        for path in self.cmake_files():
            if not path.is_file():
                continue
            text = re.sub(r"#[^\n]*", "", path.read_text())
            for match in re.finditer(r"file\s*\(\s*GLOB[^)]*\.(cc|h)\b", text):
                line = line_of(text, match.start())
                self.say(self.name(path), line, "sources are listed by name, not by pattern")
            for word in re.findall(r"[^\s()\"]+\.cc\b", text):
                word = word.replace("${CMAKE_CURRENT_SOURCE_DIR}", str(path.parent))
                word = word.replace("${PROJECT_SOURCE_DIR}", str(self.root))
                listed.add((path.parent / word).resolve())
        for path in self.sources:
            if path.suffix == ".cc" and path.resolve() not in listed:
                self.say(self.name(path), 1, "no CMakeLists.txt lists it, so nobody builds it")

    def check_rooms(self):
        for room in sorted({self.name(path).split("/")[1] for path in self.sources
                            if self.name(path).startswith("src/")}):
            name = f"src/{room}"
            if room not in ARROWS:
                self.say(name, 1, "a room that has no row in ARROWS of tools/tidy.py")
            if not (self.root / name / "README.md").is_file():
                self.say(name, 1, "a room has a README.md: what lives here, what may enter")

    def check_scenarios(self):
        folder = self.root / "tests/scenarios"
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or path.name == "README.md":
                continue
            if path.suffix not in SCENARIO_KINDS:
                kinds = " ".join(sorted(SCENARIO_KINDS))
                self.say(self.name(path), 1, f"ctest runs {kinds}, so nobody runs it")
            elif path.suffix == ".scn" and not path.read_text(errors="replace").startswith("#"):
                self.say(self.name(path), 1, "a scenario opens with a comment: what it shows")

    def check_todos(self):
        for path in [*self.sources, *self.cmake_files(), self.root / "dev"]:
            if not path.is_file():
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                match = re.search(r"\b(TODO|FIXME|XXX)\b(\([^)]*\))?:?(.*)", line)
                if match and len(match.group(3).split()) < 3:
                    self.say(self.name(path), number, f"{match.group(1)} does not say what and why")

    def check_links(self):
        """What a document points to within the repository is there."""
        documents = [*self.root.glob("*.md")]
        for folder in ("src", "tests", "bench", "fuzz", "docs", "tools"):
            documents += (self.root / folder).rglob("*.md")
        for path in sorted(documents):
            text = path.read_text(errors="replace")
            text = re.sub(r"(?ms)^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text)
            for match in re.finditer(r"\]\(([^)\s#:]+)(#[^)\s]*)?\)", text):
                if not (path.parent / match.group(1)).exists():
                    line = line_of(text, match.start())
                    self.say(self.name(path), line, f"a link to nowhere: {match.group(1)}")

    def run(self):
        if not self.sources:
            self.say(".", 1, "no sources under src/: is this the root?")
        for path in self.sources:
            self.check_source(path)
        self.check_file_lists()
        self.check_rooms()
        self.check_scenarios()
        self.check_todos()
        self.check_links()
        return self


def main(arguments):
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print(__doc__)
        return 2
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    tidy = Tidy(root).run()
    for note in tidy.notes:
        print(f"note: {note}")
    for name, line, text in sorted(set(tidy.problems)):
        print(f"{name}:{line}: {text}")
    print(f"{len(tidy.sources)} sources, {len(set(tidy.problems))} to mend")
    return 1 if tidy.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

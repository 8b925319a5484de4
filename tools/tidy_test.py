#!/usr/bin/env python3
"""Feeds tidy.py trees that break one rule each: a rule that cannot fail guards nothing."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import tidy

GOOD = {
    "CMakeLists.txt": "add_subdirectory(src/base)\n",
    "tools/header_owners.txt": "# who may include what\nnlohmann/ src/model/json.cc\n",
    "src/base/README.md": "base\n",
    "src/base/CMakeLists.txt": "fairlead_library(NAME base SOURCES id.cc id.h)\n",
    "src/base/id.h": "// Ids.\n#pragma once\n",
    "src/base/id.cc": '#include "base/id.h"\n\n#include <fmt/format.h>\n',
    "src/model/README.md": "model\n",
    "src/model/CMakeLists.txt": "add_library(m ${CMAKE_CURRENT_SOURCE_DIR}/json.cc) # other.cc\n",
    "src/model/json.cc": '#include "base/id.h"\n#include <nlohmann/json.hpp>\n',
    "src/sched/README.md": "sched\n",
    "src/sched/CMakeLists.txt": "fairlead_library(NAME sched SOURCES place/fit.cc)\n"
    "fairlead_test(NAME sched SOURCES place/fit_test.cc)\n",
    "src/sched/place/fit.cc": '#include "model/x.h"\n// system() and rand() by name only\n'
    'const char* kText = "time(nullptr) using namespace std;";\n'
    "int operating_system(int x) { using namespace fmt; return x.time(0) + 1'000; }\n",
    "src/sched/place/fit_test.cc": "#include <gtest/gtest.h>\n#include <random>\n",
    "tests/scenarios/gang.scn": "# A gang waits whole.\n",
    "tests/scenarios/README.md": "How to write one\n",
}


class TidyTest(unittest.TestCase):
    def run_on(self, changes):
        """Runs tidy.py on the good tree with these files changed; None takes one away."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **changes}.items():
                if text is not None:
                    path = Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                code = tidy.main([folder])
            return code, output.getvalue()

    def expect(self, text, changes):
        code, output = self.run_on(changes)
        self.assertEqual(code, 1, output)
        self.assertIn(text, output)

    def expect_in_fit(self, text, line):
        self.expect(text, {"src/sched/place/fit.cc": f"// First line.\n{line}\n"})

    def test_a_good_tree_passes(self):
        code, output = self.run_on({})
        self.assertEqual(code, 0, output)
        self.assertIn("5 sources, 0 to mend", output)

    def test_an_empty_tree_is_not_a_good_tree(self):
        self.expect("is this the root", {name: None for name in GOOD})

    def test_arrows_do_not_run_back(self):
        self.expect("base may include no other room, not model",
                    {"src/base/id.h": '// Ids.\n#include "model/x.h"\n'})
        self.expect_in_fit("fit.cc:2: ", '#include "sim/x.h"')
        self.expect("not sim", {"src/sched/place/fit_test.cc": '#include "sim/x.h"\n'})

    def test_include_paths_are_rooted(self):
        self.expect_in_fit("rooted at src", '#include "fit.h"')
        self.expect_in_fit("rooted at src", '#include "../base/id.h"')
        self.expect_in_fit("in quotes", "#include <base/id.h>")

    def test_heavy_headers_stay_with_their_owners(self):
        self.expect_in_fit("header_owners.txt", "#include <nlohmann/json.hpp>")
        self.expect_in_fit("header_owners.txt", "#include <yaml-cpp/yaml.h>")
        self.expect("header_owners.txt", {"src/base/id.h": "// Ids.\n#include <CLI/CLI.hpp>\n"})

    def test_what_includes_heavy_headers_stays_in_its_room(self):
        self.expect("only for net itself", {"src/cli/README.md": "cli\n", "src/cli/CMakeLists.txt":
                    "a.cc\n", "src/cli/a.cc": '#include "net/wire/stream.h"\n'})
        table = "tools/header_owners.txt"
        row = GOOD[table] + "boost/asio src/net/wire/a.h\n"
        files = {"src/net/README.md": "net\n", "src/net/wire/a.h":
                 "// A.\n#include <boost/asio/buffer.hpp>\n", table: row}
        code, output = self.run_on(files)
        self.assertEqual(code, 0, output)

    def test_owners_must_exist_and_be_sources(self):
        table = "tools/header_owners.txt"
        self.expect("gone.cc does not exist", {table: GOOD[table] + "nlohmann/ src/base/gone.cc\n"})
        self.expect(f"{table}:3: want one of", {table: GOOD[table] + "nlohmann/ src/base/id.h\n"})

    def test_other_third_parties_have_their_places(self):
        self.expect_in_fit("unknown third party", "#include <absl/strings/str_cat.h>")
        self.expect_in_fit("has no place here", "#include <gtest/gtest.h>")
        self.expect_in_fit("has no place here", "#include <benchmark/benchmark.h>")
        self.expect_in_fit("has no place here", "#include <sys/stat.h>")

    def test_banned_calls(self):
        self.expect_in_fit("src/sched/place/fit.cc:2: system()", 'int x = std::system("ls");')
        self.expect_in_fit("system()", 'int x = ::system("ls");')
        self.expect_in_fit("rand()", "int x = rand();")
        self.expect_in_fit("rand()", "void f() { srand(1); }")
        self.expect_in_fit("time()", "auto x = std::time(nullptr);")
        self.expect_in_fit("time()", "auto x = time( NULL );")
        self.expect_in_fit("std::regex", "std::regex pattern;")
        self.expect_in_fit("std::regex", "#include <regex>")
        self.expect_in_fit("coroutines", "void f() { co_await g(); }")

    def test_the_core_has_no_clock_threads_or_files(self):
        self.expect_in_fit("wall clock", "auto t = std::chrono::steady_clock::now();")
        self.expect("wall clock", {"src/model/json.cc": "auto t = system_clock::now();\n"})
        test = "src/sched/place/fit_test.cc"
        self.expect("wall clock", {test: "auto t = system_clock::now();\n"})
        self.expect_in_fit("no I/O", "#include <fstream>")
        self.expect_in_fit("no I/O", "#include <thread>")

    def test_using_namespace_only_inside_functions(self):
        self.expect_in_fit("using namespace", "using namespace std;")
        self.expect_in_fit("using namespace", "namespace a::b {\nnamespace {\nusing namespace c;\n}}")
        self.expect_in_fit("using namespace", "void f() { int x{1}; }\nusing namespace c;")

    def test_raw_strings_do_not_hide_code(self):
        self.expect_in_fit("rand()", 'auto s = R"x(" // )x"; int y = rand();')

    def test_headers_open_with_a_comment(self):
        self.expect("opens with what it is", {"src/base/id.h": "#pragma once\n// Ids.\n"})

    def test_every_source_is_built(self):
        self.expect("src/base/new.cc:1: no CMakeLists", {"src/base/new.cc": "\n"})
        self.expect("src/model/other.cc:1: no CMakeLists", {"src/model/other.cc": "\n"})
        glob = "file(GLOB sources *.cc)\nid.cc\n"
        self.expect("not by pattern", {"src/base/CMakeLists.txt": glob})

    def test_every_room_is_known_and_explained(self):
        self.expect("src/base:1: a room has a README.md", {"src/base/README.md": None})
        self.expect("no row in ARROWS", {"src/attic/a.h": "// A.\n", "src/attic/README.md": "a\n"})

    def test_scenarios_are_run_and_explained(self):
        self.expect("nobody runs it", {"tests/scenarios/gang.txt": "# A gang.\n"})
        self.expect("opens with a comment", {"tests/scenarios/gang.scn": "cluster 1 node\n"})

    def test_todos_say_what(self):
        self.expect_in_fit("TODO does not say", "// TODO")
        self.expect_in_fit("TODO does not say", "// TODO: later")
        code, output = self.run_on({"src/base/id.h": "// Ids.\n// TODO: wrap at 2^64, see 3.2.\n"})
        self.assertEqual(code, 0, output)

    def test_links_lead_somewhere(self):
        text = "[up](../src/base/id.h#x) [web](https://example.org/b.md)\n```\n[](no)\n```\n"
        code, output = self.run_on({"docs/a.md": text})
        self.assertEqual(code, 0, output)
        self.expect("docs/a.md:2: a link to nowhere: b.md", {"docs/a.md": "\n[b](b.md)\n"})

    def test_long_files_are_reported_and_pass(self):
        code, output = self.run_on({"src/base/id.h": "// Ids.\n" * 601})
        self.assertEqual(code, 0, output)
        self.assertIn("601 lines", output)


if __name__ == "__main__":
    unittest.main()

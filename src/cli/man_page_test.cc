// Manual pages: what troff would take for a command of its own is written otherwise.
#include "cli/man_page.h"

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

TEST(ManPage, HasEveryCommandOnItsPage) {
  CommandOutline program{"fairlead", "Shares GPUs", {"node"}, {}, {}};
  CommandOutline node{"fairlead node", "The machines", {"list"}, {}, {}};
  CommandOutline list{
      "fairlead node list",
      "List them",
      {},
      {{{"-o", "--output-format"}, ".dots and \\slashes", {"table|json", {}, false, {}}}},
      {{"NODE", {}, false, "nodes"}}};
  const std::vector<CommandOutline> commands{program, node, list};
  const std::vector<ManPage> pages = man_pages(commands, "fairlead 1.0");
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages[0].file, "fairlead.1");
  EXPECT_EQ(pages[1].file, "fairlead-node.1");
  EXPECT_EQ(pages[1].text,
            ".TH FAIRLEAD\\-NODE 1 \"\" \"fairlead 1.0\"\n"
            ".SH NAME\nfairlead\\-node \\- The machines\n"
            ".SH SYNOPSIS\n.B fairlead node\nCOMMAND\n"
            ".SH FAIRLEAD NODE LIST\n.B fairlead node list\n[OPTIONS]\nNODE\n.P\nList them\n"
            ".TP\n\\fB\\-o, \\-\\-output\\-format\\fR \\fItable|json\\fR\n"
            "\\&.dots and \\eslashes\n");
}

TEST(ManPage, OfTheWholeProgramAreWritten) {
  const std::vector<CommandOutline> outline = program_outline();
  const std::vector<ManPage> pages = man_pages(outline, "fairlead 1.0");
  EXPECT_EQ(pages.size(), outline.front().subcommands.size() + 1);
}

}  // namespace
}  // namespace fairlead::cli

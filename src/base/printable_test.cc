// Text from outside: what may go to a terminal, and how the rest is shown.
#include "base/printable.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Printable, LeavesTextOfAllLanguagesAlone) {
  for (const char* text : {"", "gpu-0", "Zürich", "训练", "🚢"}) {
    EXPECT_TRUE(is_printable(text)) << text;
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, ShowsWhatSteersATerminalAsBytes) {
  EXPECT_EQ(printable("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "31m"),
            "a\\xc2\\x9b31m");  // the same in one character
  EXPECT_EQ(printable("\x7f"), "\\x7f");
}

TEST(Printable, ShowsWhatTurnsTheDirectionAsBytes) {
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(printable("a\xE2\x81\xA6"
                      "b"),
            "a\\xe2\\x81\\xa6b");
}

TEST(Printable, ShowsWhatIsNoUtf8AsBytes) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xC3"), "\\xc3");                    // cut short
  EXPECT_EQ(printable("\xC0\x80"), "\\xc0\\x80");           // too long a form
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_FALSE(is_printable("\xff"));
}

}  // namespace
}  // namespace fairlead

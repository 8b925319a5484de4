#include "api/listeners.h"

#include <gtest/gtest.h>

namespace fairlead::api {
namespace {

constexpr std::string_view kHead =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n";

std::string row(std::string_view local, std::string_view state, std::string_view uid,
                std::string_view inode) {
  return "   0: " + std::string(local) + " 00000000:0000 " + std::string(state) +
         " 00000000:00000000 00:00000000 00000000  " + std::string(uid) + "        0 " +
         std::string(inode) + " 1 0000000000000000 100 0 0 10 0\n";
}

std::vector<std::string> addresses(const std::string& table, std::uint16_t port = 8080) {
  std::vector<std::string> out;
  for (const LocalListener& listener : listeners_in(table, port)) out.push_back(listener.address);
  return out;
}

// 8080 is 1F90.
TEST(Listeners, AreThoseThatLoopbackReaches) {
  const std::string table = std::string(kHead) + row("0100007F:1F90", "0A", "1000", "7") +
                            row("00000000:1F90", "0A", "1001", "8") +
                            row("0100000A:1F90", "0A", "1002", "9");  // 10.0.0.1
  const auto found = listeners_in(table, 8080);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].address, "127.0.0.1");
  EXPECT_EQ(found[0].uid, 1000U);
  EXPECT_EQ(found[0].inode, 7U);
  EXPECT_EQ(found[1].uid, 1001U);
}

TEST(Listeners, OfTheSixthVersionAreReachedOnItsOwnLoopback) {
  EXPECT_EQ(addresses(row("00000000000000000000000001000000:1F90", "0A", "0", "1")),
            std::vector<std::string>{"::1"});
  EXPECT_EQ(addresses(row("00000000000000000000000000000000:1F90", "0A", "0", "1")),
            std::vector<std::string>{"::1"});
  EXPECT_EQ(addresses(row("0000000000000000FFFF00000100007F:1F90", "0A", "0", "1")),
            std::vector<std::string>{"127.0.0.1"});
}

TEST(Listeners, OfAnotherPortOrStateAreNone) {
  EXPECT_TRUE(addresses(row("0100007F:1F91", "0A", "0", "1")).empty());
  EXPECT_TRUE(addresses(row("0100007F:1F90", "01", "0", "1")).empty());
}

TEST(Listeners, WhatIsNoTableHasNone) {
  for (const char* table :
       {"", "\n", "a b c", "0: x y 0A z z z 0 0 1", "0: :1F90 y 0A z z z 0 0 1",
        "0: 0100007F:1F90 y 0A z z z -1 0 1", "0: 0100007F:1F90 y 0A z z z 0 0"}) {
    EXPECT_TRUE(listeners_in(table, 8080).empty()) << table;
  }
}

}  // namespace
}  // namespace fairlead::api

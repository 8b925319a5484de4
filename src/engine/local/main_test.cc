// The test program is its own launcher.
#include <gtest/gtest.h>

#include "engine/local/launcher.h"

int main(int argc, char** argv) {
  if (const auto status = fairlead::engine::launcher_main(argc, argv)) return *status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

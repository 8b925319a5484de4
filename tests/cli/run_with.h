// The program run inside the test, and what it left.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/app.h"

namespace fairlead::cli {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

inline Outcome run_with(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  CliContext context{out, err};
  const int status = run(arguments, context);
  return {status, out.str(), err.str()};
}

}  // namespace fairlead::cli

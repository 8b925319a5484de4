#include <cstdlib>
#include <iostream>
#include <unistd.h>

#include "cli/app.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const char* no_color = std::getenv("NO_COLOR");
  fairlead::cli::CliContext context{std::cout, std::cerr};
  context.terminal = ::isatty(STDERR_FILENO) == 1;
  context.color = context.terminal && (no_color == nullptr || *no_color == '\0');
  return fairlead::cli::run(arguments, context);
}

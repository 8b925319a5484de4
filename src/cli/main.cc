#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string_view>
#include <unistd.h>

#include "cli/app.h"
#include "engine/local/launcher.h"

int main(int argc, char** argv) {
  // The engine runs this program again to start tasks from.
  if (const auto status = fairlead::engine::launcher_main(argc, argv)) return *status;
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const char* no_color = std::getenv("NO_COLOR");
  fairlead::cli::CliContext context{std::cout, std::cerr};
  if (argc > 0) {
    const std::string_view path = argv[0];
    if (path.substr(path.rfind('/') + 1) == "runai") context.program = "runai";
  }
  context.in_terminal = ::isatty(STDIN_FILENO) == 1;
  context.out_terminal = ::isatty(STDOUT_FILENO) == 1;
  context.terminal = ::isatty(STDERR_FILENO) == 1;
  context.color = context.terminal && (no_color == nullptr || *no_color == '\0');
  // A limit on the size of files is an error of the write, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return fairlead::cli::run(arguments, context);
  } catch (const std::bad_alloc&) {
    std::cerr << "error: there is not enough memory\n";
    return 1;
  }
}

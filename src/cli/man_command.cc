// fairlead man FOLDER: writes a manual page for the program and for each command.
#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>

#include "base/output_file.h"
#include "cli/commands.h"
#include "cli/man_page.h"
#include "cli/output.h"

namespace fairlead::cli {
namespace {

int write_pages(const CLI::App& program, const std::string& folder, CliContext& context) {
  for (const ManPage& page : man_pages(outline_of(program), version_text())) {
    const auto written = write_file(folder + "/" + page.file, page.text);
    if (!written) return report(context, written.error());
    context.out << page.file << "\n";
  }
  return 0;
}

}  // namespace

void add_man_command(CLI::App& app, CliContext& context) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("man", "Write manual pages");
  command->add_option("FOLDER", *folder, "Where to; it must be there")->required()->type_name("");
  constexpr Example kExamples[] = {
      {"read about a command", "fairlead man /tmp && man /tmp/fairlead-submit.1"},
  };
  command->footer(examples(kExamples));
  command->callback(
      [&app, folder, &context] { context.exit_status = write_pages(app, *folder, context); });
}

}  // namespace fairlead::cli

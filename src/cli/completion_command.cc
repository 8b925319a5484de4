// fairlead completion SHELL: prints what teaches a shell to complete commands and options.
#include <memory>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/completion_script.h"
#include "cli/output.h"

namespace fairlead::cli {
namespace {

struct CompletionOptions {
  std::string shell;
  std::string output;
};

int print_completion(const CLI::App& program, const CompletionOptions& options,
                     CliContext& context) {
  const std::vector<CommandOutline> commands = outline_of(program);
  return write_output(context, options.output,
                      options.shell == "bash"  ? bash_completion(commands)
                      : options.shell == "zsh" ? zsh_completion(commands)
                                               : fish_completion(commands));
}

}  // namespace

void add_completion_command(CLI::App& app, CliContext& context) {
  auto options = std::make_shared<CompletionOptions>();
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that teaches a shell to complete");
  add_choice(*command->add_option("SHELL", options->shell, "Which shell")->required(),
             {"bash", "zsh", "fish"});
  add_output_option(*command, options->output);
  constexpr Example kExamples[] = {
      {"in this bash", "source <(fairlead completion bash)"},
      {"in every zsh, from a folder of its fpath",
       "fairlead completion zsh --output ~/.zsh/completions/_fairlead"},
      {"in every fish",
       "fairlead completion fish --output ~/.config/fish/completions/fairlead.fish"},
  };
  command->footer(examples(kExamples));
  command->callback([&app, options, &context] {
    context.exit_status = print_completion(app, *options, context);
  });
}

}  // namespace fairlead::cli

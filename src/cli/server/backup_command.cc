// fairlead backup: the state folder as it is at one moment, while a server runs on it or not.
#include <filesystem>
#include <memory>
#include <ostream>
#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "cli/client/client_options.h"
#include "cli/commands.h"
#include "store/sqlite_store.h"
#include "store/state_dir.h"

namespace fairlead::cli {
namespace {

namespace fs = std::filesystem;

struct BackupOptions {
  std::string folder;
  std::string state;
};

// What tasks wrote and how they ended. The store was copied before: what ended meanwhile is known
// to the copy, and what began meanwhile is no part of it. Files may go while they are copied.
Result<void> copy_attempts(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  if (error) return fail(ErrorCode::kIo, to.string() + " cannot be made: " + error.message());
  if (!fs::exists(from, error)) return {};
  for (fs::recursive_directory_iterator it(from, error), end; !error && it != end;
       it.increment(error)) {
    const fs::path target = to / fs::relative(it->path(), from, error);
    std::error_code gone;
    if (it->is_directory(gone)) {
      fs::create_directory(target, it->path(), gone);
    } else if (it->is_regular_file(gone)) {
      fs::copy_file(it->path(), target, gone);
    }
    if (gone && gone != std::errc::no_such_file_or_directory) {
      return fail(
          ErrorCode::kIo,
          it->path().string() + " cannot be copied to " + target.string() + ": " + gone.message(),
          "make room, or name a folder elsewhere");
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return fail(ErrorCode::kIo, from.string() + " cannot be read: " + error.message());
  }
  return {};
}

Result<void> copy_state(const fs::path& state, const fs::path& folder) {
  const mode_t before = ::umask(0077);
  const int made = ::mkdir(folder.c_str(), 0700);
  const int why = errno;
  Result<void> done;
  if (made != 0) {
    done = fail(why == EEXIST ? ErrorCode::kAlreadyExists : ErrorCode::kIo,
                "the folder " + folder.string() +
                    " cannot be made: " + std::error_code(why, std::generic_category()).message(),
                "name one that is not there yet, in a folder that is");
  } else {
    done = store::copy_sqlite_store((state / "store.db").string(), (folder / "store.db").string());
    if (done) done = copy_attempts(state / "engine" / "attempts", folder / "engine" / "attempts");
    std::error_code ignored;
    if (!done) fs::remove_all(folder, ignored);
  }
  ::umask(before);
  return done;
}

}  // namespace

void add_backup_command(CLI::App& app, CliContext& context) {
  constexpr Example kExamples[] = {
      {"today's", "fairlead backup /var/backups/fairlead-$(date +%F)"},
      {"restored, while no server runs",
       "cp -a /var/backups/fairlead-2026-01-31 /var/lib/fairlead"},
  };
  auto options = std::make_shared<BackupOptions>();
  CLI::App& command =
      add_verb(app, "backup", "Copy all that the server of this machine keeps", kExamples);
  command.add_option("FOLDER", options->folder, "Where to; it must not be there yet")
      ->required()
      ->type_name("");
  command.add_option("--state", options->state, "The state directory to copy")
      ->type_name("DIR")
      ->default_str(store::default_state_dir());
  on_run(command, context, [options, &context] {
    if (options->state.empty()) options->state = store::default_state_dir();
    const auto done = copy_state(options->state, options->folder);
    if (!done) return report(context, done.error());
    context.err << "Copied " << options->state << " to " << options->folder << "\n";
    return 0;
  });
}

}  // namespace fairlead::cli

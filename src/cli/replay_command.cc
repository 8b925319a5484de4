// fairlead replay LOG: tells a recorded log to a new core and holds every decision against it.
#include <charconv>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/printable.h"
#include "cli/commands.h"
#include "cli/log_file.h"
#include "cli/output.h"
#include "cli/replay_report.h"
#include "cli/simulate_options.h"
#include "model/document.h"
#include "sim/log/replayer.h"

namespace fairlead::cli {
namespace {

constexpr int kExitDiffers = 1;

struct ReplayArguments {
  std::string log;
  std::string until;
  std::string show;
  std::string why;
  OutputFormat format = OutputFormat::kTable;
  std::string output;
};

// Where to stop: after a record, or before the first one that is later than a time.
struct StopAt {
  std::optional<std::int64_t> record;
  std::optional<Instant> at;
  std::optional<Duration> after;  // since the first record

  // The time that was asked for; nullopt if it was a record, or nothing.
  std::optional<Instant> time(Instant start) const {
    return after ? std::optional(start + *after) : at;
  }
  bool before(const sim::LogRecord& next, const sim::Replayer& replayer) const {
    if (record) return replayer.counts().records >= *record;
    const Instant start = replayer.counts().records == 0 ? next.at : replayer.start();
    const std::optional<Instant> until = time(start);
    return until && next.at > *until;
  }
};

Result<StopAt> parse_stop(const std::string& text) {
  StopAt stop;
  if (text.empty()) return stop;
  const auto placed = [](Error error) {
    error.field = "--until";
    error.cure = "write 2h (after the first record), 2026-01-31T08:00:00Z, or @120 (a record)";
    return fail(std::move(error));
  };
  if (text.front() == '@') {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + 1, end, number);
    if (read.ec != std::errc{} || read.ptr != end || number < 1) {
      return placed({ErrorCode::kInvalidArgument, "\"" + text + "\" is no record", {}, {}, {}});
    }
    stop.record = number;
  } else if (text.find('T') != std::string::npos) {
    const auto at = parse_rfc3339(text);
    if (!at) return placed(at.error());
    stop.at = *at;
  } else {
    const auto after = parse_duration(text);
    if (!after) return placed(after.error());
    stop.after = *after;
  }
  return stop;
}

bool wanted(const sim::LogRecord& record, const std::string& show) {
  if (show.empty()) return false;
  const bool decided = std::holds_alternative<sim::DecisionRecord>(record.what);
  return show == "all" || (show == "decisions") == decided;
}

// Plays until the stop. Lines that are asked for go out at once, or into the report for a program.
Result<ReplayReport> play(const ReplayArguments& in, const StopAt& stop, sim::Replayer& replayer,
                          bool at_once, CliContext& context) {
  ReplayReport report;
  report.file = document_name(in.log);
  report.why = in.why;
  while (true) {
    FAIRLEAD_ASSIGN(const sim::LogRecord* next, replayer.peek());
    report.ended = next == nullptr;
    report.at = replayer.now();
    if (next == nullptr) return report;
    if (stop.before(*next, replayer)) {
      report.at = std::max(report.at, stop.time(replayer.start()).value_or(report.at));
      return report;
    }
    FAIRLEAD_ASSIGN(const auto record, replayer.step());
    if (!record) return report;
    if (!wanted(*record, in.show)) continue;
    for (std::string& line : record_lines(*record, replayer.start())) {
      if (at_once) {
        context.out << printable(line) << "\n";
      } else {
        report.shown.push_back(std::move(line));
      }
    }
  }
}

int replay(const ReplayArguments& in, CliContext& context) {
  const auto stop = parse_stop(in.until);
  if (!stop) return report(context, stop.error());
  if (!check_outputs(context, {{"--output", in.output, true}}, {in.log})) {
    return context.exit_status;
  }
  const auto file = open_log(in.log);
  if (!file) return report(context, file.error());
  auto replayer = sim::Replayer::open(**file, document_name(in.log));
  if (!replayer) return report(context, replayer.error());
  const bool at_once = in.format == OutputFormat::kTable && (in.output.empty() || in.output == "-");
  const auto played = play(in, *stop, *replayer, at_once, context);
  if (!played) return report(context, played.error());
  if (const auto& torn = replayer->torn()) {
    report_warnings(
        context, std::vector{Error{ErrorCode::kIo,
                                   "ends in the middle of a record: the last " +
                                       std::to_string(torn->bytes) + " bytes are left out",
                                   document_name(in.log) + ", byte " + std::to_string(torn->offset),
                                   {},
                                   {}}});
  }
  if (!in.why.empty() && !replayer->difference()) {
    const auto why = why_lines(in.why, replayer->core());
    if (!why) return report(context, why.error());
  }
  std::string text;
  if (in.format == OutputFormat::kJson) {
    text = replay_json_text(*played, *replayer);
  } else {
    for (const std::string& line : played->shown) text += printable(line) + "\n";
    text += replay_text(*played, *replayer);
  }
  const int status = write_output(context, in.output, text);
  if (status != 0) return status;
  return replayer->difference() ? kExitDiffers : 0;
}

}  // namespace

void add_replay_command(CLI::App& app, CliContext& context) {
  auto options = std::make_shared<ReplayArguments>();
  CLI::App* command =
      app.add_subcommand("replay", "Tell a recorded log to a new core and compare every decision");
  command->add_option("LOG", options->log, "A recorded log; - is standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("--until", options->until,
                   "Stop there: a time (2h after the first record, or a date) or a record (@120)")
      ->type_name("TIME|@RECORD");
  add_choice(*command->add_option("--show", options->show, "Print these as they are replayed"),
             {"decisions", "events", "all"});
  command
      ->add_option("--why", options->why,
                   "Say all reasons for which this workload waits at the stop")
      ->type_name("WORKLOAD");
  add_format_option(*command, options->format, {OutputFormat::kTable, OutputFormat::kJson});
  add_output_option(*command, options->output);
  constexpr Example kExamples[] = {
      {"does this program decide as it did", "fairlead replay cluster.log"},
      {"why train-b waited after two hours",
       "fairlead replay cluster.log --until 2h --why train-b"},
      {"everything that was decided", "fairlead replay cluster.log --show decisions"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = replay(*options, context); });
}

}  // namespace fairlead::cli

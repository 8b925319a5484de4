#include "cli/client/submit.h"

#include <algorithm>
#include <ostream>

#include "cli/client/answer.h"
#include "cli/client/apply.h"
#include "cli/client/client_options.h"
#include "cli/client/follow.h"
#include "cli/client/foreign_flags.h"
#include "cli/client/outside.h"
#include "cli/client/session.h"
#include "cli/client/voice.h"
#include "cli/client/workload_document.h"

namespace fairlead::cli {
namespace {

constexpr int kNameTries = 20;  // others may take a made-up name at the same time

std::string document_text(const Tree& document, OutputFormat format) {
  return format == OutputFormat::kJson ? to_json(document) : to_yaml(document);
}

Result<Reply> post(ApiClient& api, const std::string& body, bool dry_run) {
  const Query query = dry_run ? Query{{"dryRun", "true"}} : Query{{"plan", "true"}};
  return api.send("POST", api_path({"workloads"}), query, body,
                  {{"Idempotency-Key", new_idempotency_key()}});
}

// With a name as it is stated, or one that is free when it is used.
Result<Reply> create(ApiClient& api, const SubmitOptions& options, const std::string& name,
                     const Surroundings& around) {
  const bool dry_run = !options.dry_run.empty();
  if (!name.empty()) {
    FAIRLEAD_ASSIGN(const Tree document,
                    workload_document(options.flags, name, around, DocumentForm::kSent));
    return post(api, to_json(document), dry_run);
  }
  for (int tries = 1;; ++tries) {
    FAIRLEAD_ASSIGN(const std::string made,
                    next_name(api, options.flags.name_prefix, options.flags.project));
    FAIRLEAD_ASSIGN(const Tree document,
                    workload_document(options.flags, made, around, DocumentForm::kSent));
    auto reply = post(api, to_json(document), dry_run);
    if (reply || reply.error().code != ErrorCode::kAlreadyExists || tries == kNameTries) {
      return reply;
    }
  }
}

// The data of a submission, or with `run` what is said before the log.
void tell(const SubmitOptions& options, const Reply& reply, CliContext& context) {
  switch (options.format) {
    case OutputFormat::kJson:
    case OutputFormat::kYaml:
      print_reply(context, options.format, reply);
      return;
    case OutputFormat::kName:
      context.out << text_at(reply.root(), "name") << "\n";
      return;
    case OutputFormat::kTable:
    case OutputFormat::kWide:
      break;
  }
  std::ostream& out = options.follow ? context.err : context.out;
  if (!options.dry_run.empty()) {
    out << text_at(reply.root(), "name") << " would be submitted\n";
    return;
  }
  out << submission_text(reply.root(), wall_clock(), context.program);
  if (options.follow) out << "       Ctrl-C leaves it running\n";
  out << std::flush;
}

int follow_submitted(ApiClient& api, const Reply& reply, CliContext& context) {
  const std::string name = text_at(reply.root(), "name");
  FollowOptions follow;
  follow.say_state = true;
  follow.keep_code = true;
  follow.if_interrupted = name + " runs on; see: " + context.program + " logs -f " + name;
  return follow_workload(api, text_at(reply.root(), "id"), follow, context);
}

// Every flag's slip before anything is asked of a server.
Result<std::string> checked_name(SubmitOptions& options) {
  SubmitFlags& flags = options.flags;
  if (options.follow && flags.name.empty() && flags.name_option.empty() &&
      flags.name_prefix.empty()) {
    flags.name_prefix = name_of_command(flags.command);
  }
  return stated_name(flags);
}

}  // namespace

std::string name_of_command(const std::vector<std::string>& command) {
  const auto plain = [](std::string path) {
    path = path.substr(path.rfind('/') + 1);
    for (const char* ending : {".py", ".sh"}) {
      if (path.ends_with(ending)) path.resize(path.size() - 3);
    }
    std::string out;
    for (const char c : path) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      const bool capital = c >= 'A' && c <= 'Z';
      if (letter) out += c;
      if (capital) out += static_cast<char>(c - 'A' + 'a');
      if (!letter && !capital && !out.empty() && out.back() != '-') out += '-';
    }
    while (out.ends_with('-')) out.pop_back();
    return out.substr(0, 40);
  };
  for (const std::string& word : command) {
    if (word.ends_with(".py") || word.ends_with(".sh")) return plain(word);
  }
  const std::string name = command.empty() ? "" : plain(command.front());
  return name.empty() ? "run" : name;
}

int submit(SubmitOptions options, CliContext& context) {
  const ForeignVerdict foreign = judge_foreign(options.flags.foreign);
  report_warnings(context, foreign.warnings);
  if (!foreign.errors.empty()) return report(context, foreign.errors);
  options.flags.command = context.after_dashes;
  if (!options.files.empty()) {
    return apply_files(options.files, options.connection, options.flags.project,
                       !options.dry_run.empty(), ApplyMode::kCreate, context);
  }
  const auto name = checked_name(options);
  if (!name) return report(context, name.error());
  Surroundings around = surroundings();
  const auto connection = find_connection(options.connection);
  if (!connection && options.dry_run != "client") return report(context, connection.error());
  if (connection) {
    if (options.flags.project.empty()) options.flags.project = connection->project;
    // Of another machine this folder says nothing.
    if (connection->socket.empty()) around.folder.clear();
  }
  const std::string shown = name->empty() ? options.flags.name_prefix + "-1" : *name;
  const auto document = workload_document(options.flags, shown, around, DocumentForm::kWhole);
  if (!document) return report(context, document.error());
  if (options.dry_run == "client") {
    context.out << document_text(*document, options.format);
    return 0;
  }
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const auto reply = create(*api, options, *name, around);
  if (!reply) return report(context, reply.error());
  tell(options, *reply, context);
  if (!options.dry_run.empty()) return 0;
  if (options.flags.attach) {
    return attach_when_running(*api, text_at(reply->root(), "id"), context);
  }
  return options.follow ? follow_submitted(*api, *reply, context) : 0;
}

}  // namespace fairlead::cli

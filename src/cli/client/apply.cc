#include "cli/client/apply.h"

#include <algorithm>
#include <ostream>

#include "base/nearest.h"
#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/outside.h"

namespace fairlead::cli {
namespace {

struct Kind {
  std::string_view name;        // in documents
  std::string_view collection;  // in paths
  bool replaceable;
};

constexpr Kind kKinds[] = {{"Workload", "workloads", false},      {"Project", "projects", true},
                           {"Department", "departments", true},   {"NodePool", "node-pools", true},
                           {"Reservation", "reservations", true}, {"User", "users", true}};

struct Part {
  const Kind* kind;
  std::string name;
  std::string body;
  std::string where;  // FILE:LINE
};

Result<Part> part_of(const Value& root, const std::string& file, const std::string& project) {
  Part part{kKinds, text_at(root, "name"), {}, file + ":" + std::to_string(root.line())};
  const std::string kind = text_at(root, "kind", "Workload");
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& known) { return known.name == kind; });
  if (found == std::end(kKinds)) {
    std::vector<std::string> names;
    for (const Kind& known : kKinds) names.emplace_back(known.name);
    return fail(Error{ErrorCode::kInvalidArgument,
                      "a server keeps no \"" + kind + "\"; it keeps " + listing(names),
                      part.where,
                      "kind",
                      {}});
  }
  if (!root.is_map() || part.name.empty()) {
    return fail(Error{ErrorCode::kInvalidArgument, "the document has no name", part.where, "name",
                      "add one"});
  }
  part.kind = found;
  part.body = body_of(root, found->name == "Workload" ? project : "");
  return part;
}

std::string path_of(const Part& part, bool with_name) {
  std::vector<std::string> parts{std::string(part.kind->collection)};
  if (with_name) parts.push_back(part.name);
  return api_path(parts);
}

// What became of it: "created", "replaced".
Result<std::string> send(ApiClient& api, const Part& part, bool dry_run, ApplyMode mode) {
  const Query query = dry_run ? Query{{"dryRun", "true"}} : Query{};
  const auto created = api.send("POST", path_of(part, false), query, part.body,
                                {{"Idempotency-Key", new_idempotency_key()}});
  if (created) return std::string(dry_run ? "would be created" : "created");
  const bool there = created.error().code == ErrorCode::kAlreadyExists;
  if (!there || mode == ApplyMode::kCreate || !part.kind->replaceable) return fail(created.error());
  FAIRLEAD_ASSIGN(const Reply old, api.get(path_of(part, true)));
  const std::string etag = old.etag.empty() ? "*" : old.etag;
  FAIRLEAD_ASSIGN(const Reply replaced,
                  api.send("PUT", path_of(part, true), query, part.body, {{"If-Match", etag}}));
  return std::string(dry_run ? "would be replaced" : "replaced");
}

}  // namespace

std::string body_of(const Value& document, const std::string& project) {
  Tree out = Tree::map();
  for (const Value& item : document.items()) {
    if (item.key() != "apiVersion" && item.key() != "kind") out.add(item.key(), tree_of(item));
  }
  const bool stated = document.find("project") != nullptr || document.find("queue") != nullptr;
  if (!project.empty() && !stated) out.add("project", Tree::string(project));
  return to_json(out);
}

int apply_files(const std::vector<std::string>& files, const ConnectionFlags& connection,
                const std::string& project, bool dry_run, ApplyMode mode, CliContext& context) {
  const auto found = find_connection(connection);
  if (!found) return report(context, found.error());
  std::vector<Part> parts;
  for (const std::string& file : files) {
    const auto text = read_document_file(file);
    if (!text) return report(context, text.error());
    const auto document = Document::parse(*text, document_name(file));
    if (!document) return report_invalid(context, document.error());
    for (const Value& root : document->roots()) {
      auto part = part_of(root, document_name(file), project.empty() ? found->project : project);
      if (!part) return report(context, part.error());
      parts.push_back(std::move(*part));
    }
  }
  auto api = connect(connection, context);
  if (!api) return report(context, api.error());
  for (const Part& part : parts) {
    auto done = send(*api, part, dry_run, mode);
    if (!done) {
      if (done.error().where.empty()) done.error().where = part.where;
      return report(context, done.error());
    }
    std::string kind(part.kind->name);
    kind.front() = static_cast<char>(kind.front() - 'A' + 'a');
    context.out << kind << " " << part.name << " " << *done << "\n";
  }
  return 0;
}

}  // namespace fairlead::cli

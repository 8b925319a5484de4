#include "cli/client/lookup.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/nearest.h"
#include "cli/client/answer.h"

namespace fairlead::cli {
namespace {

Query in_project(const std::string& project) {
  return project.empty() ? Query{} : Query{{"project", project}};
}

Result<FoundWorkload> not_found(ApiClient& api, const std::string& name,
                                const std::string& project) {
  Query query = in_project(project);
  query.emplace_back("limit", "1000");
  query.emplace_back("order", "newest");
  std::vector<std::string> names;
  if (const auto some = api.get(api_path({"workloads"}), query)) {
    for (const Value& item : list_at(some->root(), "items")) names.push_back(text_at(item, "name"));
  }
  const std::string near = nearest_name(name, names);
  return fail(
      ErrorCode::kNotFound,
      "there is no workload \"" + name + "\"" + (project.empty() ? "" : " in project " + project),
      near.empty() ? "see: fairlead list" : "did you mean \"" + near + "\"?");
}

}  // namespace

std::string FoundWorkload::id() const {
  return text_at(*value, "id");
}

std::string FoundWorkload::name() const {
  return text_at(*value, "name");
}

Result<FoundWorkload> find_workload(ApiClient& api, const std::string& name,
                                    const std::string& project) {
  Query query = in_project(project);
  query.emplace_back("name", name);
  query.emplace_back("order", "newest");
  FoundWorkload found;
  FAIRLEAD_ASSIGN(found.reply, api.get(api_path({"workloads"}), query));
  std::set<std::string> projects;
  for (const Value& item : list_at(found.reply.root(), "items")) {
    const bool gone = text_at(item, "status.phase") == "deleted";
    const bool better =
        found.value == nullptr || (!gone && text_at(*found.value, "status.phase") == "deleted");
    if (better) found.value = &item;
    if (!gone) projects.insert(text_at(item, "project"));
  }
  if (projects.size() > 1) {
    return fail(ErrorCode::kInvalidArgument,
                "\"" + name + "\" is in projects " +
                    listing(std::vector<std::string>(projects.begin(), projects.end())),
                "say which with -p");
  }
  if (found.value != nullptr) return found;
  if (auto by_id = read_workload(api, name)) return by_id;
  return not_found(api, name, project);
}

Result<FoundWorkload> read_workload(ApiClient& api, const std::string& id) {
  FoundWorkload found;
  FAIRLEAD_ASSIGN(found.reply, api.get(api_path({"workloads", id})));
  found.value = &found.reply.root();
  return found;
}

std::string task_name(const Value& task) {
  return text_at(task, "role") + "-" + text_at(task, "index");
}

Result<std::vector<const Value*>> choose_tasks(const Listing& tasks, const TaskChoice& choice,
                                               const std::string& workload) {
  // Of each role and index the last attempt.
  std::map<std::pair<std::string, std::int64_t>, const Value*> last;
  for (const Value* task : tasks.items) {
    const Value*& kept = last[{text_at(*task, "role"), number_at(*task, "index").value_or(0)}];
    if (kept == nullptr ||
        number_at(*task, "attempt").value_or(1) >= number_at(*kept, "attempt").value_or(1)) {
      kept = task;
    }
  }
  std::vector<const Value*> chosen;
  std::vector<std::string> names;
  for (const auto& [key, task] : last) {
    const std::string name = task_name(*task);
    const std::string index = std::to_string(key.second);
    names.push_back(name);
    const bool meant = choice.task.empty() || choice.task == name || choice.task == index ||
                       choice.task == key.first || choice.task == text_at(*task, "id");
    if (meant && (choice.index.empty() || choice.index == index)) chosen.push_back(task);
  }
  if (!chosen.empty()) return chosen;
  if (names.empty()) {
    return fail(ErrorCode::kNotFound, "no task of \"" + workload + "\" has begun yet",
                "see: fairlead why " + workload);
  }
  const std::string wanted = choice.task.empty() ? choice.index : choice.task;
  return fail(ErrorCode::kNotFound,
              "\"" + workload + "\" has no task \"" + wanted + "\"; there is " + listing(names));
}

Result<const Value*> choose_running_task(const Listing& tasks, const TaskChoice& choice,
                                         const std::string& workload) {
  FAIRLEAD_ASSIGN(const std::vector<const Value*> chosen, choose_tasks(tasks, choice, workload));
  for (const Value* task : chosen) {
    if (text_at(*task, "phase") == "running") return task;
  }
  const std::string phase = text_at(*chosen.front(), "phase", "not running");
  return fail(ErrorCode::kConflict,
              task_name(*chosen.front()) + " of \"" + workload + "\" is " + phase + ", not running",
              phase == "frozen" ? "let it go on: fairlead resume " + workload
                                : "see: fairlead describe job " + workload);
}

Result<std::string> next_name(ApiClient& api, const std::string& prefix,
                              const std::string& project) {
  Query query = in_project(project);
  query.emplace_back("limit", "1000");
  query.emplace_back("order", "newest");
  FAIRLEAD_ASSIGN(const Reply reply, api.get(api_path({"workloads"}), query));
  std::int64_t highest = 0;
  for (const Value& item : list_at(reply.root(), "items")) {
    const std::string name = text_at(item, "name");
    if (!name.starts_with(prefix + "-")) continue;
    std::int64_t number = 0;
    const char* begin = name.data() + prefix.size() + 1;
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(begin, end, number);
    if (read.ec == std::errc{} && read.ptr == end) highest = std::max(highest, number);
  }
  return prefix + "-" + std::to_string(highest + 1);
}

}  // namespace fairlead::cli

// Workloads: submit, look, change, end.
#include "api/api.h"
#include "control/documents.h"
#include "control/words.h"
#include "model/object_reader.h"
#include "model/submission.h"

namespace fairlead::api {
namespace {

std::vector<std::string> phase_words() {
  std::vector<std::string> out;
  for (const auto& choice : control::words::kPhases) out.emplace_back(choice.word);
  return out;
}

}  // namespace

void Api::list_workloads(Call call) {
  Query in(call.request.target);
  store::Query query;
  query.kind = "workload";
  query.limit = in.integer("limit", 1, 1000, 100);
  query.after = in.page_token();
  query.scope = in.text("project");
  query.name = in.text("name");
  query.owner = in.text("user");
  query.phases = in.words("phase", phase_words());
  const auto order = in.words("order", {"oldest", "newest"});
  if (order == std::vector<std::string>{"newest"}) query.order = store::Order::kNewest;
  if (const auto done = in.done(); !done) return call.refuse(done.error());
  list(call, std::move(query), true);
}

void Api::create_workload(Call call) {
  Query query(call.request.target);
  const bool plan = query.boolean("plan");
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  Findings findings("request");
  Submission submission = read_submission(document->roots()[0], findings);
  if (!findings.ok()) return call.refuse(findings.take_errors());
  write(std::move(call), *intent,
        [intent = *intent, submission = std::move(submission), plan](control::Desk& desk) {
          auto outcome = desk.submit(intent, submission);
          if (outcome) outcome->with_plan = plan;
          return outcome;
        });
}

void Api::get_workload(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const auto record = parts_.store->get("workload", call.parameters[0]);
  if (!record) return call.refuse(record.error());
  if (!*record) {
    return call.refuse({ErrorCode::kNotFound,
                        "there is no workload " + call.parameters[0],
                        {},
                        {},
                        "list them: fairlead list --all-projects"});
  }
  call.json(200, shown(**record, call.caller), (*record)->revision);
}

void Api::update_workload(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, true);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  Findings findings("request");
  const auto patch = control::read_workload_patch(document->roots()[0], findings);
  if (!findings.ok()) return call.refuse(findings.take_errors());
  const std::string id = call.parameters[0];
  write(std::move(call), *intent, [intent = *intent, id, patch](control::Desk& desk) {
    return desk.change(intent, id, patch);
  });
}

void Api::delete_workload(Call call) {
  Query query(call.request.target);
  std::optional<Duration> grace;
  if (const auto text = query.text("gracePeriod", 40)) {
    const auto parsed = parse_duration(*text);
    if (!parsed) {
      Error error = parsed.error();
      error.field = "gracePeriod";
      return call.refuse(error);
    }
    grace = *parsed;
  }
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const std::string id = call.parameters[0];
  write(std::move(call), *intent, [intent = *intent, id, grace](control::Desk& desk) {
    return desk.remove(intent, id, grace);
  });
}

void Api::suspend_workload(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  bool freeze = false;
  if (!call.request.body.empty()) {
    const auto document = body_of(call);
    if (!document) return;
    Findings findings("request");
    freeze = ObjectReader(document->roots()[0], findings).boolean("freeze").value_or(false);
    if (!findings.ok()) return call.refuse(findings.take_errors());
  }
  const std::string id = call.parameters[0];
  write(std::move(call), *intent, [intent = *intent, id, freeze](control::Desk& desk) {
    return freeze ? desk.freeze(intent, id) : desk.suspend(intent, id);
  });
}

void Api::resume_workload(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const std::string id = call.parameters[0];
  write(std::move(call), *intent,
        [intent = *intent, id](control::Desk& desk) { return desk.resume(intent, id); });
}

void Api::explain_workload(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const std::string id = call.parameters[0];
  read(std::move(call), [id](control::Desk& desk) { return desk.explanation(id); });
}

void Api::list_workload_tasks(Call call) {
  Query in(call.request.target);
  store::Query query;
  query.kind = "task";
  query.scope = call.parameters[0];
  query.limit = in.integer("limit", 1, 1000, 100);
  query.after = in.page_token();
  if (const auto done = in.done(); !done) return call.refuse(done.error());
  const auto record = parts_.store->get("workload", call.parameters[0]);
  if (!record) return call.refuse(record.error());
  if (!*record) {
    return call.refuse(
        {ErrorCode::kNotFound, "there is no workload " + call.parameters[0], {}, {}, {}});
  }
  list(call, std::move(query), false);
}

void Api::queue(Call call) {
  Query query(call.request.target);
  const std::int64_t limit = query.integer("limit", 1, 1000, 100);
  const std::string project = query.text("project").value_or("");
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  read(std::move(call),
       [limit, project](control::Desk& desk) { return desk.queue(limit, project); });
}

}  // namespace fairlead::api

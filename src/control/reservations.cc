// Nodes that people keep for a time (semantics 9.3): made, changed, over.
#include <algorithm>

#include "base/nearest.h"
#include "control/desk.h"
#include "control/documents.h"

namespace fairlead::control {
namespace {

constexpr std::size_t kMost = 1000;

}  // namespace

store::Record reservation_record(const ReservationNode& node) {
  const std::string& name = node.spec.name;
  Tree body = Tree::map();
  body.add("name", Tree::string(name));
  body.add("revision", Tree::number(node.revision));
  body.add("createdAt", Tree::string(to_rfc3339(node.created)));
  body.add("document", reservation_document(node));
  return {"reservation", name, "", name, "", "", node.created, node.revision, to_json_line(body)};
}

Result<Outcome> Desk::put_reservation(const Intent& intent, ReservationNode node, bool create) {
  FAIRLEAD_TRY(check_admin(intent));
  const std::string name = node.spec.name;
  const auto found = reservations_.find(name);
  const bool there = found != reservations_.end();
  if (create && there) {
    return fail({ErrorCode::kAlreadyExists,
                 "there is a reservation " + name + " already",
                 {},
                 "name",
                 "choose another name, or change that one: fairlead reservation update " + name});
  }
  if (!create && !there) {
    return fail(ErrorCode::kNotFound, "there is no reservation " + name,
                "make it: fairlead reservation create " + name);
  }
  if (there) FAIRLEAD_TRY(check_match(intent, found->second.revision));
  if (!there && reservations_.size() >= kMost) {
    return fail(ErrorCode::kOutOfRange,
                "there are " + std::to_string(kMost) + " reservations, which is the most",
                "remove one: fairlead reservation delete NAME");
  }
  for (const std::string& project : node.spec.queues) {
    if (queues_.contains(project)) continue;
    std::vector<std::string> names;
    for (const auto& [known, queue] : queues_) names.push_back(known);
    const std::string near = nearest_name(project, names);
    return fail(
        {ErrorCode::kNotFound,
         "there is no project or department " + project,
         {},
         "for",
         near.empty() ? "list them: fairlead list projects" : "did you mean " + near + "?"});
  }
  node.created = there ? found->second.created : now_;
  if (intent.dry_run) {
    Outcome outcome;
    outcome.body = reservation_record(node).body;
    return outcome;
  }
  FAIRLEAD_TRY(tell(sched::ReservationUpserted{node.spec}));
  node.revision = next_revision();
  note("reservation", name, there ? "Changed" : "Created", "by " + intent.caller.user,
       intent.caller.user);
  put(reservation_record(node), "reservation", !there);
  reservations_[name] = std::move(node);
  Outcome outcome;
  outcome.status = create ? 201 : 200;
  outcome.kind = "reservation";
  outcome.id = name;
  outcome.location = "/api/v1/reservations/" + name;
  return outcome;
}

Result<Outcome> Desk::remove_reservation(const Intent& intent, const std::string& name) {
  FAIRLEAD_TRY(check_admin(intent));
  const auto found = reservations_.find(name);
  if (found == reservations_.end()) {
    return fail(ErrorCode::kNotFound, "there is no reservation " + name,
                "list them: fairlead reservation list");
  }
  FAIRLEAD_TRY(check_match(intent, found->second.revision));
  Outcome outcome;
  outcome.status = 204;
  if (intent.dry_run) return outcome;
  if (found->second.problem.empty()) FAIRLEAD_TRY(tell(sched::ReservationRemoved{name}));
  note("reservation", name, "Deleted", "by " + intent.caller.user, intent.caller.user);
  erase("reservation", name, "reservation");
  reservations_.erase(found);
  return outcome;
}

// Error: kConflict if the node is reserved; `change` says what is not done then.
Result<void> Desk::check_not_reserved(const std::string& node, const std::string& change) const {
  for (const auto& [name, reservation] : reservations_) {
    const auto& nodes = reservation.spec.nodes;
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) continue;
    return fail(ErrorCode::kConflict,
                "node " + node + " is reserved by " + name + " until " +
                    to_rfc3339(reservation.spec.until) + ", and " + change,
                "remove that first: fairlead reservation delete " + name);
  }
  return {};
}

// After a restart. What names a node or a project that is not there any more keeps nothing, and
// says so.
void Desk::tell_core_of_reservations() {
  end_reservations();
  for (auto& [name, reservation] : reservations_) {
    const auto told = tell(sched::ReservationUpserted{reservation.spec});
    if (told) continue;
    reservation.problem = told.error().text();
    options_.warn("reservation " + name + " keeps nothing: " + reservation.problem);
  }
}

void Desk::end_reservations() {
  for (auto it = reservations_.begin(); it != reservations_.end();) {
    const std::string name = it->first;
    if (it->second.spec.until > now_) {
      ++it;
      continue;
    }
    core_touched_ = true;  // the scheduler forgets what is over by itself, and decides
    note("reservation", name, "Ended", "its time is over", "server");
    erase("reservation", name, "reservation");
    it = reservations_.erase(it);
  }
}

}  // namespace fairlead::control

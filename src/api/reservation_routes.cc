// Nodes that people keep for a time.
#include "api/api.h"
#include "api/query.h"
#include "control/documents.h"

namespace fairlead::api {

using control::Desk;
using control::ReservationNode;

namespace {

// The reservation of the body; nullopt if it was refused.
std::optional<ReservationNode> reservation_of(const Call& call, const Document& document,
                                              const std::optional<std::string>& path_name) {
  Findings findings("request");
  const Value& root = document.roots()[0];
  ReservationNode node = control::read_reservation_document(root, findings);
  if (findings.ok() && path_name && node.spec.name != *path_name) {
    findings.error(
        root, ErrorCode::kInvalidArgument,
        "the document is of \"" + node.spec.name + "\", the path of \"" + *path_name + "\"",
        "a name cannot be changed");
  }
  if (findings.ok()) return node;
  call.refuse(findings.take_errors());
  return std::nullopt;
}

}  // namespace

void Api::list_reservations(Call call) {
  Query query(call.request.target);
  const std::int64_t limit = query.integer("limit", 1, 1000, 100);
  const std::string after = query.page_token();
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  read(std::move(call), [limit, after](Desk& desk) { return desk.reservations(limit, after); });
}

void Api::get_reservation(Call call) {
  Query query(call.request.target);
  if (const auto done = query.done(); !done) return call.refuse(done.error());
  const std::string name = call.parameters[0];
  read(std::move(call), [name](Desk& desk) { return desk.reservation(name); });
}

void Api::create_reservation(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  const auto node = reservation_of(call, *document, std::nullopt);
  if (!node) return;
  write(std::move(call), *intent, [intent = *intent, node = *node](Desk& desk) {
    return desk.put_reservation(intent, node, true);
  });
}

void Api::replace_reservation(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, true);
  if (!intent) return;
  const auto document = body_of(call);
  if (!document) return;
  const auto node = reservation_of(call, *document, call.parameters[0]);
  if (!node) return;
  write(std::move(call), *intent, [intent = *intent, node = *node](Desk& desk) {
    return desk.put_reservation(intent, node, false);
  });
}

void Api::delete_reservation(Call call) {
  Query query(call.request.target);
  auto intent = intent_of(call, query, false);
  if (!intent) return;
  const std::string name = call.parameters[0];
  write(std::move(call), *intent,
        [intent = *intent, name](Desk& desk) { return desk.remove_reservation(intent, name); });
}

}  // namespace fairlead::api

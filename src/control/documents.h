// Documents of departments, projects, pools, users and settings: read from people and from the
// store, written for both.
#pragma once

#include <string>

#include "base/result.h"
#include "control/desk.h"
#include "model/document.h"
#include "model/findings.h"
#include "model/tree.h"

namespace fairlead::control {

// As a queue of a cluster document, with `description` and `members`. Reports into findings.
QueueNode read_queue_node(const Value& value, QueueKind kind, Findings& findings);
Tree queue_document(const QueueNode& node);

PoolSpec read_pool_document(const Value& value, Findings& findings);
Tree pool_document(const PoolSpec& spec);
ReservationNode read_reservation_document(const Value& value, Findings& findings);
Tree reservation_document(const ReservationNode& node);

User read_user_document(const Value& value, Findings& findings);
Tree user_tree(const User& user);

// `now`: what stands where the patch says nothing.
Settings read_settings(const Value& patch, const Settings& now, Findings& findings);

NodePatch read_node_patch(const Value& value, Findings& findings);
WorkloadPatch read_workload_patch(const Value& value, Findings& findings);

}  // namespace fairlead::control

#include "control/present.h"

#include <cstdint>
#include <utility>

#include "model/cluster_printer.h"
#include "model/cluster_reader.h"
#include "model/object_reader.h"

namespace fairlead::control {

Tree usage_tree(const std::vector<sched::UsageRestored>& usage) {
  Tree items = Tree::list();
  for (const sched::UsageRestored& one : usage) {
    Tree& item = items.push(Tree::map());
    item.add("pool", Tree::string(one.pool));
    if (!one.queue.empty()) item.add("queue", Tree::string(one.queue));
    item.add("resource", Tree::string(one.resource));
    item.add("state", Tree::string(one.state));
  }
  return items;
}

sched::UsageRestored read_usage(const Value& value, Findings& findings) {
  ObjectReader item(value, findings);
  return {item.string("pool").value_or(""), item.string("queue").value_or(""),
          item.string("resource").value_or(""), item.string("state").value_or("")};
}

Tree runtimes_tree(const std::vector<sched::RuntimesRestored>& runtimes) {
  Tree items = Tree::list();
  for (const sched::RuntimesRestored& one : runtimes) {
    Tree& item = items.push(Tree::map());
    item.add("user", Tree::string(one.user));
    if (!one.template_name.empty()) item.add("template", Tree::string(one.template_name));
    Tree& last = item.add("lastMs", Tree::list());
    for (const Duration ran : one.last) last.push(Tree::number(ran.ms));
  }
  return items;
}

sched::RuntimesRestored read_runtimes(const Value& value, Findings& findings) {
  ObjectReader item(value, findings);
  sched::RuntimesRestored out{
      item.string("user").value_or(""), item.string("template").value_or(""), {}};
  item.each("lastMs", [&](const Value& ran) {
    if (const auto ms = as_integer(ran, 0, INT64_MAX, findings)) out.last.push_back(Duration{*ms});
  });
  return out;
}

Tree present_tree(const Present& present) {
  Tree out = Tree::map();
  out.add("at", Tree::string(to_rfc3339(present.at)));
  out.add("cluster", cluster_tree(present.cluster));
  out.add("frozen", Tree::strings(present.frozen));
  out.add("usage", usage_tree(present.usage));
  out.add("runtimes", runtimes_tree(present.runtimes));
  return out;
}

Present read_present(const Value& value, Findings& findings) {
  Present out;
  ObjectReader in(value, findings);
  out.at = in.instant("at", kRequired).value_or(Instant{});
  if (const Value* cluster = in.get("cluster", kRequired)) {
    ObjectReader of_cluster(*cluster, findings);
    of_cluster.allow({"apiVersion", "kind"});
    ClusterDraft draft;
    read_cluster_fields(of_cluster, draft);
    if (findings.ok()) check_cluster(draft, findings);
    out.cluster = std::move(draft.cluster);
  }
  out.frozen = in.names("frozen");
  in.each("usage", [&](const Value& item) { out.usage.push_back(read_usage(item, findings)); });
  in.each("runtimes",
          [&](const Value& item) { out.runtimes.push_back(read_runtimes(item, findings)); });
  return out;
}

}  // namespace fairlead::control

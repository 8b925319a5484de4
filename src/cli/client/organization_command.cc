// fairlead project, department, node, nodepool.
#include <memory>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/time.h"
#include "cli/client/client_options.h"
#include "cli/client/describe.h"
#include "cli/client/drain.h"
#include "cli/client/edit.h"
#include "cli/client/nouns.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct QueueOptions {
  ConnectionFlags connection;
  std::string name;
  std::string parent;
  std::string description;
  std::vector<std::string> members;
  std::string rank;
  std::string gpu_quota, cpu_quota, memory_quota;
  std::string gpu_limit, cpu_limit, memory_limit;
  std::string gpu_weight;
  std::string default_runtime;
};

// A number, or "unlimited", as documents take both.
Tree amount(const std::string& text) {
  const bool number = text.find_first_not_of("-.0123456789") == std::string::npos;
  return number ? Tree::number(text) : Tree::string(text);
}

Fields fields_of(const QueueOptions& options) {
  Fields fields;
  const auto add = [&](const char* key, const std::string& text, bool is_amount) {
    if (!text.empty()) fields.emplace_back(key, is_amount ? amount(text) : Tree::string(text));
  };
  add("parent", options.parent, false);
  add("description", options.description, false);
  if (!options.members.empty()) fields.emplace_back("members", Tree::strings(options.members));
  add("rank", options.rank, true);
  add("quota.gpu", options.gpu_quota, true);
  add("quota.cpu", options.cpu_quota, true);
  add("quota.memory", options.memory_quota, true);
  add("limit.gpu", options.gpu_limit, true);
  add("limit.cpu", options.cpu_limit, true);
  add("limit.memory", options.memory_limit, true);
  add("overQuotaWeight.gpu", options.gpu_weight, true);
  add("defaultExpectedRuntime", options.default_runtime, false);
  return fields;
}

void add_queue_flags(CLI::App& command, QueueOptions& options, const char* word) {
  command.add_option(word, options.name, "Its name")->required()->type_name("");
  const auto text = [&](const char* name, std::string& target, const char* what, const char* type) {
    command.add_option(name, target, what)->type_name(type);
  };
  text("--department,--parent", options.parent, "The department it belongs to", "DEPARTMENT");
  text("--description", options.description, "What it is for", "TEXT");
  command.add_option("--member", options.members, "Who may submit; may be repeated (default all)")
      ->type_name("USER")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  text("--rank", options.rank, "Higher ones are served from what is left first (default 100)",
       "RANK");
  text("--gpu-quota,--quota", options.gpu_quota, "GPUs that are its own, or unlimited", "GPUS");
  text("--cpu-quota", options.cpu_quota, "CPUs that are its own, or unlimited", "CPUS");
  text("--memory-quota", options.memory_quota, "Memory that is its own, or unlimited", "SIZE");
  text("--gpu-limit,--limit", options.gpu_limit, "GPUs at most, or unlimited", "GPUS");
  text("--cpu-limit", options.cpu_limit, "CPUs at most, or unlimited", "CPUS");
  text("--memory-limit", options.memory_limit, "Memory at most, or unlimited", "SIZE");
  text("--gpu-weight", options.gpu_weight, "Its share of GPUs that are left (default 1)", "WEIGHT");
  text("--default-runtime", options.default_runtime,
       "How long its workloads are thought to run, unless they say", "DURATION");
  add_connection_flags(command, options.connection);
}

// projects or departments
void add_queue(CLI::App& app, const std::string& noun_word, const std::string& what,
               CliContext& context) {
  const std::string collection = noun_word + "s";
  const char* word = noun_word == "project" ? "PROJECT" : "DEPARTMENT";
  CLI::App& noun = add_noun(app, noun_word, what);
  auto of_create = std::make_shared<QueueOptions>();
  CLI::App& create = add_verb(noun, "create", "Add one; administrators only");
  add_queue_flags(create, *of_create, "NAME");
  on_run(create, context, [of_create, collection, &context] {
    return create_item(collection, of_create->name, fields_of(*of_create), of_create->connection,
                       context);
  });
  add_resource_list_verb(noun, collection, context);
  add_item_describe_verb(noun, collection, context);
  auto of_update = std::make_shared<QueueOptions>();
  CLI::App& update = add_verb(noun, "update", "Change one; administrators only");
  add_queue_flags(update, *of_update, word);
  on_run(update, context, [of_update, collection, &context] {
    return update_item(collection, of_update->name, fields_of(*of_update), of_update->connection,
                       context);
  });
  add_item_delete_verb(noun, collection, word, context);
  if (noun_word == "project") add_project_set_verb(noun, context);
}

void add_cordon_verb(CLI::App& noun, const char* name, const char* what, bool schedulable,
                     CliContext& context) {
  auto options = std::make_shared<QueueOptions>();
  CLI::App& command = add_verb(noun, name, what);
  command.add_option("NODE", options->name, "Its name")->required()->type_name("");
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, schedulable, &context] {
    return update_item("nodes", options->name, {{"schedulable", Tree::boolean(schedulable)}},
                       options->connection, context);
  });
}

struct NodeOptions {
  ConnectionFlags connection;
  std::string name;
  std::string pool;
  std::string node_type;
  std::vector<std::string> labels;
};

// Of "key=value" and "key-", which takes the label away; nullopt if one is neither.
std::optional<Fields> node_fields(const NodeOptions& options) {
  Fields fields;
  if (!options.pool.empty()) fields.emplace_back("pool", Tree::string(options.pool));
  if (!options.node_type.empty()) fields.emplace_back("nodeType", Tree::string(options.node_type));
  for (const std::string& label : options.labels) {
    const std::size_t at = label.find('=');
    if (at != std::string::npos && at > 0) {
      fields.emplace_back("labels." + label.substr(0, at), Tree::string(label.substr(at + 1)));
    } else if (label.size() > 1 && label.ends_with('-')) {
      fields.emplace_back("labels." + label.substr(0, label.size() - 1), Tree::null());
    } else {
      return std::nullopt;
    }
  }
  return fields;
}

void add_node_update_verb(CLI::App& noun, CliContext& context) {
  auto options = std::make_shared<NodeOptions>();
  CLI::App& command = add_verb(noun, "update", "Change its pool, type or labels; administrators");
  command.add_option("NODE", options->name, "Its name")->required()->type_name("");
  command.add_option("--pool", options->pool, "The node pool it belongs to")->type_name("POOL");
  command.add_option("--node-type", options->node_type, "What --node-type of submissions asks for")
      ->type_name("TYPE");
  command.add_option("-l,--label", options->labels, "A label; KEY- takes it away; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, &context] {
    const auto fields = node_fields(*options);
    if (!fields) {
      return report(context, Error{ErrorCode::kInvalidArgument,
                                   "a label is stated as neither KEY=VALUE nor KEY-",
                                   {},
                                   "--label",
                                   "such as rack=r7, or rack- to take it away"});
    }
    return update_item("nodes", options->name, *fields, options->connection, context);
  });
}

void add_drain_verb(CLI::App& noun, CliContext& context) {
  constexpr Example kExamples[] = {
      {"wait at most two hours for what runs", "fairlead node drain gpu01 --timeout 2h"},
      {"suspend what runs", "fairlead node drain gpu01 --suspend"},
  };
  auto options = std::make_shared<DrainOptions>();
  auto timeout = std::make_shared<std::string>();
  CLI::App& command =
      add_verb(noun, "drain", "Cordon one, and wait until nothing runs there", kExamples);
  command.add_option("NODE", options->node, "Its name")->required()->type_name("");
  command.add_flag("--suspend", options->suspend, "Suspend what runs there, instead of waiting");
  add_duration_range(*command.add_option("--timeout", *timeout, "Wait at most so long"),
                     Duration{0}, hours(24 * 365));
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, timeout, &context] {
    if (!timeout->empty()) options->timeout = *parse_duration(*timeout);
    return drain(*options, context);
  });
}

struct PoolOptions {
  ConnectionFlags connection;
  std::string name;
  std::string strategy;
};

void add_pool_verb(CLI::App& noun, bool create, CliContext& context) {
  auto options = std::make_shared<PoolOptions>();
  CLI::App& command =
      add_verb(noun, create ? "create" : "update",
               create ? "Add one; administrators only" : "Change one; administrators only");
  command.add_option(create ? "NAME" : "POOL", options->name, "Its name")
      ->required()
      ->type_name("");
  add_choice(*command.add_option("--strategy", options->strategy,
                                 "Fill nodes and GPUs one after the other, or spread over them"),
             {"binpack", "spread"});
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, create, &context] {
    Fields fields;
    if (!options->strategy.empty()) {
      fields.emplace_back("strategy", Tree::string(options->strategy));
    }
    return (create ? create_item : update_item)("node-pools", options->name, fields,
                                                options->connection, context);
  });
}

}  // namespace

void add_item_delete_verb(CLI::App& parent, const std::string& collection, const char* word,
                          CliContext& context) {
  auto options = std::make_shared<QueueOptions>();
  CLI::App& command = add_verb(parent, "delete", "Remove one");
  command.add_option(word, options->name, "Which one")->required()->type_name("");
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, collection, &context] {
    return delete_item(collection, options->name, options->connection, context);
  });
}

void add_organization_commands(CLI::App& app, CliContext& context) {
  add_queue(app, "project", "Projects: who shares, with which quota", context);
  add_queue(app, "department", "Departments: groups of projects", context);
  CLI::App& node = add_noun(app, "node", "Nodes: the machines");
  add_resource_list_verb(node, "nodes", context);
  add_item_describe_verb(node, "nodes", context);
  add_cordon_verb(node, "cordon", "Start nothing new on one", false, context);
  add_cordon_verb(node, "uncordon", "Use one again", true, context);
  add_drain_verb(node, context);
  add_node_update_verb(node, context);
  CLI::App& pool = add_noun(app, "nodepool", "Node pools");
  add_resource_list_verb(pool, "nodepools", context);
  add_item_describe_verb(pool, "node-pools", context);
  add_pool_verb(pool, true, context);
  add_pool_verb(pool, false, context);
}

}  // namespace fairlead::cli

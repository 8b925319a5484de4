#include "cli/client/edit.h"

#include <algorithm>
#include <ostream>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/outside.h"

namespace fairlead::cli {
namespace {

const Tree* find(const Fields& fields, const std::string& key) {
  for (const auto& [name, value] : fields) {
    if (name == key) return &value;
  }
  return nullptr;
}

// Fields "quota.gpu" over a map.
void overlay(Tree& out, const Value* map, const Fields& fields, const std::string& prefix) {
  if (map != nullptr) {
    for (const Value& item : map->items()) {
      if (find(fields, prefix + item.key()) == nullptr) out.add(item.key(), tree_of(item));
    }
  }
  for (const auto& [name, value] : fields) {
    if (name.starts_with(prefix)) out.add(name.substr(prefix.size()), value);
  }
}

// Top-level fields and the first parts of those with a dot, each once.
std::vector<std::string> keys_of(const Fields& fields) {
  std::vector<std::string> keys;
  for (const auto& [name, value] : fields) {
    const std::string key = name.substr(0, name.find('.'));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

void add_stated(Tree& out, const std::string& key, const Value* before, const Fields& fields) {
  if (const Tree* whole = find(fields, key)) {
    out.add(key, *whole);
    return;
  }
  overlay(out.add(key, Tree::map()), before, fields, key + ".");
}

std::string singular(const std::string& collection) {
  return collection.substr(0, collection.size() - 1);
}

// A user is its fields; everything else has a document of its own.
Tree changed(const Reply& reply, const std::string& collection, const Fields& fields) {
  const Value& root = reply.root();
  if (collection != "users") {
    const Value* document = value_at(root, "document");
    return with_fields(document == nullptr ? root : *document, fields);
  }
  Fields all = fields;
  for (const char* key : {"name", "role", "localUser", "disabled"}) {
    const Value* value = value_at(root, key);
    if (value != nullptr && find(fields, key) == nullptr) all.emplace_back(key, tree_of(*value));
  }
  return with_fields(Value(), all);
}

}  // namespace

Tree with_fields(const Value& document, const Fields& fields) {
  Tree out = Tree::map();
  const std::vector<std::string> stated = keys_of(fields);
  for (const Value& item : document.items()) {
    if (std::find(stated.begin(), stated.end(), item.key()) == stated.end()) {
      out.add(item.key(), tree_of(item));
    }
  }
  for (const std::string& key : stated) add_stated(out, key, document.find(key), fields);
  return out;
}

Tree of_fields(const std::string& name, const Fields& fields) {
  Fields all{{"name", Tree::string(name)}};
  all.insert(all.end(), fields.begin(), fields.end());
  return with_fields(Value(), all);
}

int create_item(const std::string& collection, const std::string& name, const Fields& fields,
                const ConnectionFlags& connection, CliContext& context) {
  auto api = connect(connection, context);
  if (!api) return report(context, api.error());
  const auto reply = api->send("POST", api_path({collection}), {}, to_json(of_fields(name, fields)),
                               {{"Idempotency-Key", new_idempotency_key()}});
  if (!reply) return report(context, reply.error());
  context.out << singular(collection) << " " << name << " created\n";
  return 0;
}

int update_item(const std::string& collection, const std::string& name, const Fields& fields,
                const ConnectionFlags& connection, CliContext& context) {
  if (fields.empty()) {
    return report(context, Error{ErrorCode::kInvalidArgument,
                                 "nothing is changed",
                                 {},
                                 {},
                                 "state what shall be otherwise"});
  }
  auto api = connect(connection, context);
  if (!api) return report(context, api.error());
  const std::string path = api_path({collection, name});
  const auto before = api->get(path);
  if (!before) return report(context, before.error());
  const std::string etag = before->etag.empty() ? "*" : before->etag;
  // A node is changed by what changes, everything else is replaced whole.
  const bool patch = collection == "nodes";
  const Tree body = patch ? with_fields(Value(), fields) : changed(*before, collection, fields);
  const auto reply =
      api->send(patch ? "PATCH" : "PUT", path, {}, to_json(body), {{"If-Match", etag}});
  if (!reply) return report(context, reply.error());
  context.out << singular(collection) << " " << name << " changed\n";
  return 0;
}

int delete_item(const std::string& collection, const std::string& name,
                const ConnectionFlags& connection, CliContext& context) {
  auto api = connect(connection, context);
  if (!api) return report(context, api.error());
  const auto reply = api->send("DELETE", api_path({collection, name}), {}, {});
  if (!reply) return report(context, reply.error());
  context.out << singular(collection) << " " << name << " deleted\n";
  return 0;
}

}  // namespace fairlead::cli

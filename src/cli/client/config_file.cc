#include "cli/client/config_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

#include "base/output_file.h"
#include "model/object_reader.h"
#include "model/tree.h"

namespace fairlead::cli {
namespace {

// Files made in this scope are their owner's alone.
class PrivateFiles {
 public:
  PrivateFiles() : before_(::umask(0077)) {}
  ~PrivateFiles() { ::umask(before_); }
  PrivateFiles(const PrivateFiles&) = delete;
  PrivateFiles& operator=(const PrivateFiles&) = delete;

 private:
  mode_t before_;
};

ClientContext read_context(const Value& value, Findings& findings) {
  ObjectReader in(value, findings);
  ClientContext context;
  context.name = in.name("name", kRequired).value_or("");
  context.server = in.string("server").value_or("");
  context.token = in.string("token").value_or("");
  context.project = in.name("project").value_or("");
  return context;
}

}  // namespace

const ClientContext* ClientConfig::find(const std::string& name) const {
  for (const ClientContext& context : contexts) {
    if (context.name == name) return &context;
  }
  return nullptr;
}

ClientContext ClientConfig::in_use() const {
  const ClientContext* context = find(current);
  return context == nullptr ? ClientContext{} : *context;
}

ClientContext& ClientConfig::make_in_use() {
  if (current.empty()) current = "default";
  for (ClientContext& context : contexts) {
    if (context.name == current) return context;
  }
  return contexts.emplace_back(ClientContext{current, {}, {}, {}});
}

std::string config_path() {
  const char* folder = std::getenv("XDG_CONFIG_HOME");
  if (folder != nullptr && *folder == '/') return std::string(folder) + "/fairlead/config.yaml";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::string(home) + "/.config/fairlead/config.yaml";
}

Result<ClientConfig> read_config(const std::string& path) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return ClientConfig{};
  FAIRLEAD_ASSIGN(const std::string text, read_document_file(path));
  auto document = Document::parse(text, path);
  if (!document) return fail(document.error().front());
  Findings findings(path);
  ClientConfig config;
  for (const Value& root : document->roots()) {
    ObjectReader in(root, findings);
    config.current = in.name("current").value_or("");
    in.each("contexts",
            [&](const Value& item) { config.contexts.push_back(read_context(item, findings)); });
  }
  if (!findings.ok()) return fail(findings.take_errors().front());
  return config;
}

std::string config_text(const ClientConfig& config, bool with_tokens) {
  Tree out = Tree::map();
  if (!config.current.empty()) out.add("current", Tree::string(config.current));
  Tree& contexts = out.add("contexts", Tree::list());
  for (const ClientContext& context : config.contexts) {
    Tree one = Tree::map();
    one.add("name", Tree::string(context.name));
    if (!context.server.empty()) one.add("server", Tree::string(context.server));
    if (!context.token.empty()) {
      one.add("token", Tree::string(with_tokens ? context.token : "(kept)"));
    }
    if (!context.project.empty()) one.add("project", Tree::string(context.project));
    contexts.push(std::move(one));
  }
  return to_yaml(out);
}

Result<void> write_config(const std::string& path, const ClientConfig& config) {
  if (path.empty()) {
    return fail(ErrorCode::kIo, "there is no folder for the configuration: HOME is not set",
                "set HOME or XDG_CONFIG_HOME");
  }
  const PrivateFiles guard;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  // An older file may be readable by others; it must not be when the token goes in.
  if (::chmod(path.c_str(), 0600) != 0 && errno != ENOENT) {
    return fail(Error{ErrorCode::kIo,
                      std::string("cannot be made private: ") + std::strerror(errno),
                      path,
                      {},
                      {}});
  }
  return write_file(path, config_text(config, true));
}

}  // namespace fairlead::cli

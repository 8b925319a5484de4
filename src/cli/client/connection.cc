#include "cli/client/connection.h"

#include <cstdlib>
#include <unistd.h>

#include "model/document.h"
#include "store/state_dir.h"

namespace fairlead::cli {
namespace {

constexpr std::size_t kTokenBytes = 4096;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string host_of(const std::string& url) {
  const std::size_t begin = url.find("://") + 3;
  if (url[begin] == '[') return url.substr(begin, url.find(']', begin) - begin + 1);
  return url.substr(begin, url.find_first_of(":/", begin) - begin);
}

Result<std::string> read_token(const std::string& path) {
  auto text = read_document_file(path, kTokenBytes);
  if (!text) {
    text.error().field = "--token-file";
    return fail(std::move(text).error());
  }
  std::string token = *text;
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  if (token.empty() || token.find_first_of(" \t\r\n") != std::string::npos) {
    return fail(Error{ErrorCode::kInvalidArgument, "the file does not hold one token",
                      document_name(path), "--token-file", "one line, the token and nothing else"});
  }
  return token;
}

}  // namespace

bool Connection::exposed() const {
  if (token.empty() || !url.starts_with("http://")) return false;
  const std::string host = host_of(url);
  return host != "localhost" && host != "[::1]" && !host.starts_with("127.");
}

Result<void> read_server(const std::string& text, Connection& out) {
  const std::string path = text.starts_with("unix:") ? text.substr(5) : text;
  if (path.starts_with('/')) {
    out.socket = path.starts_with("//") ? path.substr(1) : path;
    return {};
  }
  std::string url = text.find("://") == std::string::npos ? "http://" + text : text;
  while (url.ends_with('/')) url.pop_back();
  const bool known = url.starts_with("http://") || url.starts_with("https://");
  const std::size_t begin = url.find("://") + 3;
  if (!known || begin >= url.size() || host_of(url).empty() ||
      url.find_first_of(" \t\r\n@?#", begin) != std::string::npos ||
      url.find('/', begin) != std::string::npos) {
    return fail(ErrorCode::kInvalidArgument, "\"" + text + "\" is no address of a server",
                "as in https://gpu.example.org, 127.0.0.1:7380 or unix:/path/fairlead.sock");
  }
  out.url = url;
  return {};
}

Result<Connection> find_connection(const ConnectionFlags& flags) {
  FAIRLEAD_ASSIGN(const ClientConfig config, read_config(config_path()));
  ClientContext context = config.in_use();
  if (!flags.context.empty()) {
    const ClientContext* named = config.find(flags.context);
    if (named == nullptr) {
      return fail(Error{ErrorCode::kNotFound,
                        "there is no context \"" + flags.context + "\"",
                        {},
                        "--context",
                        "see: fairlead config view"});
    }
    context = *named;
  }
  Connection out;
  out.project = context.project;
  std::string server = flags.server;
  out.said_by = "--server";
  if (server.empty() && flags.context.empty()) {
    server = variable("FAIRLEAD_SERVER");
    out.said_by = "FAIRLEAD_SERVER";
  }
  const bool elsewhere = !server.empty();
  if (server.empty()) {
    server = context.server;
    out.said_by = config_path();
  }
  if (server.empty()) {
    out.said_by.clear();
    const std::string folder = store::default_state_dir();
    if (folder.empty()) {
      return fail(ErrorCode::kInvalidArgument, "where the server is is not known: HOME is not set",
                  "name it with --server");
    }
    out.socket = folder + "/fairlead.sock";
    // Of a server that root runs for everyone, where there is none of one's own.
    if (variable("FAIRLEAD_STATE").empty() && access(out.socket.c_str(), F_OK) != 0 &&
        access(kPublicSocket, F_OK) == 0) {
      out.socket = kPublicSocket;
    }
  } else if (auto read = read_server(server, out); !read) {
    read.error().field = out.said_by;
    return fail(std::move(read).error());
  }
  // The token of a context goes to the server of that context alone.
  if (!flags.token_file.empty()) {
    FAIRLEAD_ASSIGN(out.token, read_token(flags.token_file));
  } else if (const std::string token = variable("FAIRLEAD_TOKEN"); !token.empty()) {
    out.token = token;
  } else if (!elsewhere || server == context.server) {
    out.token = context.token;
  }
  return out;
}

}  // namespace fairlead::cli

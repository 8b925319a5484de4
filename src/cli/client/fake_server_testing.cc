#include "cli/client/fake_server_testing.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/check.h"

namespace fairlead::cli::testing {
namespace {

std::string make_folder() {
  std::string path = std::filesystem::temp_directory_path() / "fairlead_cli_XXXXXX";
  FAIRLEAD_CHECK(::mkdtemp(path.data()) != nullptr, "a temporary folder can be made");
  return path;
}

std::string field(const net::Request& request, std::string_view name) {
  return std::string(request.headers.find(name).value_or(""));
}

}  // namespace

FakeServer::FakeServer() : folder_(make_folder()) {
  net::ServerOptions options;
  options.listeners.push_back({"local", net::UnixListener{socket()}, {}, {}});
  options.handler = [this](const net::Request& request, const net::ResponseWriter& writer) {
    handle(request, writer);
  };
  auto server = net::HttpServer::start(std::move(options));
  FAIRLEAD_CHECK(server.has_value(), "a server can be started");
  server_ = std::move(*server);
}

FakeServer::~FakeServer() {
  server_.reset();
  std::filesystem::remove_all(folder_);
}

std::string FakeServer::socket() const {
  return folder_ + "/fairlead.sock";
}

void FakeServer::answer(const std::string& call, std::string json, int status, std::string etag) {
  const std::lock_guard lock(mutex_);
  const char* type = status < 300 ? "application/json" : "application/problem+json";
  answers_.push_back({call, status, type, std::move(json), std::move(etag), {}});
}

void FakeServer::answer_text(const std::string& call, std::string text) {
  const std::lock_guard lock(mutex_);
  answers_.push_back({call, 200, "text/plain", std::move(text), {}, {}});
}

void FakeServer::answer_stream(const std::string& call, OnMessage on_message) {
  const std::lock_guard lock(mutex_);
  answers_.push_back({call, 101, {}, {}, {}, std::move(on_message)});
}

std::vector<Asked> FakeServer::asked() {
  const std::lock_guard lock(mutex_);
  return asked_;
}

Asked FakeServer::last(const std::string& call) {
  const std::lock_guard lock(mutex_);
  for (auto at = asked_.rbegin(); at != asked_.rend(); ++at) {
    if (at->method + " " + at->target.substr(0, at->target.find('?')) == call) return *at;
  }
  return {};
}

void FakeServer::handle(const net::Request& request, const net::ResponseWriter& writer) {
  const std::string call = request.method + " " + request.target.path;
  std::string query;
  for (const auto& [name, value] : request.target.query) {
    query += (query.empty() ? "?" : "&") + name + "=" + value;
  }
  const std::string bearer = field(request, "Authorization");
  std::unique_lock lock(mutex_);
  asked_.push_back({request.method, request.target.path + query, request.body,
                    field(request, "If-Match"),
                    bearer.substr(std::min<std::size_t>(7, bearer.size()))});
  Answer* chosen = nullptr;
  for (Answer& one : answers_) {
    if (one.call != call) continue;
    chosen = &one;
    if (!one.given) break;
  }
  if (chosen == nullptr) {
    writer.respond(net::problem(404, "there is no " + call));
    return;
  }
  chosen->given = true;
  const Answer answer = *chosen;
  lock.unlock();
  if (answer.on_message) {
    net::WebSocketOptions options;
    options.protocol = "stream.fairlead.v1";
    auto socket = std::make_shared<net::WebSocket>();
    options.on_message = [socket, answer](const net::Message& message) {
      answer.on_message(*socket, message.bytes);
    };
    if (auto accepted = writer.accept_websocket(std::move(options))) *socket = *accepted;
    return;
  }
  net::Headers headers{{"Content-Type", answer.type}};
  if (!answer.etag.empty()) headers.add("ETag", answer.etag);
  writer.respond(answer.status, headers, answer.text);
}

Ran run_client(const FakeServer& server, const std::vector<std::string>& words,
               const std::string& program) {
  for (const char* name : {"FAIRLEAD_TOKEN", "FAIRLEAD_STATE", "XDG_STATE_HOME"}) ::unsetenv(name);
  ::setenv("FAIRLEAD_SERVER", ("unix:" + server.socket()).c_str(), 1);
  ::setenv("XDG_CONFIG_HOME", (server.folder() + "/config").c_str(), 1);
  ::setenv("HOME", server.folder().c_str(), 1);
  std::ostringstream out;
  std::ostringstream err;
  CliContext context{.out = out, .err = err};
  context.program = program;
  Ran ran;
  ran.status = run(words, context);
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

std::string workload_json(const std::string& name, const std::string& phase,
                          const std::string& more) {
  return R"({"id": "w-)" + name + R"(", "revision": 7, "name": ")" + name +
         R"(", "project": "vision", "type": "training", "user": "mira", "priority": 50,)"
         R"( "preemptibility": "preemptible", "createdAt": "2026-01-31T08:00:00Z",)"
         R"( "document": {"name": ")" +
         name + R"(", "run": {"command": ["python", "train.py"]}}, "status": {"phase": ")" + phase +
         R"(", "requested": {"gpuMilli": 2000, "gpuMemoryMib": 0, "cpuMilli": 8000,)"
         R"( "memoryBytes": 51539607552}, "allocated": {}, "tasks": {"wanted": 1, "running": 0},)"
         R"( "preemptions": 0, "restarts": 0)" +
         (more.empty() ? "" : ", " + more) + "}}";
}

}  // namespace fairlead::cli::testing

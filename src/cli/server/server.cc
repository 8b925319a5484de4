#include "cli/server/server.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "cli/app.h"
#include "cli/server/unknown_tasks.h"
#include "control/control.h"
#include "engine/local/local_engine.h"
#include "net/server.h"
#include "node/capabilities.h"
#include "node/cgroups.h"
#include "node/inventory.h"
#include "store/sqlite_store.h"
#include "store/state_dir.h"

namespace fairlead::cli {
namespace {

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Address address;
  int port = -1;
  if (colon != std::string::npos && colon + 1 < text.size() && text.size() - colon <= 6 &&
      text.find_first_not_of("0123456789", colon + 1) == std::string::npos) {
    port = std::stoi(text.substr(colon + 1));
  }
  if (port < 0 || port > 65'535) {
    return fail({ErrorCode::kInvalidArgument,
                 "\"" + text + "\" is no address and port",
                 {},
                 "--listen",
                 "such as 127.0.0.1:7380 or [::1]:7380"});
  }
  address.port = static_cast<std::uint16_t>(port);
  address.host = text.substr(0, colon);
  if (address.host.size() > 2 && address.host.front() == '[') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  if (address.host == "localhost") address.host = "127.0.0.1";
  return address;
}

bool is_loopback(const std::string& host) {
  return host == "::1" || host.starts_with("127.");
}

Result<std::vector<net::ListenerOptions>> listeners(const ServerSettings& settings,
                                                    const std::string& socket) {
  std::vector<net::ListenerOptions> out;
  out.push_back({"socket", net::UnixListener{socket, 0600}, std::nullopt, {}});
  if (!settings.socket.empty()) {
    out.push_back({"public", net::UnixListener{settings.socket, 0666}, std::nullopt, {}});
  }
  if (settings.certificate.empty() != settings.key.empty()) {
    return fail({ErrorCode::kInvalidArgument,
                 "a certificate and its key go together",
                 {},
                 "--tls-cert",
                 "give both --tls-cert and --tls-key"});
  }
  if (settings.listen.empty()) return out;
  FAIRLEAD_ASSIGN(const Address address, parse_address(settings.listen));
  net::ListenerOptions tcp;
  tcp.name = "tcp";
  tcp.at = net::TcpListener{address.host, address.port};
  if (!settings.certificate.empty()) tcp.tls = net::TlsFiles{settings.certificate, settings.key};
  if (is_loopback(address.host)) {
    tcp.allowed_hosts = {"localhost", "127.0.0.1", "[::1]", address.host};
  } else if (!tcp.tls) {
    return fail({ErrorCode::kForbidden,
                 address.host + " can be reached from other machines, and tokens would go over "
                                "the network in the clear",
                 {},
                 "--listen",
                 "give --tls-cert and --tls-key, or listen on 127.0.0.1"});
  }
  out.push_back(std::move(tcp));
  return out;
}

std::string gpus_text(const node::Inventory& inventory) {
  std::map<std::string, int> counts;
  for (const DeviceSpec& device : inventory.node.devices) ++counts[device.device_class];
  std::string out;
  for (const auto& [name, count] : counts) {
    out += (out.empty() ? "" : ", ") + std::to_string(count) + " × " + name;
  }
  if (out.empty()) return "no GPUs";
  return out + (inventory.simulated ? " (simulated)" : "");
}

}  // namespace

Result<void> run_server(const ServerSettings& settings,
                        const std::function<void(const ServerReady&)>& ready,
                        const std::function<void(const std::string&)>& warn) {
  // Before any thread is there, so that all of them leave these signals to us.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  // What is made from here on is for this account alone; tasks get a umask of their own.
  umask(077);

  FAIRLEAD_ASSIGN(const store::StateDir dir, store::StateDir::open(settings.state));
  const std::string socket = dir.file("fairlead.sock");
  FAIRLEAD_ASSIGN(auto listening, listeners(settings, socket));

  node::InventoryOptions asked;
  asked.simulated_gpus = settings.simulate;
  FAIRLEAD_ASSIGN(node::Inventory inventory, node::take_inventory(asked));

  UnknownTasksCheck unknown;
  unknown.store_path = dir.file("store.db");
  unknown.engine_state = dir.file("engine");
  unknown.end_them = settings.end_unknown_tasks;
  unknown.warn = warn;
  std::error_code missing;
  const auto size = std::filesystem::file_size(unknown.store_path, missing);
  // Before it is made anew: a refusal leaves the directory as it was.
  if (missing || size == 0) FAIRLEAD_TRY(check_unknown_tasks(unknown, nullptr));
  FAIRLEAD_ASSIGN(const auto store, store::open_sqlite_store(unknown.store_path));
  FAIRLEAD_TRY(check_unknown_tasks(unknown, store.get()));
  FAIRLEAD_ASSIGN(const std::int64_t revision, store->revision());
  const control::SystemClock clock;
  control::IdSource ids(control::system_random);
  control::ChangeLog log(revision);
  control::DeskOptions options;
  options.inventory = inventory;
  options.server_user = api::account_name(geteuid());
  options.may_switch_user = geteuid() == 0;
  options.allow_root_tasks = settings.allow_root_tasks;
  const node::CgroupTree groups = node::CgroupTree::detect();
  options.freezing = groups.freezing();
  options.socket = settings.socket.empty() ? socket : settings.socket;
  options.warn = warn;
  control::Control control(options, *store, clock, ids, log);

  engine::LocalEngineOptions engine_options;
  engine_options.state = unknown.engine_state;
  FAIRLEAD_ASSIGN(const auto engine, engine::LocalEngine::open(engine_options, control.sink()));
  FAIRLEAD_TRY(control.start(*engine));
  store::keep_reserve(unknown.store_path);

  api::Identity identity(*store, clock, geteuid());
  api::Streams streams(*engine);
  api::ApiParts parts;
  parts.control = &control;
  parts.store = store.get();
  parts.log = &log;
  parts.engine = engine.get();
  parts.identity = &identity;
  parts.streams = &streams;
  parts.clock = &clock;
  parts.version = version_text().substr(version_text().find(' ') + 1);
  parts.server_user = options.server_user;
  parts.simulated = inventory.simulated;
  parts.capabilities = node::capabilities(groups);
  parts.notes = inventory.notes;
  FAIRLEAD_ASSIGN(const auto api, api::Api::create(std::move(parts)));

  if (!settings.socket.empty()) {
    // Its folder is the one thing that is made for everyone.
    const std::string folder = std::filesystem::path(settings.socket).parent_path();
    if (mkdir(folder.c_str(), 0755) == 0) chmod(folder.c_str(), 0755);
  }
  net::ServerOptions server_options;
  server_options.listeners = std::move(listening);
  server_options.limits.connections = 4096;
  // A stranger cannot make the server read a body.
  server_options.gate = [&api](const net::Request& request) { return api->gate(request); };
  server_options.handler = [&api](net::Request request, net::ResponseWriter writer) {
    api->handle(std::move(request), std::move(writer));
  };
  server_options.on_defect = [&warn](const std::string& what) {
    warn("a request handler failed: " + what);
  };
  FAIRLEAD_ASSIGN(const auto server, net::HttpServer::start(std::move(server_options)));

  ServerReady said;
  said.socket = socket;
  said.node = inventory.node.name;
  said.gpus = gpus_text(inventory);
  said.notes = inventory.notes;
  said.notes.insert(said.notes.end(), dir.notes().begin(), dir.notes().end());
  if (const std::uint16_t port = server->port("tcp"); port != 0) {
    const Address address = *parse_address(settings.listen);
    const std::string host =
        address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
    said.address =
        (settings.certificate.empty() ? "http://" : "https://") + host + ":" + std::to_string(port);
    said.link = said.address + "/login?code=" + identity.issue_code();
  }
  ready(said);

  int signal = 0;
  sigwait(&signals, &signal);
  warn("stopping; what runs goes on, and the next start takes it up");
  server->stop(seconds(2));
  control.stop();
  return {};
}

Result<bool> stop_server(const std::string& state) {
  const std::string file = state + "/lock";
  const int lock = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (lock < 0) return false;
  const auto free = [&] { return flock(lock, LOCK_EX | LOCK_NB) == 0; };
  if (free()) {
    close(lock);
    return false;
  }
  std::ifstream in(file);
  pid_t pid = 0;
  in >> pid;
  if (pid <= 1 || kill(pid, SIGTERM) != 0) {
    close(lock);
    return fail(
        ErrorCode::kForbidden,
        "the server of " + state + " (process " + std::to_string(pid) + ") cannot be told to stop",
        "run this as the user who started it");
  }
  // It answers what is under way first; that has a bound of its own.
  flock(lock, LOCK_EX);
  close(lock);
  return true;
}

}  // namespace fairlead::cli

// The REST API: the table of routes, and what every request goes through: a request id, who calls,
// the handler, the answer.
//
// Thread-safe: handle() is called from the threads of the HTTP server.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/guests.h"
#include "api/identity.h"
#include "api/offload.h"
#include "api/query.h"
#include "api/streams.h"
#include "control/control.h"
#include "model/document.h"
#include "model/findings.h"
#include "model/tree.h"
#include "net/router.h"
#include "net/writer.h"
#include "node/capabilities.h"

namespace fairlead::api {

struct ApiParts {
  control::Control* control = nullptr;
  const store::Store* store = nullptr;
  control::ChangeLog* log = nullptr;
  engine::Engine* engine = nullptr;
  Identity* identity = nullptr;
  Streams* streams = nullptr;
  const control::Clock* clock = nullptr;
  std::string version;
  std::string server_user;
  bool simulated = false;
  std::vector<node::Capability> capabilities;
  std::vector<std::string> notes;  // of the inventory
};

// One request on its way to an answer.
struct Call {
  net::Request request;
  net::ResponseWriter writer;
  control::Caller caller;
  std::vector<std::string> parameters;  // what stood for {…} in the path
  std::string id;

  void refuse(const Error& error) const;
  void refuse(const std::vector<Error>& errors) const;
  void json(int status, std::string body, std::int64_t revision = 0,
            const std::string& location = {}) const;
};

class Api {
 public:
  // Error: kConflict for two routes that serve the same, which is a defect.
  static Result<std::unique_ptr<Api>> create(ApiParts parts);

  // The answer to a request whose body is not worth reading: of a stranger, or too long for what
  // anyone may ask. nullopt: handle() it.
  std::optional<net::Response> gate(const net::Request& request) const;
  void handle(net::Request request, net::ResponseWriter writer);

  // As api/openapi.yaml lists them.
  static std::vector<net::Route> routes();

 private:
  struct Row {
    const char* method;
    const char* pattern;
    bool open;  // needs no caller
    void (Api::*handler)(Call);
  };
  static const std::vector<Row>& table();
  // Of a body: enough for a workload of a hundred roles, too little to hold up others.
  static constexpr DocumentLimits kBodyLimits{std::size_t{4} << 20, 50'000, 32};

  Api(ApiParts parts, net::Router router);

  // What handlers share (api.cc).
  void write(Call call, control::Intent intent, control::Control::Operation operation);
  void read(Call call, control::Control::Operation operation);
  std::optional<control::Intent> intent_of(Call& call, Query& query, bool needs_match);
  std::optional<Document> body_of(const Call& call,
                                  const DocumentLimits& limits = kBodyLimits) const;
  void list(const Call& call, store::Query query, bool redact);
  std::string shown(const store::Record& record, const control::Caller& caller) const;

  // server_routes.cc
  void health(Call call);
  void readiness(Call call);
  void metrics(Call call);
  void version(Call call);
  void description(Call call);
  void doctor(Call call);
  void cluster(Call call);
  void page(Call call);
  void sign_in_page(Call call);
  void events(Call call);
  void audit(Call call);
  void watch(Call call);
  // access_routes.cc
  void whoami(Call call);
  void create_session(Call call);
  void delete_session(Call call);
  void list_users(Call call);
  void create_user(Call call);
  void get_user(Call call);
  void replace_user(Call call);
  void delete_user(Call call);
  void list_tokens(Call call);
  void create_token(Call call);
  void delete_token(Call call);
  void open_session(Call call, const std::optional<control::Caller>& of_token);
  // workload_routes.cc
  void list_workloads(Call call);
  void create_workload(Call call);
  void get_workload(Call call);
  void update_workload(Call call);
  void delete_workload(Call call);
  void suspend_workload(Call call);
  void resume_workload(Call call);
  void explain_workload(Call call);
  void list_workload_tasks(Call call);
  void list_workload_events(Call call);
  void queue(Call call);
  // task_routes.cc
  void list_tasks(Call call);
  void get_task(Call call);
  void task_log(Call call);
  void exec_in_task(Call call);
  void attach_to_task(Call call);
  void forward_to_task(Call call);
  std::optional<store::Record> task_to_touch(const Call& call);
  // organization_routes.cc
  void list_departments(Call call);
  void create_department(Call call);
  void get_department(Call call);
  void replace_department(Call call);
  void delete_department(Call call);
  void list_projects(Call call);
  void create_project(Call call);
  void get_project(Call call);
  void replace_project(Call call);
  void delete_project(Call call);
  void list_pools(Call call);
  void create_pool(Call call);
  void get_pool(Call call);
  void replace_pool(Call call);
  void list_reservations(Call call);
  void create_reservation(Call call);
  void get_reservation(Call call);
  void replace_reservation(Call call);
  void delete_reservation(Call call);
  void list_nodes(Call call);
  void get_node(Call call);
  void update_node(Call call);
  void list_devices(Call call);
  void get_settings(Call call);
  void update_settings(Call call);
  void list_queue_nodes(Call call, control::QueueKind kind);
  void put_queue_node(Call call, control::QueueKind kind, bool create);
  void get_queue_node(Call call, control::QueueKind kind);
  void delete_queue_node(Call call, control::QueueKind kind);

  std::shared_ptr<const std::string> watched_body(const control::Change& change,
                                                  const control::Caller& caller);

  ApiParts parts_;
  net::Router router_;
  // Of its own, for replies of the control thread that come when this is gone.
  std::shared_ptr<Offload> offload_ = std::make_shared<Offload>();
  Guests guests_;
  // The workload of the last change, without what strangers may not see.
  struct Hidden {
    std::shared_ptr<const std::string> of;  // what the owner sees
    std::string owner;
    std::shared_ptr<const std::string> body;
  };
  std::mutex hidden_mutex_;
  Hidden hidden_;  // guarded by hidden_mutex_
};

// The text of api/openapi.yaml and the start page, held in the program.
std::string_view description_text();
std::string_view start_page();

}  // namespace fairlead::api

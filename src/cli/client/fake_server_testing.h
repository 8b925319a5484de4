// For tests: a server on a unix socket that answers from a table, and keeps what it was asked.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/app.h"
#include "net/server.h"

namespace fairlead::cli::testing {

struct Asked {
  std::string method;
  std::string target;  // path and query as sent
  std::string body;
  std::string if_match;
  std::string token;  // of "Authorization: Bearer …"
};

class FakeServer {
 public:
  FakeServer();
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  // What is answered to "GET /api/v1/workloads" (the query does not count); a second answer to the
  // same is given from the second time on.
  void answer(const std::string& call, std::string json, int status = 200, std::string etag = {});
  void answer_text(const std::string& call, std::string text);
  // A WebSocket: what comes is handed over with what sends.
  using OnMessage = std::function<void(const net::WebSocket&, const std::string& bytes)>;
  void answer_stream(const std::string& call, OnMessage on_message);

  // Of all calls so far.
  std::vector<Asked> asked();
  // The last of this method and path.
  Asked last(const std::string& call);

  std::string socket() const;
  std::string folder() const { return folder_; }

 private:
  struct Answer {
    std::string call;
    int status;
    std::string type;
    std::string text;
    std::string etag;
    OnMessage on_message;
    bool given = false;
  };
  void handle(const net::Request& request, const net::ResponseWriter& writer);

  std::string folder_;
  std::mutex mutex_;
  std::vector<Answer> answers_;
  std::vector<Asked> asked_;
  std::unique_ptr<net::HttpServer> server_;
};

struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

// The program with these words, talking to `server`; nothing of the surroundings is read or kept.
Ran run_client(const FakeServer& server, const std::vector<std::string>& words,
               const std::string& program = "fairlead");

// A Workload with the fields that tests look at.
std::string workload_json(const std::string& name, const std::string& phase,
                          const std::string& more = {});

}  // namespace fairlead::cli::testing

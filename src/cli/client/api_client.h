// The server's REST API (api/openapi.yaml), as a client sees it: answers as documents, problem
// documents as Errors with the exit status of their code.
//
// One connection, used from one thread; streams that run beside it have a client of their own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/client/connection.h"
#include "model/document.h"
#include "model/tree.h"

namespace fairlead::net {
class HttpClient;
class WebSocketClient;
}  // namespace fairlead::net

namespace fairlead::cli {

using Query = std::vector<std::pair<std::string, std::string>>;

// "/api/v1/workloads/w%2F1/log" of {"workloads", "w/1", "log"}.
std::string api_path(const std::vector<std::string>& parts);

struct Reply {
  int status = 0;
  std::string etag;
  std::string body;
  Document document;

  // What was answered; a null value if nothing was.
  const Value& root() const;
};

// All pages of a list.
struct Listing {
  std::vector<Reply> pages;
  std::vector<const Value*> items;  // of all pages, in order

  // The server's own text, or where there are several pages one object with all items.
  std::string json() const;
};

// A problem document, or whatever else came with a status that is none of success.
Error error_of(int status, const std::string& body, const std::string& path);

class ApiClient {
 public:
  // A request takes `time` at most.
  explicit ApiClient(Connection connection, Duration time = seconds(60));
  ApiClient(ApiClient&&) noexcept;
  ApiClient& operator=(ApiClient&&) noexcept;
  ~ApiClient();

  const Connection& connection() const { return connection_; }

  Result<Reply> get(const std::string& path, const Query& query = {});
  // With a JSON body; empty: none.
  Result<Reply> send(const std::string& method, const std::string& path, const Query& query,
                     const std::string& body,
                     const std::vector<std::pair<std::string, std::string>>& headers = {});
  // All pages; with a `limit` in the query the first alone.
  Result<Listing> list(const std::string& path, Query query = {});

  // Line by line as it comes, until it ends or `take` says false.
  Result<void> stream(const std::string& path, const Query& query,
                      const std::function<bool(std::string_view)>& take);
  // Server-sent events: their names and data. `last_id`, if there is one, is that of the last
  // event.
  Result<void> events(const std::string& path, const Query& query,
                      const std::function<bool(std::string_view name, std::string_view data)>& take,
                      std::string* last_id = nullptr);

  Result<std::unique_ptr<net::WebSocketClient>> websocket(const std::string& path,
                                                          const Query& query) const;

  // Ends what is under way within a second; from any thread.
  void cancel();

 private:
  Connection connection_;
  std::unique_ptr<net::HttpClient> http_;
};

}  // namespace fairlead::cli

#include "cli/client/api_client.h"

#include <algorithm>
#include <iterator>

#include "base/printable.h"
#include "cli/client/answer.h"
#include "net/client.h"
#include "net/target.h"
#include "net/websocket_client.h"

namespace fairlead::cli {
namespace {

constexpr std::string_view kStreamProtocol = "stream.fairlead.v1";

constexpr ErrorCode kCodes[] = {ErrorCode::kInvalidArgument,
                                ErrorCode::kOutOfRange,
                                ErrorCode::kNotFound,
                                ErrorCode::kAlreadyExists,
                                ErrorCode::kImpossible,
                                ErrorCode::kConflict,
                                ErrorCode::kIo,
                                ErrorCode::kFailed,
                                ErrorCode::kUnauthenticated,
                                ErrorCode::kForbidden,
                                ErrorCode::kStale,
                                ErrorCode::kUnavailable,
                                ErrorCode::kTooLarge,
                                ErrorCode::kTimeout};

// For what has no code of ours.
ErrorCode code_of_status(int status) {
  switch (status) {
    case 400:
    case 405:
    case 422:
    case 428:
      return ErrorCode::kInvalidArgument;
    case 401:
      return ErrorCode::kUnauthenticated;
    case 403:
      return ErrorCode::kForbidden;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return ErrorCode::kConflict;
    case 412:
      return ErrorCode::kStale;
    case 413:
      return ErrorCode::kTooLarge;
    case 408:
    case 504:
      return ErrorCode::kTimeout;
    case 429:
    case 502:
    case 503:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kFailed;
  }
}

std::string target_of(const std::string& path, const Query& query) {
  std::string out = path;
  char mark = '?';
  for (const auto& [name, value] : query) {
    out += mark + net::percent_encode(name) + "=" + net::percent_encode(value);
    mark = '&';
  }
  return out;
}

net::ClientOptions options_of(const Connection& connection, Duration time) {
  net::ClientOptions options;
  options.total_time = time;
  options.connect_time = std::min(options.connect_time, time);
  options.stall_time = Duration{0};  // a task may be silent for days while its log is followed
  if (!connection.url.empty()) options.base_url = connection.url;
  options.unix_socket = connection.socket;
  options.bearer_token = connection.token;
  return options;
}

// Nobody answers: say where, and what to do about it.
std::unexpected<Error> out_of_reach(Error error, const Connection& connection) {
  if (error.code != ErrorCode::kIo) return fail(std::move(error));
  const std::string why = error.message;
  error = Error{ErrorCode::kUnavailable,
                "no server answers at " + connection.place(),
                {},
                connection.said_by,
                "start one with `fairlead up`, or name another with --server"};
  if (!connection.socket.empty()) return fail(std::move(error));
  error.message += ": " + why;
  return fail(std::move(error));
}

Result<Reply> reply_of(net::ClientResponse response, const std::string& path) {
  if (response.status < 200 || response.status > 299) {
    return fail(error_of(response.status, response.body, path));
  }
  Reply reply;
  reply.status = response.status;
  reply.etag = response.headers.find("ETag").value_or("");
  reply.body = std::move(response.body);
  const std::string_view type = response.headers.find("Content-Type").value_or("");
  if (reply.body.empty() || !type.starts_with("application/json")) return reply;
  auto document = Document::parse(reply.body, "answer.json");
  if (!document) {
    return fail(ErrorCode::kFailed,
                "the answer to " + path + " cannot be read: " + document.error().front().message,
                "is it a Fairlead server of this version?");
  }
  reply.document = std::move(*document);
  return reply;
}

}  // namespace

std::string api_path(const std::vector<std::string>& parts) {
  std::string out = "/api/v1";
  for (const std::string& part : parts) out += "/" + net::percent_encode(part);
  return out;
}

const Value& Reply::root() const {
  static const Value kNothing;
  return document.roots().empty() ? kNothing : document.roots().front();
}

std::string Listing::json() const {
  if (pages.size() == 1) return pages.front().body;
  Tree out = Tree::map();
  Tree& all = out.add("items", Tree::list());
  for (const Value* item : items) all.push(tree_of(*item));
  return to_json(out);
}

Error error_of(int status, const std::string& body, const std::string& path) {
  Error error;
  error.code = code_of_status(status);
  error.message = "the server answered " + std::to_string(status) + " to " + path;
  const auto document = Document::parse(body, "problem.json");
  if (!document || document->roots().empty()) return error;
  const Value& problem = document->roots().front();
  const std::string name = text_at(problem, "code");
  for (const ErrorCode code : kCodes) {
    if (error_code_name(code) == name) error.code = code;
  }
  error.message = text_at(problem, "detail", text_at(problem, "title", error.message));
  error.cure = text_at(problem, "cure");
  if (error.cure.empty() && error.code == ErrorCode::kUnauthenticated) {
    error.cure = "sign in: fairlead login";
  }
  const std::span<const Value> details = list_at(problem, "errors");
  if (details.size() == 1) {
    error.field = text_at(details[0], "field");
    error.message = text_at(details[0], "detail", error.message);
    error.cure = text_at(details[0], "cure", error.cure);
  } else {
    for (const Value& detail : details) {
      const std::string field = text_at(detail, "field");
      error.message += "; " + (field.empty() ? "" : field + ": ") + text_at(detail, "detail");
    }
  }
  return error;
}

ApiClient::ApiClient(Connection connection, Duration time)
    : connection_(std::move(connection)),
      http_(std::make_unique<net::HttpClient>(options_of(connection_, time))) {}
ApiClient::ApiClient(ApiClient&&) noexcept = default;
ApiClient& ApiClient::operator=(ApiClient&&) noexcept = default;
ApiClient::~ApiClient() = default;

void ApiClient::cancel() {
  http_->cancel();
}

Result<Reply> ApiClient::get(const std::string& path, const Query& query) {
  return send("GET", path, query, {});
}

Result<Reply> ApiClient::send(const std::string& method, const std::string& path,
                              const Query& query, const std::string& body,
                              const std::vector<std::pair<std::string, std::string>>& headers) {
  net::ClientRequest request{method, target_of(path, query), {}, body};
  if (!body.empty()) request.headers.add("Content-Type", "application/json");
  for (const auto& [name, value] : headers) request.headers.set(name, value);
  auto response = http_->request(request);
  if (!response) return out_of_reach(response.error(), connection_);
  return reply_of(std::move(*response), path);
}

Result<Listing> ApiClient::list(const std::string& path, Query query) {
  const bool limited = std::any_of(query.begin(), query.end(),
                                   [](const auto& pair) { return pair.first == "limit"; });
  Query first = query;
  if (!limited) first.emplace_back("limit", "1000");
  Listing out;
  for (std::string token;;) {
    Query page = first;
    if (!token.empty()) page.emplace_back("pageToken", token);
    FAIRLEAD_ASSIGN(Reply reply, get(path, page));
    const Value* next = value_at(reply.root(), "nextPageToken");
    token = next == nullptr ? "" : next->text();
    out.pages.push_back(std::move(reply));
    if (token.empty() || limited) break;
  }
  for (const Reply& page : out.pages) {
    for (const Value& item : list_at(page.root(), "items")) out.items.push_back(&item);
  }
  return out;
}

Result<void> ApiClient::stream(const std::string& path, const Query& query,
                               const std::function<bool(std::string_view)>& take) {
  const auto response = http_->stream({"GET", target_of(path, query), {}, {}}, take);
  if (!response) return out_of_reach(response.error(), connection_);
  if (response->status < 200 || response->status > 299) {
    return fail(error_of(response->status, response->body, path));
  }
  return {};
}

Result<void> ApiClient::events(
    const std::string& path, const Query& query,
    const std::function<bool(std::string_view name, std::string_view data)>& take,
    std::string* last_id) {
  std::string name;
  std::string data;
  std::string id;
  return stream(path, query, [&](std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) {
      if (last_id != nullptr && !id.empty()) *last_id = id;
      const bool more = data.empty() || take(name.empty() ? "message" : name, data);
      name.clear();
      data.clear();
      return more;
    }
    const std::size_t colon = std::min(line.find(':'), line.size());
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (line.substr(0, colon) == "event") name = value;
    if (line.substr(0, colon) == "id") id = value;
    if (line.substr(0, colon) == "data") {
      if (!data.empty()) data += '\n';
      data += value;
    }
    return true;
  });
}

Result<std::unique_ptr<net::WebSocketClient>> ApiClient::websocket(const std::string& path,
                                                                   const Query& query) const {
  net::WebSocketClientOptions options;
  options.unix_socket = connection_.socket;
  options.bearer_token = connection_.token;
  options.target = target_of(path, query);
  options.protocol = kStreamProtocol;
  if (!connection_.url.empty()) {
    options.tls = connection_.url.starts_with("https://");
    std::string host = connection_.url.substr(connection_.url.find("://") + 3);
    const std::size_t colon = host.rfind(':');
    const bool stated = colon != std::string::npos && host.find(']', colon) == std::string::npos;
    options.port = options.tls ? 443 : 80;
    if (stated) {
      options.port =
          static_cast<std::uint16_t>(std::strtoul(host.c_str() + colon + 1, nullptr, 10));
      host.resize(colon);
    }
    options.host = host;
  }
  auto socket = net::WebSocketClient::connect(options);
  // A handshake tells a status alone; asked plainly, the server says why.
  if (!socket && socket.error().message.find("status 4") != std::string::npos) {
    ApiClient plain(connection_);
    const auto answer = plain.send("GET", path, query, {});
    if (!answer && answer.error().code != ErrorCode::kInvalidArgument) return fail(answer.error());
    if (socket.error().message.find("status 404") != std::string::npos) {
      return fail(ErrorCode::kNotFound,
                  "nothing is there to talk to: no such program or port, or the task is over",
                  "look at the command, and whether it still runs: fairlead list");
    }
  }
  if (!socket && socket.error().code == ErrorCode::kIo) {
    return out_of_reach(socket.error(), connection_);
  }
  return socket;
}

}  // namespace fairlead::cli

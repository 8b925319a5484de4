#include "net/client.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include <curl/curl.h>

#include "net/message.h"

namespace fairlead::net {
namespace {

void initialise_once() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

bool is_loopback(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::string_view rest = url.substr(scheme == std::string_view::npos ? 0 : scheme + 3);
  const std::string_view host = host_without_port(rest.substr(0, rest.find('/')));
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

class FieldList {
 public:
  FieldList() = default;
  FieldList(const FieldList&) = delete;
  FieldList& operator=(const FieldList&) = delete;
  ~FieldList() { curl_slist_free_all(list_); }

  void add(const std::string& line) { list_ = curl_slist_append(list_, line.c_str()); }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

}  // namespace

// What libcurl's callbacks fill.
struct HttpClient::Transfer {
  CURL* curl = nullptr;
  const std::atomic<bool>* cancelled = nullptr;
  std::size_t most_bytes = 0;
  OnLine on_line;
  ClientResponse response;
  std::string line;  // one that is not whole yet
  bool stopped = false;
  bool too_long = false;

  bool in_lines() {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return on_line && status >= 200 && status < 300;
  }

  bool take(std::string_view bytes) {
    if (!in_lines()) {
      response.body += bytes;
      too_long = response.body.size() > most_bytes;
      return !too_long;
    }
    while (true) {
      const std::size_t end = bytes.find('\n');
      line += bytes.substr(0, end);
      too_long = line.size() > most_bytes;
      if (too_long || end == std::string_view::npos) return !too_long;
      bytes.remove_prefix(end + 1);
      if (!hand_over()) return false;
    }
  }

  bool hand_over() {
    if (line.ends_with('\r')) line.pop_back();
    stopped = !on_line(line);
    line.clear();
    return !stopped;
  }

  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
    return static_cast<Transfer*>(self)->take({bytes, size * count}) ? size * count : 0;
  }

  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
    Headers& headers = static_cast<Transfer*>(self)->response.headers;
    std::string_view text(bytes, size * count);
    if (text.starts_with("HTTP/")) headers = {};  // those before were of a 1xx
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos && !text.starts_with("HTTP/")) {
      std::string_view value = text.substr(colon + 1);
      const std::size_t first = value.find_first_not_of(" \t\r\n");
      const std::size_t last = value.find_last_not_of(" \t\r\n");
      value = first == std::string_view::npos ? "" : value.substr(first, last - first + 1);
      headers.add(std::string(text.substr(0, colon)), std::string(value));
    }
    return size * count;
  }

  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return *static_cast<Transfer*>(self)->cancelled ? 1 : 0;
  }
};

HttpClient::HttpClient(ClientOptions options)
    : options_(std::move(options)), curl_(nullptr, &curl_easy_cleanup) {
  initialise_once();
  curl_.reset(curl_easy_init());
}

HttpClient::~HttpClient() = default;

Result<ClientResponse> HttpClient::request(const ClientRequest& request) {
  Transfer transfer;
  return perform(request, transfer, options_.total_time);
}

Result<ClientResponse> HttpClient::stream(const ClientRequest& request, OnLine on_line) {
  Transfer transfer;
  transfer.on_line = std::move(on_line);
  return perform(request, transfer, {});
}

Result<ClientResponse> HttpClient::perform(const ClientRequest& request, Transfer& transfer,
                                           Duration total_time) {
  CURL* const curl = curl_.get();
  if (curl == nullptr) return fail(ErrorCode::kFailed, "libcurl cannot be set up");
  Headers sent = request.headers;
  if (!options_.bearer_token.empty()) sent.set("Authorization", "Bearer " + options_.bearer_token);
  if (!sent.well_formed()) {
    return fail(ErrorCode::kInvalidArgument, "a header field holds characters that it must not",
                "look for line ends in the token");
  }
  FieldList fields;
  for (const auto& [name, value] : sent) {
    std::string line = name;
    line += value.empty() ? ";" : ": ";
    line += value;
    fields.add(line);
  }
  fields.add("Expect:");  // no round trip before a body

  transfer.curl = curl;
  transfer.cancelled = &cancelled_;
  transfer.most_bytes = options_.most_body_bytes;
  const std::string url = options_.base_url + request.target;
  char why[CURL_ERROR_SIZE] = "";

  curl_easy_reset(curl);  // keeps the connection
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_time.ms));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(total_time.ms));
  if (options_.stall_time.ms > 0) {
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
                     static_cast<long>((options_.stall_time.ms + 999) / 1000));
  }
  if (!options_.unix_socket.empty()) {
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, options_.unix_socket.c_str());
  }
  if (!options_.unix_socket.empty() || is_loopback(options_.base_url)) {
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
  }
  if (!options_.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, options_.ca_file.c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  const bool has_body = !request.body.empty() || request.method == "POST" ||
                        request.method == "PUT" || request.method == "PATCH";
  if (has_body) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
  }
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }

  const CURLcode code = curl_easy_perform(curl);
  const bool cancelled = cancelled_.exchange(false);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  transfer.response.status = static_cast<int>(status);
  if (transfer.too_long) {
    return fail(ErrorCode::kFailed, "the server's answer is longer than " +
                                        std::to_string(options_.most_body_bytes) + " bytes");
  }
  if (transfer.stopped) return std::move(transfer.response);
  if (code == CURLE_OK) {
    if (!transfer.line.empty()) transfer.hand_over();
    return std::move(transfer.response);
  }
  if (cancelled) return fail(ErrorCode::kFailed, "cancelled");
  const std::string whom = options_.unix_socket.empty() ? options_.base_url : options_.unix_socket;
  const std::string reason = why[0] != '\0' ? why : curl_easy_strerror(code);
  return fail(ErrorCode::kIo, "no answer from " + whom + ": " + reason);
}

}  // namespace fairlead::net

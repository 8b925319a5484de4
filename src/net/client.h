// An HTTP client over libcurl: blocking, one connection that is used again.
//
// Never follows a redirect: what answers is whom the caller named. A token is sent and never
// appears in an error. Proxies of the environment are used for other machines only. Thread-safety:
// one thread at a time, but cancel() from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/headers.h"

namespace fairlead::net {

struct ClientOptions {
  std::string base_url = "http://localhost";  // scheme, host and port
  std::string unix_socket;                    // connects there in place of the host
  std::string bearer_token;                   // empty: none is sent
  std::string ca_file;                        // empty: those that the system trusts
  Duration connect_time = seconds(5);
  Duration total_time = seconds(60);  // of request(); 0: no bound
  Duration stall_time = seconds(60);  // without a byte; whole seconds; 0: no bound
  std::size_t most_body_bytes = std::size_t{64} << 20U;  // of request(), and of a line of stream()
};

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // encoded: see percent_encode
  Headers headers;
  std::string body;
};

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};

class HttpClient {
 public:
  explicit HttpClient(ClientOptions options);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  // Any status is a response. Errors: kInvalidArgument (a malformed field), kIo (nobody answers,
  // cut off, took too long, a certificate that is not trusted), kFailed (longer than allowed,
  // cancelled).
  Result<ClientResponse> request(const ClientRequest& request);

  // Hands over each line of a 2xx body as it comes, without its end; false stops, which is no
  // error. The body of other statuses is in the response. Only stall_time bounds it.
  using OnLine = std::function<bool(std::string_view line)>;
  Result<ClientResponse> stream(const ClientRequest& request, OnLine on_line);

  // Ends the request under way, or the next, within a second.
  void cancel() { cancelled_ = true; }

 private:
  struct Transfer;
  Result<ClientResponse> perform(const ClientRequest& request, Transfer& transfer,
                                 Duration total_time);

  const ClientOptions options_;
  std::unique_ptr<void, void (*)(void*)> curl_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace fairlead::net

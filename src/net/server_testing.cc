#include "net/server_testing.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

namespace fairlead::net::testing {
namespace {

constexpr int kPatience = 30'000;

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "fl-XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Signal::set() {
  const std::lock_guard lock(mutex_);
  set_ = true;
  changed_.notify_all();
}

bool Signal::wait() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(kPatience), [&] { return set_; });
}

bool Signal::is_set() {
  const std::lock_guard lock(mutex_);
  return set_;
}

RawClient::RawClient(Descriptor socket) : socket_(std::move(socket)) {
  const int flags = ::fcntl(socket_.get(), F_GETFL);
  ::fcntl(socket_.get(), F_SETFL, flags & ~O_NONBLOCK);
}

RawClient RawClient::tcp(std::uint16_t port) {
  auto socket = connect_tcp("127.0.0.1", port, seconds(30));
  EXPECT_TRUE(socket) << (socket ? "" : socket.error().text());
  return RawClient(socket ? std::move(*socket) : Descriptor());
}

RawClient RawClient::unix_socket(const std::string& path) {
  auto socket = connect_unix(path);
  EXPECT_TRUE(socket) << (socket ? "" : socket.error().text());
  return RawClient(socket ? std::move(*socket) : Descriptor());
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawClient::finish_sending() {
  ::shutdown(socket_.get(), SHUT_WR);
}

bool RawClient::read_some() {
  pollfd wanted{socket_.get(), POLLIN, 0};
  if (::poll(&wanted, 1, kPatience) != 1) return false;
  char bytes[4096];
  const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
  if (got <= 0) return false;
  read_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

std::string RawClient::read_until(std::string_view end) {
  std::size_t at = 0;
  while ((at = read_.find(end)) == std::string::npos) {
    if (!read_some()) return std::exchange(read_, {});
  }
  std::string text = read_.substr(0, at + end.size());
  read_.erase(0, text.size());
  return text;
}

std::string RawClient::read_response() {
  std::string text = read_until("\r\n\r\n");
  constexpr std::string_view kField = "Content-Length: ";
  const std::size_t at = text.find(kField);
  if (at == std::string::npos) return text;
  std::size_t length = 0;
  std::from_chars(text.data() + at + kField.size(), text.data() + text.size(), length);
  while (read_.size() < length && read_some()) {
  }
  text += read_.substr(0, length);
  read_.erase(0, length);
  return text;
}

std::string RawClient::read_all() {
  while (read_some()) {
  }
  return std::exchange(read_, {});
}

TestServer::TestServer(HandlerFunction handler, Limits limits,
                       const std::function<void(ServerOptions&)>& change) {
  ServerOptions options;
  options.listeners.push_back({.name = "tcp", .at = TcpListener{}, .tls = {}, .allowed_hosts = {}});
  options.listeners.push_back({.name = "unix",
                               .at = UnixListener{.path = socket_path(), .mode = 0600},
                               .tls = {},
                               .allowed_hosts = {}});
  options.handler = std::move(handler);
  options.limits = limits;
  if (change) change(options);
  auto started = HttpServer::start(std::move(options));
  EXPECT_TRUE(started) << (started ? "" : started.error().text());
  if (started) server = std::move(*started);
}

std::string get(std::string_view target, std::string_view fields) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) +
         "\r\n";
}

std::string post(std::string_view target, std::string_view body) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

void echo(Request request, const ResponseWriter& writer) {
  writer.respond(200, {{"Content-Type", "text/plain"}},
                 request.method + " " + request.target.path + " " + request.body);
}

}  // namespace fairlead::net::testing

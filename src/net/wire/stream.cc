#include "net/wire/stream.h"

#include <sys/socket.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace fairlead::net::wire {
namespace {

using Socket = asio::generic::stream_protocol::socket;

int family_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family;
}

// RFC 6066, section 3: an address is no server name.
bool is_address(const std::string& host) {
  error_code no_address;
  asio::ip::make_address(host, no_address);
  return !no_address;
}

Socket socket_of(const Stream::executor_type& executor, int fd) {
  return {executor, asio::generic::stream_protocol(family_of(fd), 0), fd};
}

class PlainCarrier final : public Stream::Carrier {
 public:
  explicit PlainCarrier(Socket socket) : socket_(std::move(socket)) {}

  Stream::executor_type executor() override { return socket_.get_executor(); }
  void read_some(asio::mutable_buffer buffer, Stream::Moved done) override {
    socket_.async_read_some(buffer, std::move(done));
  }
  void write_some(const Gather& buffers, Stream::Moved done) override {
    socket_.async_write_some(buffers, std::move(done));
  }
  void handshake(Stream::Done done) override { finish(error_code(), std::move(done)); }
  void shutdown(Stream::Done done) override {
    error_code error;
    socket_.shutdown(Socket::shutdown_send, error);
    finish(error, std::move(done));
  }
  void cancel() override {
    error_code ignored;
    socket_.cancel(ignored);
  }
  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  void finish(error_code error, Stream::Done done) {
    asio::post(executor(), [d = std::move(done), error]() mutable { d(error); });
  }

  Socket socket_;
};

class TlsCarrier final : public Stream::Carrier {
 public:
  TlsCarrier(Socket socket, std::shared_ptr<asio::ssl::context> context, const std::string& host)
      : context_(std::move(context)),
        stream_(std::move(socket), *context_),
        client_(!host.empty()) {
    if (!client_) return;
    if (!is_address(host)) SSL_set_tlsext_host_name(stream_.native_handle(), host.c_str());
    stream_.set_verify_mode(asio::ssl::verify_peer);
    stream_.set_verify_callback(asio::ssl::host_name_verification(host));
  }

  Stream::executor_type executor() override { return stream_.get_executor(); }
  void read_some(asio::mutable_buffer buffer, Stream::Moved done) override {
    stream_.async_read_some(buffer, std::move(done));
  }
  void write_some(const Gather& buffers, Stream::Moved done) override {
    stream_.async_write_some(buffers, std::move(done));
  }
  void handshake(Stream::Done done) override {
    stream_.async_handshake(
        client_ ? asio::ssl::stream_base::client : asio::ssl::stream_base::server, std::move(done));
  }
  void shutdown(Stream::Done done) override { stream_.async_shutdown(std::move(done)); }
  void cancel() override {
    error_code ignored;
    stream_.lowest_layer().cancel(ignored);
  }
  void close() override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

 private:
  std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<Socket> stream_;
  bool client_;
};

}  // namespace

Stream plain_stream(const Stream::executor_type& executor, int fd) {
  return Stream(std::make_unique<PlainCarrier>(socket_of(executor, fd)));
}

Stream tls_stream(const Stream::executor_type& executor, int fd,
                  std::shared_ptr<asio::ssl::context> context, const std::string& host) {
  return Stream(std::make_unique<TlsCarrier>(socket_of(executor, fd), std::move(context), host));
}

}  // namespace fairlead::net::wire

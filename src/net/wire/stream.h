// One connection's bytes, whatever carries them: TCP, a unix socket, TLS over TCP.
//
// A virtual call per read and write in place of a template argument, so that HTTP and WebSocket are
// compiled once and not per kind. Satisfies Asio's AsyncStream and what Beast's WebSocket asks of
// it. Thread-safety: one strand at a time; all operations complete on the stream's executor.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/system/error_code.hpp>

namespace fairlead::net::wire {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

// Up to so many buffers go into one system call; the rest into the next. Enough for a head with all
// its fields: a server that is killed between two calls would leave half a head behind, which some
// clients take for a whole one.
class Gather {
 public:
  template <class Buffers>
  explicit Gather(const Buffers& buffers) {
    const auto end = asio::buffer_sequence_end(buffers);
    for (auto it = asio::buffer_sequence_begin(buffers); it != end && used_ < kMost; ++it) {
      const asio::const_buffer buffer(*it);
      if (buffer.size() > 0) parts_[used_++] = buffer;
    }
  }
  using value_type = asio::const_buffer;
  using const_iterator = const asio::const_buffer*;
  const_iterator begin() const { return parts_.data(); }
  const_iterator end() const { return parts_.data() + used_; }

 private:
  static constexpr std::size_t kMost = 64;
  std::array<asio::const_buffer, kMost> parts_;
  std::size_t used_ = 0;
};

class Stream {
 public:
  using executor_type = asio::any_io_executor;
  using Moved = std::move_only_function<void(error_code, std::size_t)>;
  using Done = std::move_only_function<void(error_code)>;

  class Carrier {
   public:
    Carrier() = default;
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;
    virtual ~Carrier() = default;
    virtual executor_type executor() = 0;
    virtual void read_some(asio::mutable_buffer buffer, Moved done) = 0;
    virtual void write_some(const Gather& buffers, Moved done) = 0;
    virtual void handshake(Done done) = 0;  // of TLS; else done at once
    virtual void shutdown(Done done) = 0;   // says that nothing more is sent
    virtual void cancel() = 0;
    virtual void close() = 0;
  };

  explicit Stream(std::unique_ptr<Carrier> carrier) : carrier_(std::move(carrier)) {}

  executor_type get_executor() const { return carrier_->executor(); }

  // These bytes were read ahead and come first.
  void put_back(std::string bytes) { ahead_ = std::move(bytes); }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, asio::mutable_buffer buffer) {
          if (ahead_.empty()) {
            carrier_->read_some(buffer, Moved(std::move(handler)));
          } else {
            const std::size_t taken = asio::buffer_copy(buffer, asio::buffer(ahead_));
            ahead_.erase(0, taken);
            asio::post(get_executor(), [h = Moved(std::move(handler)), taken]() mutable {
              h(error_code(), taken);
            });
          }
        },
        token, first_of(buffers));
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Gather& gather) {
          carrier_->write_some(gather, Moved(std::move(handler)));
        },
        token, Gather(buffers));
  }

  void handshake(Done done) { carrier_->handshake(std::move(done)); }
  void shutdown(Done done) { carrier_->shutdown(std::move(done)); }
  void cancel() { carrier_->cancel(); }
  void close() { carrier_->close(); }

  // What Beast's WebSocket calls at its end and when it times out.
  friend void beast_close_socket(Stream& stream) { stream.close(); }
  template <class Handler>
  friend void async_teardown(beast::role_type /*role*/, Stream& stream, Handler&& handler) {
    stream.close();
    asio::post(stream.get_executor(),
               [h = Done(std::forward<Handler>(handler))]() mutable { h(error_code()); });
  }

 private:
  template <class Buffers>
  static asio::mutable_buffer first_of(const Buffers& buffers) {
    const auto end = asio::buffer_sequence_end(buffers);
    for (auto it = asio::buffer_sequence_begin(buffers); it != end; ++it) {
      const asio::mutable_buffer buffer(*it);
      if (buffer.size() > 0) return buffer;
    }
    return {};
  }

  std::unique_ptr<Carrier> carrier_;
  std::string ahead_;
};

// Takes the descriptor of a connected socket over.
Stream plain_stream(const Stream::executor_type& executor, int fd);

// `context` is kept for as long as the stream lives. `host` is whom a client expects at the other
// end (empty: a server).
Stream tls_stream(const Stream::executor_type& executor, int fd,
                  std::shared_ptr<asio::ssl::context> context, const std::string& host);

}  // namespace fairlead::net::wire

// A listening socket whose connections are handed on as they come.
//
// Thread-safety: runs on a strand of its own; open() and stop() from any thread.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include "net/sockets.h"

namespace fairlead::net::wire {

class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  using OnAccept = std::function<void(Descriptor)>;

  // `fd` stays the caller's and must outlive the threads that run `context`.
  Acceptor(boost::asio::io_context& context, int fd, OnAccept on_accept);
  ~Acceptor();

  void open();
  void stop();

 private:
  void wait();
  void accept_all();

  const int fd_;
  const OnAccept on_accept_;
  boost::asio::strand<boost::asio::io_context::executor_type> strand_;
  boost::asio::posix::stream_descriptor waiting_;
  boost::asio::steady_timer pause_;
  bool stopped_ = false;
};

}  // namespace fairlead::net::wire

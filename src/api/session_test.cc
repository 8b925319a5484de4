// Sessions and forwarded ports over WebSockets: streams.h, from the client's side.
#include <atomic>
#include <fcntl.h>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "api/streams_testing.h"
#include "net/sockets.h"

namespace fairlead::api {
namespace {

using engine::Channel;
using engine::SessionExit;
using net::WebSocketClient;
using net::testing::Signal;
using testing::SessionEnd;
using testing::StreamsServer;

class Session : public ::testing::Test {
 protected:
  // What a supervisor does with each session, on a thread of its own.
  void serve(const std::function<void(SessionEnd&)>& play) {
    server_.engine.on_session = [this, play](SessionEnd end, const engine::SessionRequest&) {
      players_.emplace_back([play, e = std::move(end)]() mutable { play(e); });
    };
  }
  static std::string received(WebSocketClient& client) {
    auto message = client.receive();
    if (!message) return message.error().text();
    return *message ? (*message)->bytes : "the end";
  }
  static void say(WebSocketClient& client, std::string bytes) {
    const auto sent = client.send({std::move(bytes), true});
    EXPECT_TRUE(sent) << sent.error().text();
  }

  std::vector<std::jthread> players_;
  StreamsServer server_;
};

TEST_F(Session, CarriesInputOutputWindowAndExitStatus) {
  serve([](SessionEnd& end) {
    const auto input = end.next();
    ASSERT_TRUE(input);
    EXPECT_EQ(input->bytes, "cat\n");
    const auto window = end.next();
    ASSERT_TRUE(window);
    EXPECT_EQ(engine::parse_resize(window->bytes)->columns, 100);
    EXPECT_EQ(engine::parse_resize(window->bytes)->rows, 30);
    const auto last = end.next();
    ASSERT_TRUE(last);
    EXPECT_EQ(last->channel, Channel::kInput);
    EXPECT_EQ(last->bytes, "");
    end.say(Channel::kOutput, "out");
    end.say(Channel::kError, "error");
    end.say(Channel::kNote, "note");
    end.send(engine::exit_frame({SessionExit::Kind::kSignal, 9, {}}));
  });
  const auto client = server_.session();
  say(*client, std::string("\0cat\n", 5));
  say(*client, "\003100x30");
  say(*client, std::string(1, '\0'));
  EXPECT_EQ(received(*client), "\001out");
  EXPECT_EQ(received(*client), "\002error");
  EXPECT_EQ(received(*client), "\005note");
  EXPECT_EQ(received(*client), "\004137");
  EXPECT_EQ(received(*client), "the end");
}

TEST_F(Session, OfAClientThatLeavesIsClosed) {
  Signal left;
  serve([&](SessionEnd& end) {
    while (end.next()) {
    }
    left.set();
  });
  auto client = server_.session();
  say(*client, std::string("\0x", 2));
  client.reset();
  EXPECT_TRUE(left.wait());
}

TEST_F(Session, WhatTheProtocolDoesNotKnowEndsIt) {
  Signal left;
  serve([&](SessionEnd& end) {
    while (end.next()) {
    }
    left.set();
  });
  const auto client = server_.session();
  say(*client, "\007what");
  EXPECT_TRUE(received(*client).contains("1003: the channels to a task are 0 and 3"));
  EXPECT_TRUE(left.wait());
}

TEST_F(Session, ThatBreaksOffIsNoEnd) {
  serve([](SessionEnd& end) { end.say(Channel::kOutput, "out"); });
  const auto client = server_.session();
  EXPECT_EQ(received(*client), "\001out");
  EXPECT_TRUE(received(*client).contains("1011: the session broke off"));
}

TEST_F(Session, OfAnEngineThatSpeaksNoFramesIsAnError) {
  serve([](SessionEnd& end) { end.send("no frame at all"); });
  const auto client = server_.session();
  EXPECT_TRUE(received(*client).contains("1011"));
}

TEST_F(Session, ThatTheEngineRefusesIsAProblem) {
  const auto refused = server_.websocket("/session");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().text().contains("409")) << refused.error().text();
}

// 20 MB each way at once: more than the queues and sockets between hold, so that each end waits
// for the other.
TEST_F(Session, CarriesMoreThanItHoldsInOrder) {
  constexpr int kMessages = 100;
  const std::string filling(200'000, 'x');
  serve([&](SessionEnd& end) {
    for (int i = 0; i < kMessages; ++i) {
      const auto frame = end.next();
      ASSERT_TRUE(frame) << i;
      ASSERT_TRUE(end.say(Channel::kOutput, frame->bytes)) << i;
    }
    end.send(engine::exit_frame({SessionExit::Kind::kExitCode, 0, {}}));
  });
  const auto client = server_.session();
  std::jthread sender([&] {
    for (int i = 0; i < kMessages; ++i) {
      say(*client, std::string(1, '\0') + std::to_string(i) + filling);
    }
  });
  for (int i = 0; i < kMessages; ++i) {
    const std::string message = received(*client);
    ASSERT_EQ(message.size(), 1 + std::to_string(i).size() + filling.size()) << i;
    ASSERT_TRUE(message.starts_with("\001" + std::to_string(i) + "x")) << i;
  }
  EXPECT_EQ(received(*client), std::string("\004") + "0");
}

// A process that says much and a client that listens to none of it, and the other way round: the
// server lets go of both.
TEST_F(Session, EndsWhenTheStreamsDoHoweverFullItIs) {
  Signal left;
  serve([&](SessionEnd& end) {
    while (end.say(Channel::kOutput, std::string(100'000, 'x'))) {
    }
    left.set();
  });
  const auto client = server_.session();
  say(*client, std::string("\0x", 2));
  received(*client);
  server_.streams.reset();
  EXPECT_TRUE(left.wait());
}

TEST_F(Session, MoreThanTheMostAreRefusedUntilOthersEnd) {
  std::mutex mutex;
  std::vector<SessionEnd> opened_ends;
  server_.engine.on_session = [&](SessionEnd end, const engine::SessionRequest&) {
    const std::lock_guard lock(mutex);
    opened_ends.push_back(std::move(end));
  };
  std::vector<std::unique_ptr<WebSocketClient>> clients;
  clients.reserve(Streams::kMostSessions);
  for (std::size_t i = 0; i < Streams::kMostSessions; ++i) clients.push_back(server_.session());
  for (std::size_t i = Streams::kMostSessions; i < 300; ++i) {
    const auto refused = server_.websocket("/session");
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().text().contains("503")) << refused.error().text();
  }
  std::vector<SessionEnd> ends;
  {
    const std::lock_guard lock(mutex);
    ends.swap(opened_ends);
  }
  // The engine was not asked for those.
  EXPECT_EQ(ends.size(), Streams::kMostSessions);
  say(*clients.back(), std::string("\0x", 2));
  EXPECT_EQ(ends.back().next()->bytes, "x");
  ends.front().send(engine::exit_frame({SessionExit::Kind::kExitCode, 0, {}}));
  ends.front().close();
  EXPECT_EQ(received(*clients.front()), std::string("\004") + "0");
  EXPECT_EQ(received(*clients.front()), "the end");
  // Its thread may take a moment more.
  bool opened = false;
  for (int i = 0; i < 1000 && !opened; ++i) opened = server_.websocket("/session").has_value();
  EXPECT_TRUE(opened);
}

// An engine that takes its time over opening a session (a task without CPU time) once held up the
// few threads that serve everyone.
TEST_F(Session, ThatIsBeingOpenedHoldsUpNobody) {
  Signal go;
  server_.engine.on_session = [&](SessionEnd end, const engine::SessionRequest&) {
    EXPECT_TRUE(go.wait());
    end.send(engine::exit_frame({SessionExit::Kind::kExitCode, 0, {}}));
  };
  std::vector<std::jthread> askers;
  std::atomic<std::size_t> ended = 0;
  std::atomic<std::size_t> refused = 0;
  for (std::size_t i = 0; i < Streams::kMostOpening + 3; ++i) {
    askers.emplace_back([&] {
      auto client = server_.websocket("/session");
      if (!client) {
        EXPECT_TRUE(client.error().text().contains("503")) << client.error().text();
        ++refused;
        return;
      }
      EXPECT_EQ(received(**client), std::string("\004") + "0");
      ++ended;
    });
  }
  while (refused < 3) std::this_thread::yield();
  server_.log_request = [] {
    LogRequest request;
    request.attempt = "none";
    return request;
  };
  EXPECT_EQ(server_.get("/log").status, 404);
  go.set();
  askers.clear();
  EXPECT_EQ(ended, Streams::kMostOpening);
}

class Forward : public Session {
 protected:
  Forward() { server_.uid = ::geteuid(); }

  void listen(const std::string& address) {
    auto socket = net::listen_tcp(address, 0);
    if (!socket) return;
    server_.port = net::bound_port(socket->get());
    listener_.reset(socket->release());
    ::fcntl(listener_.get(), F_SETFL, 0);
  }
  SessionEnd accepted() const {
    return SessionEnd(engine::Descriptor(::accept4(listener_.get(), nullptr, nullptr, 0)));
  }

  engine::Descriptor listener_;
};

// Raw bytes: the other end reads what is a frame only to the test.
TEST_F(Forward, CarriesBytesAndTheirEndBothWays) {
  for (const char* address : {"127.0.0.1", "::1"}) {
    listener_.reset();
    listen(address);
    if (!listener_) continue;  // a machine without IPv6
    auto client = server_.websocket("/forward");
    ASSERT_TRUE(client) << client.error().text();
    SessionEnd end = accepted();
    std::string frame;
    engine::append_frame(frame, Channel::kInput, "question");
    say(**client, frame);
    EXPECT_EQ(end.next()->bytes, "question");
    say(**client, "");
    EXPECT_FALSE(end.next());
    end.send("answer");
    EXPECT_EQ(received(**client), "answer");
    end.close();
    EXPECT_EQ(received(**client), "the end");
  }
}

TEST_F(Forward, TheTaskMayEndItsSideFirst) {
  listen("127.0.0.1");
  auto client = server_.websocket("/forward");
  ASSERT_TRUE(client) << client.error().text();
  SessionEnd end = accepted();
  end.send("all I have to say");
  end.end_output();
  EXPECT_EQ(received(**client), "all I have to say");
  EXPECT_EQ(received(**client), "") << "that it says no more";
  std::string frame;
  engine::append_frame(frame, Channel::kInput, "heard");
  say(**client, frame);
  EXPECT_EQ(end.next()->bytes, "heard");
  say(**client, "");
  EXPECT_FALSE(end.next());
  EXPECT_EQ(received(**client), "the end");
}

TEST_F(Forward, WhatAClientSentBeforeItLeftArrives) {
  listen("127.0.0.1");
  auto client = server_.websocket("/forward");
  ASSERT_TRUE(client) << client.error().text();
  SessionEnd end = accepted();
  std::string frame;
  engine::append_frame(frame, Channel::kInput, "last words");
  say(**client, frame);
  (*client)->close();
  const auto heard = end.next();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->bytes, "last words");
  EXPECT_FALSE(end.next());
}

TEST_F(Forward, ToAListenerOfAnotherAccountIsRefused) {
  listen("127.0.0.1");
  server_.uid = ::geteuid() + 1;
  const auto refused = server_.websocket("/forward");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().text().contains("403")) << refused.error().text();
}

TEST_F(Forward, ToAPortOnWhichNothingListensIsRefused) {
  listen("127.0.0.1");
  listener_.reset();
  const auto refused = server_.websocket("/forward");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().text().contains("404")) << refused.error().text();
}

}  // namespace
}  // namespace fairlead::api

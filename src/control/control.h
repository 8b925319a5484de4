// The control thread: takes requests and reports from any thread, carries them out in batches at
// the desk, and answers when what they did is on the disk.
//
// Invariant: nobody is told of anything that could still be lost. A batch that cannot be written
// has not happened: its requests are refused, the engine's reports of it are kept and tried again,
// and the desk is built anew from the store.
//
// Thread-safe. Replies run on the control thread and must not block.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control/desk.h"

namespace fairlead::control {

struct Answer {
  int status = 200;
  std::string body;           // JSON; empty: none
  std::int64_t revision = 0;  // for the ETag; 0: none
  std::string location;
};

// A write as it came in.
struct Write {
  Intent intent;
  std::string method;
  std::string path;
  std::string key;     // Idempotency-Key; empty: none
  std::string digest;  // of the request, where there is a key
};

class Control {
 public:
  using Operation = std::function<Result<Outcome>(Desk&)>;
  using Reply = std::function<void(Result<Answer>)>;

  Control(DeskOptions options, store::Store& store, const Clock& clock, IdSource& ids,
          ChangeLog& log);
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  ~Control();  // stop()

  // What the engine is given; it may be called before start().
  engine::Sink sink();

  // Recovers from the store and begins. The engine must live until stop(). Errors: those of the
  // store and of records that cannot be read.
  Result<void> start(engine::Engine& engine);
  // Lets the batch under way end, refuses what waits, ends the thread. Tasks go on.
  void stop();

  void write(Write write, Operation operation, Reply reply);
  // Sees what is committed.
  void read(Operation operation, Reply reply);

  // A number that changes whenever the rights of a user, a token or a session do.
  std::uint64_t rights() const { return desk_->rights().load(); }

  // Why the last batch could not be written; nullopt while all is well.
  std::optional<Error> trouble() const;

 private:
  struct Request {
    bool is_write = false;
    Write write;
    Operation operation;
    Reply reply;
  };
  struct Answered {
    Reply reply;
    Result<Answer> answer;
  };

  void run();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  void work(std::deque<Request> requests, std::deque<engine::Report> reports);
  std::shared_ptr<Answered> carry_out(Request& request);
  std::optional<Result<Answer>> kept_answer(const Write& write);

  store::Store& store_;
  const Clock& clock_;
  DeskOptions options_;
  IdSource& ids_;
  ChangeLog& log_;
  std::unique_ptr<Desk> desk_;  // the control thread's, once it runs

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All below: guarded by mutex_.
  std::deque<Request> requests_;
  std::deque<engine::Report> reports_;
  std::optional<Error> trouble_;
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace fairlead::control

// Short tasks per second through the local engine, beside a bare loop of fork and exec.
//
// With and without control groups, and with the state directory on a disk (/var/tmp), whose journal
// must take two commits per task, or in memory. `pss_kib` is what one supervisor holds of memory
// that is not shared, of 50 at rest.
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "engine/local/launcher.h"
#include "engine/local/local_engine.h"
#include "node/processes.h"

namespace fairlead::bench {
namespace {

using engine::Ended;
using engine::LocalEngine;
using engine::LocalEngineOptions;
using engine::Report;
using engine::Started;
using engine::TaskLaunch;

constexpr std::int64_t kTasks = 2000;
constexpr std::int64_t kInFlight = 16;  // as a machine of 16 GPUs would have
const char* const kProgram = "/bin/true";

class Tasks {
 public:
  Tasks(bool groups, bool disk)
      : folder_(std::string(disk ? "/var/tmp" : "/dev/shm") + "/fairlead-bench-XXXXXX") {
    FAIRLEAD_CHECK(::mkdtemp(folder_.data()) != nullptr, "the folder can be written to");
    LocalEngineOptions options;
    options.state = folder_ + "/state";
    options.runtime = folder_ + "/runtime";
    options.use_control_groups = groups;
    auto opened = LocalEngine::open(options, [this](Report report) { take(std::move(report)); });
    FAIRLEAD_CHECK(opened.has_value(), "the engine opens");
    engine_ = std::move(*opened);
  }
  ~Tasks() {
    engine_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void start(std::vector<std::string> command) {
    TaskLaunch launch;
    launch.attempt = "task-" + std::to_string(next_++);
    launch.command = std::move(command);
    launch.environment = {{"PATH", "/usr/bin:/bin"}};
    FAIRLEAD_CHECK(engine_->start(std::move(launch)).has_value(), "the launch is good");
  }
  // Until at most `most` have not ended.
  void wait(std::int64_t most) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ - ended_ <= most; });
  }
  void wait_started(std::int64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return std::ssize(pids_) >= count; });
  }
  void stop_all() {
    for (std::int64_t i = 0; i < next_; ++i) {
      (void)engine_->stop("task-" + std::to_string(i), {"over", "", SIGTERM, Duration{0}});
    }
    wait(0);
  }
  const std::vector<std::int64_t>& pids() const { return pids_; }

 private:
  void take(Report report) {
    if (const auto* ended = std::get_if<Ended>(&report)) (void)engine_->remove(ended->attempt);
    const std::lock_guard guard(mutex_);
    if (const auto* started = std::get_if<Started>(&report)) pids_.push_back(started->pid);
    ended_ += std::holds_alternative<Ended>(report);
    changed_.notify_all();
  }

  std::string folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> pids_;
  std::atomic<std::int64_t> next_{0};
  std::int64_t ended_ = 0;
  std::unique_ptr<LocalEngine> engine_;
};

void bare_fork_and_exec(benchmark::State& state) {
  for (auto _ : state) {
    for (std::int64_t i = 0; i < kTasks; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::execl(kProgram, kProgram, nullptr);
        ::_exit(1);
      }
      ::waitpid(pid, nullptr, 0);
    }
  }
  state.SetItemsProcessed(state.iterations() * kTasks);
}

void short_tasks(benchmark::State& state) {
  Tasks tasks(state.range(0) == 1, state.range(1) == 1);
  for (auto _ : state) {
    for (std::int64_t i = 0; i < kTasks; ++i) {
      tasks.wait(kInFlight - 1);
      tasks.start({kProgram});
    }
    tasks.wait(0);
  }
  state.SetItemsProcessed(state.iterations() * kTasks);
}

void memory_of_supervisors(benchmark::State& state) {
  constexpr std::int64_t kMany = 50;
  double pss = 0;
  for (auto _ : state) {
    Tasks tasks(true, false);
    for (std::int64_t i = 0; i < kMany; ++i) tasks.start({"sleep", "1000"});
    tasks.wait_started(kMany);
    for (const std::int64_t pid : tasks.pids()) {
      const auto process = node::find_process(static_cast<pid_t>(pid));
      if (!process) continue;
      std::ifstream smaps("/proc/" + std::to_string(process->parent) + "/smaps_rollup");
      for (std::string line; std::getline(smaps, line);) {
        if (line.starts_with("Pss:")) pss += std::strtod(line.c_str() + 4, nullptr);
      }
    }
    tasks.stop_all();
  }
  state.counters["pss_kib"] = pss / static_cast<double>(kMany * state.iterations());
}

BENCHMARK(bare_fork_and_exec)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(short_tasks)
    ->ArgNames({"groups", "disk"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(memory_of_supervisors)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fairlead::bench

int main(int argc, char** argv) {
  if (const auto status = fairlead::engine::launcher_main(argc, argv)) return *status;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

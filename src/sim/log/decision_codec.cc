#include "sim/log/decision_codec.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/log/fields.h"

namespace fairlead::sim {

template <>
inline constexpr auto kLastValue<sched::StopCause> = sched::StopCause::kStale;

namespace {

// What stands at the head of each kind of decision.
constexpr std::int64_t kStarted = 0;
constexpr std::int64_t kStopped = 1;
constexpr std::int64_t kFinished = 2;
static_assert(std::variant_size_v<sched::Decision> == 3, "every kind of decision has its head");

template <class Tag>
std::int64_t number_of_id(Id<Tag> id) {
  return id.valid() ? std::int64_t{id.value} : -1;
}

struct Packer {
  const NamedDecision& named;
  Packed::List out;

  void add(std::int64_t number) { out.emplace_back(number); }
  void add(std::string text) { out.emplace_back(std::move(text)); }

  // Whole devices and parts are three numbers, MIG instances seven.
  static Packed device(const sched::DeviceClaim& c) {
    if (c.mig_start < 0 && c.mig_profile < 0) {
      return packed_numbers({c.device, c.milli.value, c.memory.value});
    }
    return packed_numbers({c.device, c.milli.value, c.memory.value, c.mig_start, c.mig_profile,
                           c.mig_memory_slices, c.mig_compute_slices});
  }

  static Packed task(const sched::TaskPlacement& task, const std::string& node) {
    Packed::List devices;
    for (const sched::DeviceClaim& claim : task.devices) devices.push_back(device(claim));
    Packed::List cpus;
    for (const sched::CpuClaim& claim : task.cpus) {
      cpus.push_back(packed_numbers({claim.cell, claim.cpu.value}));
    }
    Packed::List list;
    list.emplace_back(std::int64_t{task.role});
    list.emplace_back(std::int64_t{task.index});
    list.emplace_back(number_of_id(task.node));
    list.emplace_back(node);
    list.emplace_back(std::move(devices));
    list.emplace_back(std::move(cpus));
    return Packed(std::move(list));
  }

  void operator()(const sched::Started& e) {
    add(kStarted);
    add(number_of_id(e.workload));
    add(named.workload);
    add(number_of_id(e.pool));
    add(named.pool);
    add(e.growth ? 1 : 0);
    Packed::List tasks;
    for (std::size_t i = 0; i < e.tasks.size(); ++i)
      tasks.push_back(task(e.tasks[i], named.nodes[i]));
    out.emplace_back(std::move(tasks));
  }
  void operator()(const sched::Stopped& e) {
    add(kStopped);
    add(number_of_id(e.workload));
    add(named.workload);
    add(static_cast<std::int64_t>(e.cause));
    add(number_of_id(e.claimant));
    add(named.claimant);
    add(e.text);
    add(e.grace.ms);
    add(e.submitted.ms);
    Packed::List tasks;
    for (const auto& [role, index] : e.tasks) tasks.push_back(packed_numbers({role, index}));
    out.emplace_back(std::move(tasks));
  }
  void operator()(const sched::Finished& e) {
    add(kFinished);
    add(number_of_id(e.workload));
    add(e.name);
    add(e.succeeded ? 1 : 0);
  }
};

// Takes the items of a list one after the other; what is wrong is kept until done().
class Items {
 public:
  explicit Items(const Packed& packed) {
    const auto list = list_of(packed);
    if (list) {
      list_ = *list;
    } else {
      problem_ = list.error();
    }
  }

  std::size_t left() const { return list_ == nullptr ? 0 : list_->size() - next_; }

  template <class T>
  void take(T& target) {
    if (const Packed* item = next()) note(unpack(*item, target));
  }
  void take(MilliGpu& target) { take(target.value); }
  template <class Tag>
  void take_id(Id<Tag>& target) {
    const Packed* item = next();
    if (item == nullptr) return;
    const auto number = number_of(*item, -1, std::int64_t{Id<Tag>::kNoneValue} - 1);
    if (!number) return note(std::unexpected(number.error()));
    target = *number < 0 ? Id<Tag>{} : Id<Tag>(static_cast<std::size_t>(*number));
  }
  template <class Read>
  void each(Read read) {
    const Packed* item = next();
    if (item == nullptr) return;
    const auto list = list_of(*item);
    if (!list) return note(std::unexpected(list.error()));
    for (const Packed& one : **list) {
      if (!problem_) note(read(one));
    }
  }

  // Error: the first that was wrong, or items that nobody took.
  Result<void> done() const {
    if (problem_) return std::unexpected(*problem_);
    if (left() == 0) return {};
    return fail(ErrorCode::kInvalidArgument, "a list has more parts than this version knows");
  }

 private:
  const Packed* next() {
    if (problem_) return nullptr;
    if (left() > 0) return &(*list_)[next_++];
    problem_ = Error{ErrorCode::kInvalidArgument, "a list has too few parts", {}, {}, {}};
    return nullptr;
  }
  void note(const Result<void>& read) {
    if (!read && !problem_) problem_ = read.error();
  }

  const Packed::List* list_ = nullptr;
  std::size_t next_ = 0;
  std::optional<Error> problem_;
};

Result<sched::DeviceClaim> unpack_device(const Packed& packed) {
  Items in(packed);
  sched::DeviceClaim claim;
  in.take(claim.device);
  in.take(claim.milli);
  in.take(claim.memory);
  if (in.left() > 0) {
    in.take(claim.mig_start);
    in.take(claim.mig_profile);
    in.take(claim.mig_memory_slices);
    in.take(claim.mig_compute_slices);
  }
  FAIRLEAD_TRY(in.done());
  return claim;
}

Result<sched::CpuClaim> unpack_cpu(const Packed& packed) {
  Items in(packed);
  sched::CpuClaim claim;
  in.take(claim.cell);
  in.take(claim.cpu);
  FAIRLEAD_TRY(in.done());
  return claim;
}

Result<void> unpack_task(const Packed& packed, sched::TaskPlacement& task, std::string& node) {
  Items in(packed);
  in.take(task.role);
  in.take(task.index);
  in.take_id(task.node);
  in.take(node);
  in.each([&](const Packed& one) -> Result<void> {
    FAIRLEAD_ASSIGN(sched::DeviceClaim claim, unpack_device(one));
    task.devices.push_back(claim);
    return {};
  });
  in.each([&](const Packed& one) -> Result<void> {
    FAIRLEAD_ASSIGN(sched::CpuClaim claim, unpack_cpu(one));
    task.cpus.push_back(claim);
    return {};
  });
  return in.done();
}

void unpack_started(Items& in, NamedDecision& out) {
  sched::Started e;
  in.take_id(e.workload);
  in.take(out.workload);
  in.take_id(e.pool);
  in.take(out.pool);
  in.take(e.growth);
  in.each([&](const Packed& one) {
    return unpack_task(one, e.tasks.emplace_back(), out.nodes.emplace_back());
  });
  out.decision = std::move(e);
}

void unpack_stopped(Items& in, NamedDecision& out) {
  sched::Stopped e;
  in.take_id(e.workload);
  in.take(out.workload);
  in.take(e.cause);
  in.take_id(e.claimant);
  in.take(out.claimant);
  in.take(e.text);
  in.take(e.grace.ms);
  in.take(e.submitted.ms);
  in.each([&](const Packed& one) {
    Items task(one);
    auto& [role, index] = e.tasks.emplace_back();
    task.take(role);
    task.take(index);
    return task.done();
  });
  out.decision = std::move(e);
}

void unpack_finished(Items& in, NamedDecision& out) {
  sched::Finished e;
  in.take_id(e.workload);
  in.take(e.name);
  in.take(e.succeeded);
  out.workload = e.name;
  out.decision = std::move(e);
}

}  // namespace

std::vector<NamedDecision> named(const std::vector<sched::Decision>& decisions,
                                 const sched::Scheduler& core) {
  std::vector<NamedDecision> out(decisions.size());
  std::map<sched::WorkloadId, std::string> gone;  // by what finishes later in the list
  const auto name_of = [&](sched::WorkloadId id) {
    const auto it = gone.find(id);
    return it == gone.end() ? core.workload_name(id) : it->second;
  };
  for (std::size_t i = decisions.size(); i-- > 0;) {
    NamedDecision& one = out[i];
    one.decision = decisions[i];
    if (const auto* started = std::get_if<sched::Started>(&decisions[i])) {
      one.workload = name_of(started->workload);
      one.pool = core.pool_name(started->pool);
      for (const sched::TaskPlacement& task : started->tasks) {
        one.nodes.push_back(core.node_name(task.node));
      }
    } else if (const auto* stopped = std::get_if<sched::Stopped>(&decisions[i])) {
      one.workload = name_of(stopped->workload);
      if (stopped->claimant.valid()) one.claimant = name_of(stopped->claimant);
    } else if (const auto* finished = std::get_if<sched::Finished>(&decisions[i])) {
      one.workload = finished->name;
      gone[finished->workload] = finished->name;
    }
  }
  return out;
}

Packed pack_decisions(const std::vector<NamedDecision>& decisions) {
  Packed::List list;
  list.reserve(decisions.size());
  for (const NamedDecision& one : decisions) {
    Packer packer{one, {}};
    std::visit(packer, one.decision);
    list.emplace_back(std::move(packer.out));
  }
  return Packed(std::move(list));
}

Result<std::vector<NamedDecision>> unpack_decisions(const Packed& packed) {
  FAIRLEAD_ASSIGN(const Packed::List* list, list_of(packed));
  std::vector<NamedDecision> out;
  for (const Packed& item : *list) {
    Items in(item);
    std::int64_t head = -1;
    in.take(head);
    NamedDecision& one = out.emplace_back();
    if (head == kStarted) {
      unpack_started(in, one);
    } else if (head == kStopped) {
      unpack_stopped(in, one);
    } else if (head == kFinished) {
      unpack_finished(in, one);
    }
    FAIRLEAD_TRY(in.done());
    if (head < kStarted || head > kFinished) {
      return fail(ErrorCode::kInvalidArgument, "holds a kind of decision that this version lacks");
    }
  }
  return out;
}

}  // namespace fairlead::sim

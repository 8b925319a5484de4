#include "sim/log/event_codec.h"

#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "sim/log/spec_fields.h"

namespace fairlead::sim {

template <>
struct Fields<sched::RoleChange> {
  using T = sched::RoleChange;
  static constexpr auto list =
      std::tuple{Field{"role", &T::role}, Field{"count", &T::count}, Field{"min", &T::min}};
};

template <>
struct Fields<sched::MixStated::Entry> {
  using T = sched::MixStated::Entry;
  static constexpr auto list =
      std::tuple{Field{"request", &T::request}, Field{"constraints", &T::constraints},
                 Field{"count", &T::count}};
};

// One row per kind of event: its name in a log, and its fields.

template <>
struct Fields<sched::TopologyDefined> {
  static constexpr const char* name = "topology";
  static constexpr auto list = std::tuple{Field{"levels", &sched::TopologyDefined::levels}};
};
template <>
struct Fields<sched::DeviceClassDefined> {
  static constexpr const char* name = "device-class";
  static constexpr auto list = std::tuple{Field{"class", &sched::DeviceClassDefined::device_class}};
};
template <>
struct Fields<sched::PoolDefined> {
  static constexpr const char* name = "pool";
  static constexpr auto list = std::tuple{Field{"pool", &sched::PoolDefined::pool}};
};
template <>
struct Fields<sched::NodeUpserted> {
  static constexpr const char* name = "node";
  static constexpr auto list = std::tuple{Field{"node", &sched::NodeUpserted::node}};
};
template <>
struct Fields<sched::NodeRemoved> {
  static constexpr const char* name = "node-removed";
  static constexpr auto list = std::tuple{Field{"node", &sched::NodeRemoved::node}};
};
template <>
struct Fields<sched::NodeConditionChanged> {
  static constexpr const char* name = "node-condition";
  using T = sched::NodeConditionChanged;
  static constexpr auto list = std::tuple{Field{"node", &T::node}, Field{"ready", &T::ready},
                                          Field{"schedulable", &T::schedulable}};
};
template <>
struct Fields<sched::DeviceHealthChanged> {
  static constexpr const char* name = "device-health";
  using T = sched::DeviceHealthChanged;
  static constexpr auto list =
      std::tuple{Field{"node", &T::node}, Field{"device", &T::device}, Field{"health", &T::health}};
};
template <>
struct Fields<sched::QueueUpserted> {
  static constexpr const char* name = "queue";
  static constexpr auto list = std::tuple{Field{"queue", &sched::QueueUpserted::queue}};
};
template <>
struct Fields<sched::QueueRemoved> {
  static constexpr const char* name = "queue-removed";
  static constexpr auto list = std::tuple{Field{"queue", &sched::QueueRemoved::queue}};
};
template <>
struct Fields<sched::WorkloadSubmitted> {
  static constexpr const char* name = "submitted";
  static constexpr auto list = std::tuple{Field{"workload", &sched::WorkloadSubmitted::workload}};
};
template <>
struct Fields<sched::WorkloadAdopted> {
  static constexpr const char* name = "adopted";
  static constexpr auto list = std::tuple{Field{"entry", &sched::WorkloadAdopted::entry}};
};
template <>
struct Fields<sched::WorkloadChanged> {
  static constexpr const char* name = "changed";
  using T = sched::WorkloadChanged;
  static constexpr auto list =
      std::tuple{Field{"workload", &T::workload}, Field{"priority", &T::priority},
                 Field{"orderKey", &T::order_key}, Field{"roles", &T::roles}};
};
template <>
struct Fields<sched::WorkloadRemoved> {
  static constexpr const char* name = "removed";
  static constexpr auto list = std::tuple{Field{"workload", &sched::WorkloadRemoved::workload}};
};
template <>
struct Fields<sched::TaskEnded> {
  static constexpr const char* name = "task-ended";
  using T = sched::TaskEnded;
  static constexpr auto list =
      std::tuple{Field{"workload", &T::workload}, Field{"role", &T::role},
                 Field{"index", &T::index},       Field{"outcome", &T::outcome},
                 Field{"retryAt", &T::retry_at},  Field{"stoodStill", &T::stood_still}};
};
template <>
struct Fields<sched::CheckpointSaved> {
  static constexpr const char* name = "checkpoint";
  using T = sched::CheckpointSaved;
  static constexpr auto list = std::tuple{Field{"workload", &T::workload}, Field{"role", &T::role},
                                          Field{"index", &T::index}};
};
template <>
struct Fields<sched::ReservationUpserted> {
  static constexpr const char* name = "reservation";
  static constexpr auto list =
      std::tuple{Field{"reservation", &sched::ReservationUpserted::reservation}};
};
template <>
struct Fields<sched::ReservationRemoved> {
  static constexpr const char* name = "reservation-removed";
  static constexpr auto list =
      std::tuple{Field{"reservation", &sched::ReservationRemoved::reservation}};
};
template <>
struct Fields<sched::WorkloadRequeued> {
  static constexpr const char* name = "requeued";
  static constexpr auto list = std::tuple{Field{"workload", &sched::WorkloadRequeued::workload}};
};
template <>
struct Fields<sched::StartRefused> {
  static constexpr const char* name = "start-refused";
  using T = sched::StartRefused;
  static constexpr auto list =
      std::tuple{Field{"workload", &T::workload}, Field{"retryAt", &T::retry_at}};
};
template <>
struct Fields<sched::MixStated> {
  static constexpr const char* name = "mix";
  static constexpr auto list = std::tuple{Field{"entries", &sched::MixStated::entries}};
};
template <>
struct Fields<sched::UsageRestored> {
  static constexpr const char* name = "usage-restored";
  using T = sched::UsageRestored;
  static constexpr auto list =
      std::tuple{Field{"pool", &T::pool}, Field{"queue", &T::queue},
                 Field{"resource", &T::resource}, Field{"state", &T::state}};
};
template <>
struct Fields<sched::RuntimesRestored> {
  static constexpr const char* name = "runtimes-restored";
  using T = sched::RuntimesRestored;
  static constexpr auto list = std::tuple{
      Field{"user", &T::user}, Field{"template", &T::template_name}, Field{"last", &T::last}};
};
template <>
struct Fields<sched::TimePassed> {
  static constexpr const char* name = "time";
  static constexpr auto list = std::tuple{};
};

namespace {

struct Row {
  std::string_view name;
  Result<sched::Event> (*unpack)(const Packed& packed);
};

template <class E>
Result<sched::Event> unpack_as(const Packed& packed) {
  E event;
  FAIRLEAD_TRY(unpack(packed, event));
  return sched::Event(std::move(event));
}

template <class... E>
constexpr std::array<Row, sizeof...(E)> rows_of(const std::variant<E...>*) {
  return {Row{Fields<E>::name, &unpack_as<E>}...};
}

constexpr auto kRows = rows_of(static_cast<const sched::Event*>(nullptr));

}  // namespace

std::string_view event_kind(const sched::Event& event) {
  return kRows[event.index()].name;
}

Packed pack_event(const sched::Event& event) {
  return std::visit([](const auto& e) { return pack(e); }, event);
}

Result<std::optional<sched::Event>> unpack_event(std::string_view kind, const Packed& packed) {
  for (const Row& row : kRows) {
    if (row.name != kind) continue;
    FAIRLEAD_ASSIGN(sched::Event event, row.unpack(packed));
    return event;
  }
  return std::nullopt;
}

}  // namespace fairlead::sim

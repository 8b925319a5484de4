#include "sim/log/record_codec.h"

#include <optional>
#include <utility>

#include "sim/log/decision_codec.h"
#include "sim/log/event_codec.h"
#include "sim/log/spec_fields.h"

namespace fairlead::sim {

template <>
struct Fields<LogHeader> {
  static constexpr auto list =
      std::tuple{Field{"program", &LogHeader::program}, Field{"options", &LogHeader::options}};
};

namespace {

constexpr const char* kAt = "at";
constexpr const char* kRefused = "refused";
constexpr const char* kDecided = "decided";

std::string encode(Instant at, std::string_view kind, Packed value) {
  Packed::Map map;
  map.emplace_back(kAt, pack(at));
  map.emplace_back(std::string(kind), std::move(value));
  return to_cbor(Packed(std::move(map)));
}

Result<LogRecord> decode_what(std::string_view kind, const Packed& value) {
  LogRecord record;
  if (kind == kDecided) {
    FAIRLEAD_ASSIGN(std::vector<NamedDecision> decisions, unpack_decisions(value));
    record.what = DecisionRecord{std::move(decisions)};
    return record;
  }
  if (kind == kRefused) {
    RefusalRecord refusal;
    FAIRLEAD_TRY(unpack(value, refusal.error));
    record.what = std::move(refusal);
    return record;
  }
  FAIRLEAD_ASSIGN(std::optional<sched::Event> event, unpack_event(kind, value));
  if (!event) return fail(ErrorCode::kInvalidArgument, "this version knows no such record");
  record.what = EventRecord{std::move(*event)};
  return record;
}

}  // namespace

std::string encode_header(const LogHeader& header) {
  return to_cbor(pack(header));
}

std::string encode_event(Instant at, const sched::Event& event) {
  return encode(at, event_kind(event), pack_event(event));
}

std::string encode_refusal(Instant at, const Error& error) {
  return encode(at, kRefused, pack(error));
}

std::string encode_decisions(Instant at, const std::vector<NamedDecision>& decisions) {
  return encode(at, kDecided, pack_decisions(decisions));
}

Result<LogHeader> decode_header(std::string_view payload) {
  FAIRLEAD_ASSIGN(const Packed packed, from_cbor(payload));
  LogHeader header;
  FAIRLEAD_TRY(unpack(packed, header));
  return header;
}

Result<LogRecord> decode_record(std::string_view payload) {
  FAIRLEAD_ASSIGN(const Packed packed, from_cbor(payload));
  FAIRLEAD_ASSIGN(const Packed::Map* map, map_of(packed));
  const Packed* at = nullptr;
  const std::pair<std::string, Packed>* what = nullptr;
  for (const auto& entry : *map) {
    if (entry.first == kAt) {
      at = &entry.second;
    } else {
      what = &entry;
    }
  }
  if (map->size() != 2 || at == nullptr || what == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "holds no time with one event or decision");
  }
  auto record = decode_what(what->first, what->second);
  if (!record) {
    Error error = std::move(record).error();
    error.field = error.field.empty() ? what->first : what->first + "." + error.field;
    return fail(std::move(error));
  }
  FAIRLEAD_TRY(unpack(*at, record->at));
  return record;
}

}  // namespace fairlead::sim

#include "cli/client/answer.h"

#include <algorithm>
#include <charconv>

#include "base/decimal.h"
#include "base/printable.h"

namespace fairlead::cli {

const Value* value_at(const Value& root, std::string_view path) {
  const Value* at = &root;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = at->find(path.substr(0, dot));
    if (at == nullptr || at->is_null()) return nullptr;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

std::string text_at(const Value& root, std::string_view path, std::string_view missing) {
  const Value* value = value_at(root, path);
  if (value == nullptr || !value->is_scalar() || value->text().empty()) return std::string(missing);
  return printable(value->text());
}

std::optional<std::int64_t> number_at(const Value& root, std::string_view path) {
  const Value* value = value_at(root, path);
  if (value == nullptr || !value->is_scalar()) return std::nullopt;
  const std::string& text = value->text();
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Instant> instant_at(const Value& root, std::string_view path) {
  const Value* value = value_at(root, path);
  if (value == nullptr || !value->is_scalar()) return std::nullopt;
  const auto instant = parse_rfc3339(value->text());
  return instant ? std::optional(*instant) : std::nullopt;
}

bool true_at(const Value& root, std::string_view path) {
  return text_at(root, path) == "true";
}

std::span<const Value> list_at(const Value& root, std::string_view path) {
  const Value* value = value_at(root, path);
  if (value == nullptr || !value->is_list()) return {};
  return value->items();
}

std::string joined_at(const Value& root, std::string_view path) {
  std::string out;
  for (const Value& item : list_at(root, path)) {
    out += (out.empty() ? "" : ", ") + printable(item.text());
  }
  return out;
}

namespace {

// A number or a word of JSON; a plain scalar of YAML may also be text.
bool is_literal(std::string_view text) {
  if (text == "true" || text == "false" || text == "null") return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool padded = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
  if (text.empty() || text[0] < '0' || text[0] > '9' || padded || text.back() == '.') return false;
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ptr == text.data() + text.size();
}

}  // namespace

Tree tree_of(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kNull:
      return Tree::null();
    case ValueKind::kScalar:
      return value.quoted() || !is_literal(value.text()) ? Tree::string(value.text())
                                                         : Tree::number(value.text());
    case ValueKind::kList: {
      Tree list = Tree::list();
      for (const Value& item : value.items()) list.push(tree_of(item));
      return list;
    }
    case ValueKind::kMap:
      break;
  }
  Tree map = Tree::map();
  for (const Value& item : value.items()) map.add(item.key(), tree_of(item));
  return map;
}

std::string milli_text(std::optional<std::int64_t> milli) {
  return milli ? decimal_text(*milli, 3) : "-";
}

std::string size_text(std::optional<std::int64_t> bytes) {
  if (!bytes) return "-";
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  std::int64_t scale = 1;
  while (unit + 1 < std::size(kUnits) && *bytes / scale >= 1024) {
    scale *= 1024;
    ++unit;
  }
  // Tenths, cut off: what is shown is there.
  const std::int64_t tenths = unit == 0 ? *bytes * 10 : *bytes / (scale / 32) * 10 / 32;
  return decimal_text(tenths, 1) + " " + kUnits[unit];
}

std::string amounts_text(const Value* amounts) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  if (amounts == nullptr) return "no resources";
  if (const auto gpu = number_at(*amounts, "gpuMilli"); gpu.value_or(0) > 0) {
    add(decimal_text(*gpu, 3) + (*gpu == 1000 ? " GPU" : " GPUs"));
  }
  if (const auto mib = number_at(*amounts, "gpuMemoryMib"); mib.value_or(0) > 0) {
    add(size_text(*mib << 20) + " of GPU memory");
  }
  if (const auto cpu = number_at(*amounts, "cpuMilli"); cpu.value_or(0) > 0) {
    add(decimal_text(*cpu, 3) + (*cpu == 1000 ? " CPU" : " CPUs"));
  }
  if (const auto bytes = number_at(*amounts, "memoryBytes"); bytes.value_or(0) > 0) {
    add(size_text(bytes));
  }
  return out.empty() ? "no resources" : out;
}

std::string age_text(Duration age) {
  const std::int64_t seconds = std::max<std::int64_t>(0, age.ms / 1000);
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 120 * 60) return std::to_string(seconds / 60) + "m";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86400) + "d";
}

std::string range_text(Duration earliest, Duration latest) {
  struct Unit {
    std::int64_t tenth_ms;
    const char* name;
  };
  constexpr Unit kUnits[] = {{100, "s"}, {6'000, "min"}, {360'000, "h"}, {8'640'000, "d"}};
  const std::int64_t least = std::max<std::int64_t>(0, earliest.ms);
  const std::int64_t most = std::max(least, latest.ms);
  std::size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && most >= kUnits[unit + 1].tenth_ms * 15) ++unit;
  // Whole units from ten on, tenths below; seconds and minutes always whole.
  const std::int64_t tenth = kUnits[unit].tenth_ms;
  const bool whole = unit < 2 || most >= tenth * 100;
  const std::int64_t step = whole ? tenth * 10 : tenth;
  const std::int64_t from = least / step * (whole ? 10 : 1);
  const std::int64_t to = (most + step - 1) / step * (whole ? 10 : 1);
  if (from == to) return "about " + decimal_text(to, 1) + " " + kUnits[unit].name;
  return decimal_text(from, 1) + " to " + decimal_text(to, 1) + " " + kUnits[unit].name;
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  const std::string plural = many.empty() ? std::string(one) + "s" : std::string(many);
  return std::to_string(count) + " " + (count == 1 ? std::string(one) : plural);
}

}  // namespace fairlead::cli

// What a server answered, read by dotted paths; and amounts and times of it in words.
//
// What is missing or null is "not known": an empty text, nullopt, an empty list. Nothing here
// judges: a server that says less is shown with less.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "model/document.h"
#include "model/tree.h"

namespace fairlead::cli {

// The value at "status.tasks.running"; nullptr if it is missing or null.
const Value* value_at(const Value& root, std::string_view path);
// A scalar as text, fit for a terminal.
std::string text_at(const Value& root, std::string_view path, std::string_view missing = {});
std::optional<std::int64_t> number_at(const Value& root, std::string_view path);
std::optional<Instant> instant_at(const Value& root, std::string_view path);
bool true_at(const Value& root, std::string_view path);
std::span<const Value> list_at(const Value& root, std::string_view path);
// "a, b" of a list of texts.
std::string joined_at(const Value& root, std::string_view path);

// The same value for printing.
Tree tree_of(const Value& value);

// --- words -------------------------------------------------------------------------------------

// "2", "0.5" from thousandths; "-" if not known.
std::string milli_text(std::optional<std::int64_t> milli);
// "48 GiB", "512 MiB", "1.5 TiB": at most one decimal; "-" if not known.
std::string size_text(std::optional<std::int64_t> bytes);
// "2 GPUs, 8 CPUs, 48 GiB" of Amounts; "no resources" if all are 0.
std::string amounts_text(const Value* amounts);
// "45s", "12m", "3h", "5d": one unit, cut off.
std::string age_text(Duration age);
// "6 to 11 min", "1.5 to 3 h", "about 2 d": both ends rounded outwards in the unit of the later.
std::string range_text(Duration earliest, Duration latest);
// "1 task", "2 tasks".
std::string counted(std::int64_t count, std::string_view one, std::string_view many = {});

}  // namespace fairlead::cli

#include "node/gpu.h"

#include <cctype>
#include <cstdlib>

namespace fairlead::node {
namespace {

// Drivers keep some of the memory for themselves and differ in how much.
constexpr std::int64_t kToleranceMilli = 30;

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// "A100" in "NVIDIA A100-SXM4-80GB", not in "NVIDIA A1000".
bool holds_word(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end]))) {
      return true;
    }
  }
  return false;
}

std::string class_name(const std::string& name) {
  std::string out;
  for (const char c : name.starts_with("NVIDIA ") ? name.substr(7) : name) {
    if (is_word_character(c) || c == '.' || c == '_') {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "gpu" : out;
}

}  // namespace

DeviceClass device_class_of(const Gpu& gpu) {
  const DeviceClass* best = nullptr;
  std::int64_t best_distance = 0;
  for (const std::string& name : known_device_class_names()) {
    const DeviceClass* known = known_device_class(name);
    // "H100-80GB" is an H100; "T4" is a T4.
    const std::size_t dash = name.rfind('-');
    const bool with_size = dash != std::string::npos && name.ends_with("GB");
    if (!holds_word(gpu.name, with_size ? name.substr(0, dash) : name)) continue;
    const std::int64_t distance = std::abs(known->memory.value - gpu.memory.value);
    if (distance * kMilli > known->memory.value * kToleranceMilli) continue;
    if (best == nullptr || distance < best_distance) {
      best = known;
      best_distance = distance;
    }
  }
  if (best != nullptr) return *best;
  DeviceClass own;
  own.name = class_name(gpu.name);
  own.memory = gpu.memory;
  return own;
}

}  // namespace fairlead::node

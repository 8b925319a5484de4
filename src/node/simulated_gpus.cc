#include "node/simulated_gpus.h"

#include <charconv>
#include <cstdio>

#include "base/nearest.h"
#include "base/rng.h"
#include "node/text_files.h"

namespace fairlead::node {
namespace {

constexpr int kMostGpus = 1024;

std::string uuid_of(const std::string& name, std::size_t index) {
  std::uint64_t seed = 0xcbf29ce484222325U;  // FNV-1a over the name
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  Rng rng = Rng(seed).fork(index);
  const std::uint64_t high = rng.next();
  const std::uint64_t low = rng.next();
  char text[64];
  // Version 4, variant 1: what a UUID of random bits looks like.
  std::snprintf(&text[0], sizeof text, "GPU-%08x-%04x-4%03x-%04x-%012llx",
                static_cast<unsigned>(high >> 32), static_cast<unsigned>(high >> 16 & 0xffff),
                static_cast<unsigned>(high & 0xfff),
                static_cast<unsigned>(0x8000 | (low >> 48 & 0x3fff)),
                static_cast<unsigned long long>(low & 0xffffffffffffU));
  return &text[0];
}

std::unexpected<Error> malformed(std::string_view part) {
  return fail(ErrorCode::kInvalidArgument,
              "\"" + std::string(part) + "\" does not say how many GPUs of which class",
              "write it as 8xH100-80GB, or 4xA100-40GB,2xT4 for several classes");
}

}  // namespace

Result<std::vector<Gpu>> simulated_gpus(std::string_view text) {
  std::vector<Gpu> gpus;
  const std::vector<std::string> parts = split(text, ',');
  if (parts.empty()) return malformed(text);
  for (const std::string& part : parts) {
    int count = 0;
    const char* end = part.data() + part.size();
    const auto [rest, error] = std::from_chars(part.data(), end, count);
    if (error != std::errc() || rest == end || *rest != 'x' || count < 1) return malformed(part);
    if (count > kMostGpus || gpus.size() + static_cast<std::size_t>(count) > kMostGpus) {
      return fail(ErrorCode::kOutOfRange, "a node has at most 1024 GPUs");
    }
    const std::string name(rest + 1, end);
    const DeviceClass* known = known_device_class(name);
    if (known == nullptr) {
      const std::vector<std::string> names = known_device_class_names();
      const std::string near = nearest_name(name, names);
      return fail(ErrorCode::kNotFound, "no class of GPUs is called \"" + name + "\"",
                  near.empty() ? "known are " + listing(names) : "did you mean " + near + "?");
    }
    for (int i = 0; i < count; ++i) {
      Gpu gpu;
      gpu.uuid = uuid_of(name, gpus.size());
      gpu.name = name;
      gpu.memory = known->memory;
      gpus.push_back(std::move(gpu));
    }
  }
  return gpus;
}

}  // namespace fairlead::node

// What `fairlead share` reads: resources to divide and the queues that divide them (docs/share.md,
// schemas/share.schema.json).
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/document.h"
#include "model/queue.h"

namespace fairlead::cli {

enum class ShareUnit : std::uint8_t { kGpu, kCpu, kMemory, kOther };

struct ShareResource {
  std::string name;
  ShareUnit unit = ShareUnit::kOther;
  std::int64_t total = 0;  // milli-GPU, milli-CPU, bytes or units
};

// A queue and one resource, in the resource's base unit.
struct ShareClaim {
  std::int64_t quota = 0;
  std::int64_t limit = kUnlimited;
  std::int64_t over_quota_weight = 1000;  // thousandths
  std::int64_t requested = -1;            // -1: not stated
  std::int64_t usage_ppb = -1;            // -1: not stated
  bool quota_stated = false;
};

struct ShareQueue {
  std::string name;
  std::int32_t parent = -1;  // position in `queues`
  std::int32_t rank = 100;
  std::int64_t created = 0;
  std::vector<ShareClaim> claims;  // as `resources`
};

struct ShareDocument {
  std::int64_t k_milli = 0;
  std::vector<ShareResource> resources;    // gpu, cpu, memory, then others by name
  std::vector<ShareQueue> queues;          // in the order of the file
  std::vector<std::size_t> parents_first;  // the positions of the queues, parents before children
};

// All errors of the document, each with its line, field, value, what is allowed and the cure.
std::expected<ShareDocument, std::vector<Error>> read_share_document(const Document& document);

// An amount in the unit that a person writes: 1500 milli-GPU is "1.5", bytes are "48Gi".
std::string amount_text(ShareUnit unit, std::int64_t amount);

// Decimals of that unit: 3 for GPUs and CPUs, 0 for bytes and others.
int places_of(ShareUnit unit);

}  // namespace fairlead::cli

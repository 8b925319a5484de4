#include "cli/share_document.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/decimal.h"
#include "base/nearest.h"
#include "model/cluster_reader.h"
#include "model/findings.h"
#include "model/object_reader.h"
#include "sched/share/division.h"

namespace fairlead::cli {
namespace {

constexpr std::size_t kMaxResources = 64;
constexpr std::size_t kMaxShareQueues = 100'000;
constexpr std::int64_t kMaxKMilli = 1'000'000;
constexpr std::int64_t kMaxWeight = 1'000'000'000;     // thousandths
constexpr std::int64_t kMaxUsage = 1'000'000'000'000;  // billionths

ShareUnit unit_of(const std::string& resource) {
  if (resource == "gpu") return ShareUnit::kGpu;
  if (resource == "cpu") return ShareUnit::kCpu;
  if (resource == "memory") return ShareUnit::kMemory;
  return ShareUnit::kOther;
}

std::optional<std::int64_t> as_amount(ShareUnit unit, const Value& value, Findings& findings) {
  switch (unit) {
    case ShareUnit::kGpu:
      return as_decimal(value, 3, 0, kMaxAmount, findings);
    case ShareUnit::kCpu:
      return as_milli_cpu(value, findings);
    case ShareUnit::kMemory:
      return as_bytes(value, findings);
    case ShareUnit::kOther:
      break;
  }
  return as_integer(value, 0, kMaxAmount, findings);
}

// An amount, or -1 for unlimited.
std::optional<std::int64_t> as_bound(ShareUnit unit, const Value& value, Findings& findings) {
  if (value.is_scalar() && value.text() == "-1") return kUnlimited;
  if (value.is_scalar() && value.text().starts_with('-')) {
    findings.error(value, ErrorCode::kOutOfRange,
                   value.brief() + " is negative; allowed are 0 and more, and -1 for unlimited",
                   "write -1 if no bound is meant");
    return std::nullopt;
  }
  return as_amount(unit, value, findings);
}

// "1.25e-05" as the decimal "0.0000125": programs print small numbers so.
std::optional<std::string> without_exponent(const std::string& text) {
  const std::size_t e = text.find_first_of("eE");
  if (e == std::string::npos) return text;
  const Result<std::int64_t> exponent = parse_decimal(std::string_view(text).substr(e + 1), 0);
  if (!exponent || *exponent < -30 || *exponent > 30) return std::nullopt;
  std::string digits = text.substr(0, e);
  std::size_t point = digits.find('.');
  if (point == std::string::npos) {
    point = digits.size();
  } else {
    digits.erase(point, 1);
  }
  if (digits.find_first_not_of("0123456789") != std::string::npos || point == 0) {
    return std::nullopt;
  }
  std::int64_t place = static_cast<std::int64_t>(point) + *exponent;
  if (place < 1) {
    digits.insert(0, static_cast<std::size_t>(1 - place), '0');
    place = 1;
  }
  if (static_cast<std::size_t>(place) > digits.size()) {
    digits.append(static_cast<std::size_t>(place) - digits.size(), '0');
  }
  if (static_cast<std::size_t>(place) < digits.size()) {
    digits.insert(static_cast<std::size_t>(place), 1, '.');
  }
  return digits;
}

// A measured part of the capacity, in billionths; further decimals are cut off.
std::optional<std::int64_t> as_usage(const Value& value, Findings& findings) {
  constexpr int kPlaces = 9;
  std::optional<std::int64_t> usage;
  if (value.is_scalar()) {
    if (std::optional<std::string> text = without_exponent(value.text())) {
      const std::size_t point = text->find('.');
      if (point != std::string::npos && text->size() > point + 1 + kPlaces &&
          text->find_first_not_of("0123456789", point + 1) == std::string::npos) {
        text->resize(point + 1 + kPlaces);
      }
      const Result<std::int64_t> number = parse_decimal(*text, kPlaces);
      if (number && *number >= 0 && *number <= kMaxUsage) usage = *number;
    }
  }
  if (!usage) {
    findings.error(value, ErrorCode::kOutOfRange,
                   value.brief() + " is not a usage; allowed are numbers from 0 to 1000",
                   "state the part of the pool's capacity that was held: 0.25 is a quarter");
  }
  return usage;
}

class ShareReader {
 public:
  explicit ShareReader(const Document& document)
      : document_(document), findings_(document.file()) {}

  std::expected<ShareDocument, std::vector<Error>> read() {
    if (document_.roots().size() != 1) {
      Error error;
      error.where = document_.file();
      error.message = "the file has " + std::to_string(document_.roots().size()) +
                      " documents; exactly one of kind Share is needed";
      error.cure = "see docs/share.md for an example";
      return std::unexpected(std::vector<Error>{std::move(error)});
    }
    const std::string kind = document_kind(document_.roots().front());
    if (!kind.empty() && kind != "Share") {
      findings_.error(*document_.roots().front().find("kind"), ErrorCode::kInvalidArgument,
                      "a document of kind Share is needed, not \"" + kind.substr(0, 100) + "\"",
                      "see docs/share.md for an example; `fairlead validate` checks documents of "
                      "every kind");
      return std::unexpected(findings_.take_errors());
    }
    {
      ObjectReader in(document_.roots().front(), findings_);
      read_head(in);
      in.each("queues", [&](const Value& item) { read_queue(item); }, kRequired);
      if (out_.queues.size() > kMaxShareQueues) {
        findings_.error(*in.get("queues"), ErrorCode::kOutOfRange,
                        "there are " + std::to_string(out_.queues.size()) +
                            " queues; allowed are at most " + std::to_string(kMaxShareQueues));
      }
    }
    resolve_parents();
    order_by_age();
    if (findings_.ok()) order_by_depth();
    if (findings_.ok()) fill_in();
    if (!findings_.ok()) return std::unexpected(findings_.take_errors());
    return std::move(out_);
  }

 private:
  struct Source {  // where a queue's fields stand
    const Value* queue = nullptr;
    const Value* parent = nullptr;
    const Value* created = nullptr;
  };

  void read_head(ObjectReader& in) {
    static constexpr std::array<std::string_view, 1> kVersions{"fairlead/v1"};
    static constexpr std::array<std::string_view, 1> kKinds{"Share"};
    if (const Value* version = in.get("apiVersion")) {
      (void)as_word(*version, kVersions, findings_);
    }
    if (const Value* kind = in.get("kind")) (void)as_word(*kind, kKinds, findings_);
    out_.k_milli = in.decimal("k", 3, 0, kMaxKMilli).value_or(0);
    const Value* totals = in.get("totals", kRequired);
    if (totals == nullptr) return;
    if (totals->is_scalar()) {
      add_resource("gpu", *totals);
    } else {
      ObjectReader map(*totals, findings_);
      for (const Value& entry : map.open_entries()) {
        if (!entry.is_null()) add_resource(entry.key(), entry);
      }
    }
    std::sort(out_.resources.begin(), out_.resources.end(),
              [](const ShareResource& a, const ShareResource& b) {
                return std::tie(a.unit, a.name) < std::tie(b.unit, b.name);
              });
    for (const ShareResource& resource : out_.resources) names_.push_back(resource.name);
    if (out_.resources.empty() || out_.resources.size() > kMaxResources) {
      findings_.error(*totals, ErrorCode::kInvalidArgument,
                      std::to_string(out_.resources.size()) +
                          " resources are stated; allowed are 1 to " +
                          std::to_string(kMaxResources),
                      "add for example \"totals: {gpu: 100}\"");
    }
  }

  void add_resource(const std::string& name, const Value& value) {
    const ShareUnit unit = unit_of(name);
    if (const auto total = as_amount(unit, value, findings_)) {
      out_.resources.push_back({name, unit, *total});
    } else {
      out_.resources.push_back({name, unit, 0});  // known from here on, though its total is not
    }
  }

  // A field that is a map by resource, or one value that means GPUs.
  template <class Read>
  void by_resource(ObjectReader& in, std::string_view field, Read read) {
    const Value* value = in.get(field);
    if (value == nullptr || names_.empty()) return;
    if (!value->is_map()) {
      read_one("gpu", *value, read);
      return;
    }
    for (const Value& entry : value->items()) {
      if (!entry.is_null()) read_one(entry.key(), entry, read);
    }
  }

  template <class Read>
  void read_one(const std::string& resource, const Value& value, Read read) {
    const auto at = std::find(names_.begin(), names_.end(), resource);
    if (at == names_.end()) {
      const std::string near = nearest_name(resource, names_);
      findings_.error(
          value, ErrorCode::kInvalidArgument,
          "the resource \"" + resource + "\" is not in totals; there are " + listing(names_),
          near.empty() ? "add it to totals" : "did you mean \"" + near + "\"?");
      return;
    }
    const auto index = static_cast<std::size_t>(at - names_.begin());
    read(index, out_.resources[index].unit, value);
  }

  void read_queue(const Value& item) {
    ObjectReader in(item, findings_);
    if (!in.ok()) return;
    ShareQueue queue;
    Source source{.queue = &item};
    queue.name = in.name("name", kRequired).value_or("");
    source.parent = in.get("parent");
    if (source.parent != nullptr && source.parent->is_scalar() && source.parent->text().empty()) {
      source.parent = nullptr;  // a root, said explicitly
    }
    queue.rank = in.int32("rank", std::numeric_limits<std::int32_t>::min() + 1).value_or(100);
    source.created = in.get("created");
    for (const ShareResource& resource : out_.resources) {
      ShareClaim claim;
      claim.quota = default_entitlement(resource.name).quota;
      queue.claims.push_back(claim);
    }
    by_resource(in, "quota", [&](std::size_t at, ShareUnit unit, const Value& value) {
      if (const auto quota = as_bound(unit, value, findings_)) queue.claims[at].quota = *quota;
      queue.claims[at].quota_stated = true;
    });
    by_resource(in, "limit", [&](std::size_t at, ShareUnit unit, const Value& value) {
      if (const auto limit = as_bound(unit, value, findings_)) queue.claims[at].limit = *limit;
    });
    by_resource(in, "overQuotaWeight", [&](std::size_t at, ShareUnit, const Value& value) {
      if (const auto weight = as_decimal(value, 3, 0, kMaxWeight, findings_)) {
        queue.claims[at].over_quota_weight = *weight;
      }
    });
    by_resource(in, "requested", [&](std::size_t at, ShareUnit unit, const Value& value) {
      if (const auto amount = as_amount(unit, value, findings_)) {
        queue.claims[at].requested = *amount;
      }
    });
    by_resource(in, "usage", [&](std::size_t at, ShareUnit, const Value& value) {
      if (const auto usage = as_usage(value, findings_)) queue.claims[at].usage_ppb = *usage;
    });
    if (!queue.name.empty()) {
      const auto [other, added] = by_name_.emplace(queue.name, out_.queues.size());
      if (!added) {
        findings_.error(item, ErrorCode::kAlreadyExists,
                        "a second queue is named \"" + queue.name +
                            "\"; the first stands in line " +
                            std::to_string(sources_[other->second].queue->line()),
                        "rename or remove one of them");
      }
    }
    out_.queues.push_back(std::move(queue));
    sources_.push_back(source);
  }

  void resolve_parents() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < out_.queues.size(); ++i) {
      const Value* parent = sources_[i].parent;
      if (parent == nullptr) continue;
      const std::optional<std::string> name = as_name(*parent, findings_);
      if (!name) continue;
      const auto found = by_name_.find(*name);
      if (found != by_name_.end()) {
        out_.queues[i].parent = static_cast<std::int32_t>(found->second);
        continue;
      }
      if (names.empty()) {
        for (const auto& [known, position] : by_name_) names.push_back(known);
      }
      const std::string near = nearest_name(*name, names);
      findings_.error(*parent, ErrorCode::kInvalidArgument,
                      "there is no queue \"" + *name + "\"; a parent is one of " + listing(names),
                      near.empty() ? "add the queue, or leave parent out for a root"
                                   : "did you mean \"" + near + "\"?");
    }
  }

  // Integers or times as written; without any, the position in the file.
  void order_by_age() {
    for (std::size_t i = 0; i < out_.queues.size(); ++i) {
      const Value* created = sources_[i].created;
      if (created == nullptr) {
        out_.queues[i].created = static_cast<std::int64_t>(i);
        const auto stated = std::find_if(sources_.begin(), sources_.end(),
                                         [](const Source& s) { return s.created != nullptr; });
        if (stated == sources_.end()) continue;
        findings_.error(
            *sources_[i].queue, ErrorCode::kInvalidArgument,
            "the queue \"" + out_.queues[i].name + "\" has no \"created\", but another queue has",
            "state it for every queue, or for none: then the first in the file is the "
            "oldest");
        continue;
      }
      const std::string text = created->is_scalar() ? created->text() : "";
      if (const Result<std::int64_t> number = parse_decimal(text, 0)) {
        out_.queues[i].created = *number;
      } else if (const Result<Instant> time = parse_rfc3339(text)) {
        out_.queues[i].created = time->ms;
      } else {
        findings_.error(*created, ErrorCode::kInvalidArgument,
                        created->brief() +
                            " is not an age; allowed are whole numbers (lower is "
                            "older) and times such as 2026-01-31T08:00:00Z");
      }
    }
  }

  // A walk from each queue to its root: the depth of all of them, or the cycle.
  void order_by_depth() {
    const std::size_t count = out_.queues.size();
    std::vector<std::int32_t> depth(count, -1);  // -1: not seen, -2: on the present way
    std::vector<std::size_t> way;
    for (std::size_t start = 0; start < count; ++start) {
      way.clear();
      std::int32_t at = static_cast<std::int32_t>(start);
      while (at >= 0 && depth[static_cast<std::size_t>(at)] == -1) {
        depth[static_cast<std::size_t>(at)] = -2;
        way.push_back(static_cast<std::size_t>(at));
        at = out_.queues[static_cast<std::size_t>(at)].parent;
      }
      if (at >= 0 && depth[static_cast<std::size_t>(at)] == -2) {
        report_cycle(way, static_cast<std::size_t>(at));
        return;
      }
      std::int32_t below = at < 0 ? 0 : depth[static_cast<std::size_t>(at)] + 1;
      for (std::size_t i = way.size(); i-- > 0;) depth[way[i]] = below++;
    }
    out_.parents_first.resize(count);
    for (std::size_t i = 0; i < count; ++i) out_.parents_first[i] = i;
    std::stable_sort(out_.parents_first.begin(), out_.parents_first.end(),
                     [&](std::size_t a, std::size_t b) { return depth[a] < depth[b]; });
  }

  void report_cycle(const std::vector<std::size_t>& way, std::size_t first) {
    std::string names;
    const auto begin = std::find(way.begin(), way.end(), first);
    std::size_t shown = 0;
    for (auto at = begin; at != way.end(); ++at, ++shown) {
      if (shown == 20) {
        names += "… → ";
        break;
      }
      names += out_.queues[*at].name + " → ";
    }
    names += out_.queues[first].name;
    findings_.error(*sources_[first].parent, ErrorCode::kInvalidArgument,
                    "the queues form a cycle, each being the child of the next: " + names,
                    "leave the parent of one of them out, or name another");
  }

  // What a queue did not state: of a leaf it is nothing; a parent's demand is the division's to sum
  // up (3.2.a), its usage is the sum of its children's (3.2.f).
  void fill_in() {
    std::vector<bool> has_child(out_.queues.size(), false);
    for (const ShareQueue& queue : out_.queues) {
      if (queue.parent >= 0) has_child[static_cast<std::size_t>(queue.parent)] = true;
    }
    for (std::size_t r = 0; r < out_.resources.size(); ++r) {
      std::vector<std::int64_t> children_usage(out_.queues.size(), 0);
      for (std::size_t i = out_.parents_first.size(); i-- > 0;) {
        const std::size_t at = out_.parents_first[i];
        ShareQueue& queue = out_.queues[at];
        ShareClaim& claim = queue.claims[r];
        if (claim.requested < 0 && !has_child[at]) claim.requested = 0;
        // A sum of 10^5 usages of up to 10^12 fits; the division has its own bound.
        if (claim.usage_ppb < 0) {
          claim.usage_ppb = std::min(children_usage[at], sched::kMaxDivisionUsage);
        }
        if (queue.parent >= 0) {
          children_usage[static_cast<std::size_t>(queue.parent)] += claim.usage_ppb;
        }
      }
    }
  }

  const Document& document_;
  Findings findings_;
  ShareDocument out_;
  std::vector<std::string> names_;  // of the resources
  std::vector<Source> sources_;     // as out_.queues
  std::map<std::string, std::size_t> by_name_;
};

}  // namespace

std::expected<ShareDocument, std::vector<Error>> read_share_document(const Document& document) {
  return ShareReader(document).read();
}

std::string amount_text(ShareUnit unit, std::int64_t amount) {
  return unit == ShareUnit::kMemory ? bytes_text(amount) : decimal_text(amount, places_of(unit));
}

int places_of(ShareUnit unit) {
  return unit == ShareUnit::kGpu || unit == ShareUnit::kCpu ? 3 : 0;
}

}  // namespace fairlead::cli

// GPUs as flags state them: -g 2, -g 0.5, --gpu-portion-request 0.5, --gpu-memory 4G, a MIG
// profile.
#include <vector>

#include "base/decimal.h"
#include "cli/client/workload_document.h"

namespace fairlead::cli {
namespace {

constexpr std::int64_t kMaxDevices = 1024;  // of one node
constexpr std::int64_t kMilli = 1000;

std::unexpected<Error> refused(std::string message, std::string flag, std::string cure,
                               ErrorCode code = ErrorCode::kInvalidArgument) {
  return fail(Error{code, std::move(message), {}, std::move(flag), std::move(cure)});
}

Result<std::int64_t> milli_of(const std::string& text, const std::string& flag,
                              std::int64_t highest) {
  const auto milli = parse_decimal(text, 3);
  if (!milli) {
    return refused(milli.error().message, flag, "state whole GPUs (2) or a part of one (0.5)");
  }
  if (*milli < 0 || *milli > highest) {
    return refused(text + " is not between 0 and " + decimal_text(highest, 3), flag,
                   "state whole GPUs (2) or a part of one (0.5)", ErrorCode::kOutOfRange);
  }
  return *milli;
}

// GPU memory in MiB. Others take 1G for a thousand million bytes, which is no whole number of MiB:
// what is asked for is rounded up to the next.
Result<std::string> mib_of(const std::string& text, const std::string& flag) {
  if (const auto exact = parse_mib(text)) return mib_text(*exact);
  const auto bytes = parse_bytes(text);
  if (!bytes) return refused(bytes.error().message, flag, "as in 4Gi, 500Mi or 4G");
  constexpr std::int64_t kMib = std::int64_t{1} << 20;
  return mib_text((*bytes + kMib - 1) / kMib);
}

// How many devices of a shared request: -g, or 1.
Result<std::int64_t> devices_of(const SubmitFlags& flags, const std::string& with) {
  if (flags.gpu.empty()) return 1;
  const auto count = parse_decimal(flags.gpu, 0);
  if (!count || *count < 1 || *count > kMaxDevices) {
    return refused("\"" + flags.gpu + "\" is no number of devices", "--gpu",
                   "beside " + with + " state on how many devices: 1, 2, …");
  }
  return *count;
}

Tree shared(const std::string& kind, Tree amount, std::int64_t count) {
  Tree out = Tree::map();
  out.add(kind, std::move(amount));
  if (count != 1) out.add("count", Tree::number(count));
  return out;
}

Result<Tree> portion_tree(std::int64_t portion, std::int64_t count, const SubmitFlags& flags) {
  if (portion == 0 || portion >= kMilli) {
    return refused("a portion lies between 0 and 1", "--gpu-portion-request",
                   "state whole GPUs with --gpu");
  }
  Tree out = shared("portion", Tree::number(decimal_text(portion, 3)), count);
  if (!flags.gpu_portion_limit.empty()) {
    FAIRLEAD_ASSIGN(const std::int64_t limit,
                    milli_of(flags.gpu_portion_limit, "--gpu-portion-limit", kMilli));
    out.add("limit", Tree::number(decimal_text(limit, 3)));
  }
  return out;
}

// --gpu-request-type says which of the amounts is meant; it must be the one that is stated.
Result<void> check_type(const SubmitFlags& flags) {
  const std::string& type = flags.gpu_request_type;
  if (type.empty()) return {};
  const std::string& amount = type == "portion"  ? flags.gpu_portion
                              : type == "memory" ? flags.gpu_memory
                                                 : flags.mig_profile;
  if (!amount.empty()) return {};
  const std::string flag = type == "portion"  ? "--gpu-portion-request"
                           : type == "memory" ? "--gpu-memory"
                                              : "--mig-profile";
  return refused("a request by " + type + " needs " + flag, "--gpu-request-type",
                 "add " + flag + ", or leave --gpu-request-type out");
}

Result<void> check_kinds(const SubmitFlags& flags) {
  std::vector<std::string> stated;
  if (!flags.gpu_portion.empty()) stated.emplace_back("--gpu-portion-request");
  if (!flags.gpu_memory.empty()) stated.emplace_back("--gpu-memory");
  if (!flags.mig_profile.empty()) stated.emplace_back("--mig-profile");
  if (stated.size() > 1) {
    return refused("a GPU request is of one kind, here are " + stated[0] + " and " + stated[1],
                   stated[1], "leave one of them out");
  }
  return {};
}

}  // namespace

Result<Tree> gpu_number(const std::string& text, const std::string& flag) {
  FAIRLEAD_ASSIGN(const std::int64_t milli, milli_of(text, flag, kMaxDevices * kMilli));
  if (milli > kMilli && milli % kMilli != 0) {
    return refused(text + " is neither a number of whole GPUs nor a part of one", flag,
                   "state whole GPUs (2), a part of one (0.5), or a part of each of several: "
                   "--gpu 2 --gpu-portion-request 0.75");
  }
  return Tree::number(decimal_text(milli, 3));
}

Result<std::optional<Tree>> gpu_of(const SubmitFlags& flags, std::int64_t times) {
  FAIRLEAD_TRY(check_kinds(flags));
  FAIRLEAD_TRY(check_type(flags));
  if (!flags.gpu_portion.empty()) {
    FAIRLEAD_ASSIGN(const std::int64_t count, devices_of(flags, "--gpu-portion-request"));
    FAIRLEAD_ASSIGN(const std::int64_t portion,
                    milli_of(flags.gpu_portion, "--gpu-portion-request", kMilli));
    FAIRLEAD_ASSIGN(Tree tree, portion_tree(portion, count * times, flags));
    return std::optional(std::move(tree));
  }
  if (!flags.gpu_memory.empty()) {
    FAIRLEAD_ASSIGN(const std::int64_t count, devices_of(flags, "--gpu-memory"));
    FAIRLEAD_ASSIGN(std::string memory, mib_of(flags.gpu_memory, "--gpu-memory"));
    Tree tree = shared("memory", Tree::string(std::move(memory)), count * times);
    if (!flags.gpu_memory_limit.empty()) {
      FAIRLEAD_ASSIGN(std::string limit, mib_of(flags.gpu_memory_limit, "--gpu-memory-limit"));
      tree.add("limit", Tree::string(std::move(limit)));
    }
    return std::optional(std::move(tree));
  }
  if (!flags.mig_profile.empty()) {
    FAIRLEAD_ASSIGN(const std::int64_t count, devices_of(flags, "--mig-profile"));
    return std::optional(shared("mig", Tree::string(flags.mig_profile), count * times));
  }
  if (!flags.gpu_memory_limit.empty()) {
    return refused("a limit of GPU memory bounds a request of GPU memory", "--gpu-memory-limit",
                   "add --gpu-memory");
  }
  if (flags.gpu.empty()) {
    if (flags.gpu_portion_limit.empty()) return std::optional<Tree>();
    return refused("a limit of a portion bounds a portion", "--gpu-portion-limit",
                   "add --gpu-portion-request");
  }
  FAIRLEAD_ASSIGN(const std::int64_t milli, milli_of(flags.gpu, "--gpu", kMaxDevices * kMilli));
  const bool part = milli > 0 && milli < kMilli;
  if (part && (times > 1 || !flags.gpu_portion_limit.empty())) {
    FAIRLEAD_ASSIGN(Tree tree, portion_tree(milli, times, flags));
    return std::optional(std::move(tree));
  }
  if (!flags.gpu_portion_limit.empty()) {
    return refused("whole GPUs have all there is", "--gpu-portion-limit", "leave it out");
  }
  FAIRLEAD_ASSIGN(Tree tree, gpu_number(flags.gpu, "--gpu"));
  if (times > 1) return std::optional(Tree::number(decimal_text(milli * times, 3)));
  return std::optional(std::move(tree));
}

}  // namespace fairlead::cli

#include "node/device_filter.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "node/text_files.h"

namespace fairlead::node {
namespace {

constexpr DeviceRule kUsual[] = {{'c', 1, 3}, {'c', 1, 5}, {'c', 1, 7}, {'c', 1, 8},
                                 {'c', 1, 9}, {'c', 5, 0}, {'c', 5, 2}, {'c', 136, -1}};

bpf_insn instruction(int code, int target, int source, int offset, std::int64_t value) {
  bpf_insn out{};
  out.code = static_cast<__u8>(code);
  out.dst_reg = static_cast<__u8>(target) & 15;
  out.src_reg = static_cast<__u8>(source) & 15;
  out.off = static_cast<__s16>(offset);
  out.imm = static_cast<__s32>(value);
  return out;
}

// r1 points to bpf_cgroup_dev_ctx {access_type, major, minor}; the lower half of access_type is the
// kind of device. Each rule jumps to the next where it does not match; the end says no.
std::vector<bpf_insn> program_of(const std::vector<DeviceRule>& rules) {
  constexpr int kLoad = BPF_LDX | BPF_MEM | BPF_W;
  constexpr int kJumpUnless = BPF_JMP | BPF_JNE | BPF_K;
  constexpr int kSet = BPF_ALU64 | BPF_MOV | BPF_K;
  constexpr int kExit = BPF_JMP | BPF_EXIT;
  std::vector<bpf_insn> program{
      instruction(kLoad, 2, 1, 0, 0),
      instruction(BPF_ALU | BPF_AND | BPF_K, 2, 0, 0, 0xffff),
      instruction(kLoad, 3, 1, 4, 0),
      instruction(kLoad, 4, 1, 8, 0),
  };
  for (const DeviceRule& rule : rules) {
    const bool any_minor = rule.minor < 0;
    const int length = any_minor ? 4 : 5;
    const int kind = rule.kind == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
    program.push_back(instruction(kJumpUnless, 2, 0, length - 1, kind));
    program.push_back(instruction(kJumpUnless, 3, 0, length - 2, rule.major));
    if (!any_minor) program.push_back(instruction(kJumpUnless, 4, 0, 2, rule.minor));
    program.push_back(instruction(kSet, 0, 0, 0, 1));
    program.push_back(instruction(kExit, 0, 0, 0, 0));
  }
  program.push_back(instruction(kSet, 0, 0, 0, 0));
  program.push_back(instruction(kExit, 0, 0, 0, 0));
  return program;
}

int bpf(int command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

Result<int> load(const std::vector<DeviceRule>& rules) {
  const std::vector<bpf_insn> program = program_of(rules);
  constexpr char kLicence[] = "Apache-2.0";
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attributes.insns = reinterpret_cast<std::uintptr_t>(program.data());
  attributes.insn_cnt = static_cast<__u32>(program.size());
  attributes.license = reinterpret_cast<std::uintptr_t>(&kLicence[0]);
  const int loaded = bpf(BPF_PROG_LOAD, attributes);
  if (loaded >= 0) return loaded;
  return fail(ErrorCode::kFailed,
              std::string("the kernel does not take a device filter: ") + std::strerror(errno),
              errno == EPERM ? "run the server with CAP_BPF and CAP_NET_ADMIN, or as root" : "");
}

}  // namespace

Result<std::vector<DeviceRule>> device_rules(const std::vector<std::string>& paths) {
  std::vector<DeviceRule> rules(std::begin(kUsual), std::end(kUsual));
  for (const std::string& path : paths) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
      return fail(ErrorCode::kNotFound, "the device file " + path + " does not exist",
                  "is the driver of that device loaded?");
    }
    if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)) {
      return fail(ErrorCode::kInvalidArgument, path + " is not a device file",
                  "name one as /dev/nvidia0");
    }
    rules.push_back({S_ISBLK(status.st_mode) ? 'b' : 'c',
                     static_cast<std::int64_t>(major(status.st_rdev)),
                     static_cast<std::int64_t>(minor(status.st_rdev))});
  }
  return rules;
}

std::string rule_text(const DeviceRule& rule) {
  return std::string(1, rule.kind) + " " + std::to_string(rule.major) + ":" +
         (rule.minor < 0 ? "*" : std::to_string(rule.minor)) + " rwm";
}

Result<void> filter_devices_v1(const std::string& group, const std::vector<DeviceRule>& rules) {
  FAIRLEAD_TRY(write_text(group + "/devices.deny", "a"));
  for (const DeviceRule& rule : rules) {
    FAIRLEAD_TRY(write_text(group + "/devices.allow", rule_text(rule)));
  }
  return {};
}

Result<void> filter_devices_v2(const std::string& group, const std::vector<DeviceRule>& rules) {
  const int directory = ::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    return fail(Error{ErrorCode::kIo, std::strerror(errno), group, {}, {}});
  }
  const Result<int> loaded = load(rules);
  int attached = -1;
  if (loaded) {
    bpf_attr attributes{};
    attributes.target_fd = static_cast<__u32>(directory);
    attributes.attach_bpf_fd = static_cast<__u32>(*loaded);
    attributes.attach_type = BPF_CGROUP_DEVICE;
    attached = bpf(BPF_PROG_ATTACH, attributes);
  }
  const int error = errno;
  if (loaded) ::close(*loaded);
  ::close(directory);
  if (!loaded) return std::unexpected(loaded.error());
  if (attached == 0) return {};
  return fail(Error{ErrorCode::kFailed,
                    std::string("the device filter cannot be attached: ") + std::strerror(error),
                    group,
                    {},
                    {}});
}

Result<void> try_device_program() {
  FAIRLEAD_ASSIGN(const int loaded, load({}));
  ::close(loaded);
  return {};
}

}  // namespace fairlead::node

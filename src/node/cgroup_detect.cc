// How CgroupTree finds out what this machine offers.
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "node/cgroups.h"
#include "node/device_filter.h"
#include "node/text_files.h"

namespace fairlead::node {
namespace {

bool exists_at(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// Our own group in the hierarchy of `controller` ("" is v2), from lines "4:memory:/a/b".
std::string own_group(const std::string& self, const std::string& controller) {
  for (const std::string& line : split(self, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::vector<std::string> names = split(line.substr(first + 1, second - first - 1), ',');
    if (names.empty()) names.emplace_back();
    for (const std::string& name : names) {
      if (name == controller) return line.substr(second + 1);
    }
  }
  return "/";
}

// In a container the path may be the one that the host sees; then its root is where we are.
std::string folder_of(const std::string& root, const std::string& own) {
  if (own == "/" || own.empty()) return root;
  return exists_at(root + own) ? root + own : root;
}

Enforcement writable(const std::string& folder, const char* how) {
  if (::access(folder.c_str(), W_OK) == 0) return {true, how};
  return {false, folder + ": " + std::strerror(errno) +
                     "; run the server as root, or in a group that is delegated to it "
                     "(systemd: Delegate=yes)"};
}

bool has_word(const std::string& path, const std::string& word) {
  for (const std::string& found : split(read_word(path).value_or(""), ' ')) {
    if (found == word) return true;
  }
  return false;
}

}  // namespace

CgroupTree CgroupTree::detect(const CgroupOptions& options) {
  CgroupTree tree;
  const std::string self = read_text(options.self).value_or("");
  const std::string unified = options.root + "/unified";
  if (exists_at(options.root + "/cgroup.controllers")) {
    tree.layout_ = CgroupLayout::kV2;
    tree.detect_v2(options.root, own_group(self, ""), options.name, false);
    return tree;
  }
  for (const char* controller : {"cpu", "memory", "pids", "freezer", "devices"}) {
    if (exists_at(options.root + "/" + controller)) tree.layout_ = CgroupLayout::kV1;
  }
  if (tree.layout_ == CgroupLayout::kNone) {
    const Enforcement none{false, "no control groups are mounted at " + options.root};
    tree.tracking_.state = tree.freezing_ = tree.cpu_.state = none;
    tree.memory_.state = tree.pids_.state = tree.devices_.state = none;
    return tree;
  }
  tree.detect_v1(options.root, self, options.name);
  if (exists_at(unified + "/cgroup.controllers")) {
    tree.layout_ = CgroupLayout::kHybrid;
    CgroupTree second;
    second.detect_v2(unified, own_group(self, ""), options.name, true);
    if (second.tracking_.state.possible) {
      tree.tracking_ = second.tracking_;
      tree.freezing_ = second.freezing_;
    }
  }
  return tree;
}

void CgroupTree::detect_v2(const std::string& root, const std::string& own, const std::string& name,
                           bool only_tracking) {
  const std::string mine = folder_of(root, own);
  // Beside our own group: the one above it holds no processes, so it may hand controllers down.
  const std::string above = mine == root ? root : mine.substr(0, mine.rfind('/'));
  const std::string folder = above + "/" + name;
  const Enforcement state = writable(exists_at(folder) ? folder : above, "v2");
  tracking_ = {state, folder, true};
  freezing_ = state;
  if (state.possible && exists_at(folder) && !exists_at(folder + "/cgroup.freeze")) {
    freezing_ = {false, "this kernel's control groups cannot freeze (Linux 5.2 and later can)"};
  }
  if (only_tracking) return;
  const auto controller = [&](const char* which) {
    Controller out{state, folder, true};
    if (!state.possible) return out;
    if (!has_word(above + "/cgroup.controllers", which)) {
      out.state = {false, "the controller \"" + std::string(which) + "\" is not handed down to " +
                              above + "/cgroup.controllers"};
      return out;
    }
    if (has_word(above + "/cgroup.subtree_control", which)) return out;
    if (auto enabled = write_text(above + "/cgroup.subtree_control", "+" + std::string(which));
        !enabled) {
      out.state = {false, enabled.error().text() +
                              "; processes in that group keep it from handing controllers down"};
    }
    return out;
  };
  cpu_ = controller("cpu");
  memory_ = controller("memory");
  pids_ = controller("pids");
  devices_ = {state, folder, true};
  if (state.possible) {
    if (const auto tried = try_device_program(); !tried) {
      devices_.state = {false, tried.error().text()};
    }
  }
}

void CgroupTree::detect_v1(const std::string& root, const std::string& self,
                           const std::string& name) {
  const auto controller = [&](const char* which) {
    Controller out;
    const std::string mounted = root + "/" + which;
    if (!exists_at(mounted)) {
      out.state = {false, "the controller \"" + std::string(which) + "\" is not mounted"};
      return out;
    }
    const std::string mine = folder_of(mounted, own_group(self, which));
    out.folder = mine + "/" + name;
    out.state = writable(exists_at(out.folder) ? out.folder : mine, "v1");
    return out;
  };
  cpu_ = controller("cpu");
  memory_ = controller("memory");
  pids_ = controller("pids");
  devices_ = controller("devices");
  tracking_ = controller("freezer");
  freezing_ = tracking_.state;
  for (const Controller* other : {&pids_, &memory_, &cpu_}) {
    if (!tracking_.state.possible && other->state.possible) tracking_ = *other;
  }
}

}  // namespace fairlead::node

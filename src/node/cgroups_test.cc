#include "node/cgroups.h"

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "node/capabilities.h"
#include "node/device_filter.h"
#include "node/processes.h"
#include "node/tree_testing.h"

namespace fairlead::node {
namespace {

CgroupLimits limits() {
  CgroupLimits limits;
  limits.cpu = MilliCpu(1500);
  limits.cpu_weight = MilliCpu(2000);
  limits.memory = Bytes(1 << 20);
  limits.pids = 7;
  return limits;
}

CgroupOptions options_of(const TestTree& tree) {
  return {.root = tree / "cgroup", .self = tree / "self", .name = "fairlead"};
}

TEST(Cgroups, VersionTwoPutsGroupsBesideTheServersOwn) {
  const TestTree tree;
  tree.write("self", "0::/system.slice/fairlead.service\n");
  tree.write("cgroup/cgroup.controllers", "cpu memory pids");
  tree.write("cgroup/system.slice/cgroup.controllers", "cpu memory pids");
  tree.write("cgroup/system.slice/cgroup.subtree_control", "");
  tree.write("cgroup/system.slice/fairlead.service/cgroup.procs", "");
  const CgroupTree groups = CgroupTree::detect(options_of(tree));
  EXPECT_EQ(groups.layout(), CgroupLayout::kV2);
  EXPECT_TRUE(groups.tracking().possible);
  EXPECT_TRUE(groups.cpu().possible) << groups.cpu().why;
  // No kernel makes the files of a new group here, so its limits have nowhere to go; the folders
  // that were made for it are gone again.
  const auto group = groups.create("a", limits());
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().where, tree / "cgroup/system.slice/fairlead/a/cpu.max");
  EXPECT_FALSE(std::filesystem::exists(tree / "cgroup/system.slice/fairlead/a"));
}

TEST(Cgroups, AControllerThatIsNotHandedDownIsSaid) {
  const TestTree tree;
  tree.write("self", "0::/\n");
  tree.write("cgroup/cgroup.controllers", "cpu pids");
  tree.write("cgroup/cgroup.subtree_control", "cpu");
  const CgroupTree groups = CgroupTree::detect(options_of(tree));
  EXPECT_FALSE(groups.memory().possible);
  EXPECT_NE(groups.memory().why.find("\"memory\" is not handed down"), std::string::npos);
}

TEST(Cgroups, VersionOneHasAFolderPerControllerInsideTheServersOwn) {
  const TestTree tree;
  tree.write("self", "2:cpu,cpuacct:/a\n3:memory:/b\n4:freezer:/\n1:name=systemd:/x\n");
  tree.write("cgroup/cpu/a/cgroup.procs", "");
  tree.write("cgroup/memory/b/cgroup.procs", "");
  tree.write("cgroup/freezer/cgroup.procs", "");
  const CgroupTree groups = CgroupTree::detect(options_of(tree));
  EXPECT_EQ(groups.layout(), CgroupLayout::kV1);
  EXPECT_TRUE(groups.tracking().possible);
  EXPECT_TRUE(groups.freezing().possible);
  EXPECT_FALSE(groups.pids().possible);
  EXPECT_NE(groups.pids().why.find("\"pids\" is not mounted"), std::string::npos);
  const auto group = groups.create("one", {});
  ASSERT_TRUE(group) << group.error().text();
  EXPECT_TRUE(std::filesystem::exists(tree / "cgroup/freezer/fairlead/one"));
  EXPECT_FALSE(std::filesystem::exists(tree / "cgroup/memory/b/fairlead")) << "nothing limits it";
  EXPECT_TRUE(group->exists());
  ASSERT_TRUE(group->remove());
  EXPECT_FALSE(groups.find("one").exists());
}

// A server that keeps what it makes to itself made groups in which tasks of other users could not
// read their own limits.
TEST(Cgroups, ATaskOfAnotherUserCanReadItsOwnWhateverTheUmask) {
  const TestTree tree;
  tree.write("self", "4:freezer:/\n");
  tree.write("cgroup/freezer/cgroup.procs", "");
  const mode_t before = ::umask(077);
  const auto group = CgroupTree::detect(options_of(tree)).create("one", {});
  ::umask(before);
  ASSERT_TRUE(group) << group.error().text();
  for (const char* folder : {"cgroup/freezer/fairlead", "cgroup/freezer/fairlead/one"}) {
    struct stat status{};
    ASSERT_EQ(::stat((tree / folder).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0755U) << folder;
  }
}

TEST(Cgroups, AMachineWithoutThemSaysSo) {
  const TestTree tree;
  const CgroupTree groups = CgroupTree::detect(options_of(tree));
  EXPECT_EQ(groups.layout(), CgroupLayout::kNone);
  EXPECT_FALSE(groups.tracking().possible);
  const auto group = groups.create("a", limits());
  ASSERT_TRUE(group) << "limits that cannot be enforced are left out";
  EXPECT_TRUE(group->processes().empty());
  for (const Capability& one : capabilities(groups)) {
    EXPECT_TRUE(one.name == "run-as-user" || !one.available) << one.name;
    EXPECT_FALSE(one.detail.empty()) << one.name;
  }
}

// From here on with the control groups of this machine, where it lets us.
class RealCgroups : public testing::Test {
 protected:
  RealCgroups()
      : tree_(CgroupTree::detect({.name = "fairlead-test-" + std::to_string(::getpid())})) {}
  ~RealCgroups() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    if (group_) (void)group_->remove();
    tree_.remove_empty_parents();
  }

  void SetUp() override {
    if (!tree_.tracking().possible) GTEST_SKIP() << tree_.tracking().why;
  }

  // A child that joins the group, tells so and runs `work`.
  template <class Work>
  void start_child(const Work& work) {
    int ready[2];
    ASSERT_EQ(::pipe(&ready[0]), 0);
    child_ = ::fork();
    if (child_ == 0) {
      if (!group_->join(0)) ::_exit(99);
      (void)!::write(ready[1], "x", 1);
      ::_exit(work());
    }
    char byte = 0;
    ::close(ready[1]);
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
  }

  int wait_child() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return status;
  }

  CgroupTree tree_;
  std::optional<Cgroup> group_;
  pid_t child_ = 0;
};

int sleep_for_ever() {
  for (;;) ::pause();
}

TEST_F(RealCgroups, WhatIsInAGroupIsKilledWithItsChildren) {
  auto group = tree_.create("kill", {});
  ASSERT_TRUE(group) << group.error().text();
  group_ = *group;
  start_child([] {
    ::setsid();
    if (::fork() == 0) sleep_for_ever();
    return sleep_for_ever();
  });
  EXPECT_TRUE(group_->kill_and_wait(10'000));
  const int status = wait_child();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(group_->processes().empty());
  EXPECT_TRUE(group_->remove());
}

TEST_F(RealCgroups, WhatIsFrozenStandsStillAndDiesAllTheSame) {
  if (!tree_.freezing().possible) GTEST_SKIP() << tree_.freezing().why;
  auto group = tree_.create("freeze", {});
  ASSERT_TRUE(group) << group.error().text();
  group_ = *group;
  start_child(sleep_for_ever);
  ASSERT_TRUE(group_->freeze());
  ASSERT_TRUE(group_->thaw());
  ASSERT_TRUE(group_->freeze());
  EXPECT_TRUE(group_->kill_and_wait(10'000));
  EXPECT_TRUE(WIFSIGNALED(wait_child()));
}

TEST_F(RealCgroups, TheNumberOfProcessesIsLimited) {
  if (!tree_.pids().possible) GTEST_SKIP() << tree_.pids().why;
  CgroupLimits one;
  one.pids = 1;
  auto group = tree_.create("pids", one);
  ASSERT_TRUE(group) << group.error().text();
  group_ = *group;
  start_child([] { return ::fork() < 0 && errno == EAGAIN ? 42 : 1; });
  EXPECT_EQ(WEXITSTATUS(wait_child()), 42);
}

TEST_F(RealCgroups, MemoryOverTheLimitIsKilledAndCounted) {
  if (!tree_.memory().possible) GTEST_SKIP() << tree_.memory().why;
  CgroupLimits small;
  small.memory = Bytes(8 << 20);
  auto group = tree_.create("memory", small);
  ASSERT_TRUE(group) << group.error().text();
  group_ = *group;
  start_child([] {
    constexpr std::size_t kMuch = 64 << 20;
    char* much = static_cast<char*>(std::malloc(kMuch));
    for (std::size_t i = 0; i < kMuch; i += 512) static_cast<volatile char*>(much)[i] = 1;
    return 0;
  });
  const int status = wait_child();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(group_->usage().oom_kills, 1);
}

// The kernel's answer to opening a device that nobody allowed.
int open_fuse_and_null() {
  if (::open("/dev/null", O_RDWR) < 0) return 1;
  return ::open("/dev/kmsg", O_RDONLY) < 0 && errno == EPERM ? 42 : 2;
}

TEST_F(RealCgroups, DevicesThatNobodyAllowedCannotBeOpened) {
  if (!tree_.devices().possible) GTEST_SKIP() << tree_.devices().why;
  const int probe = ::open("/dev/kmsg", O_RDONLY);
  if (probe < 0) GTEST_SKIP() << "this machine lets nobody open /dev/kmsg anyway";
  ::close(probe);
  CgroupLimits none;
  none.devices.emplace();
  auto group = tree_.create("devices", none);
  ASSERT_TRUE(group) << group.error().text();
  group_ = *group;
  start_child(open_fuse_and_null);
  EXPECT_EQ(WEXITSTATUS(wait_child()), 42);
}

TEST_F(RealCgroups, TheProgramOfVersionTwoRefusesTheSame) {
  if (tree_.layout() != CgroupLayout::kHybrid && tree_.layout() != CgroupLayout::kV2) {
    GTEST_SKIP() << "no v2 hierarchy";
  }
  const auto permitted = try_device_program();
  if (!permitted) GTEST_SKIP() << permitted.error().text();
  auto group = tree_.create("bpf", {});
  ASSERT_TRUE(group) << group.error().text();
  group_ = *group;
  const std::string folder =
      "/sys/fs/cgroup" + std::string(tree_.layout() == CgroupLayout::kHybrid ? "/unified" : "") +
      "/fairlead-test-" + std::to_string(::getpid()) + "/bpf";
  if (::access(folder.c_str(), F_OK) != 0) GTEST_SKIP() << "the group lies elsewhere";
  ASSERT_TRUE(filter_devices_v2(folder, *device_rules({})));
  start_child(open_fuse_and_null);
  EXPECT_EQ(WEXITSTATUS(wait_child()), 42);
}

TEST(DeviceRules, WhatIsNoDeviceIsNamed) {
  EXPECT_EQ(device_rules({"/dev/none"}).error().code, ErrorCode::kNotFound);
  EXPECT_NE(device_rules({"/proc/meminfo"}).error().message.find("not a device"),
            std::string::npos);
  const auto rules = device_rules({"/dev/full"});
  ASSERT_TRUE(rules);
  EXPECT_EQ(rule_text(rules->back()), "c 1:7 rwm");
}

TEST(Processes, ANumberThatIsUsedAgainIsAnotherProcess) {
  const auto self = find_process(::getpid());
  ASSERT_TRUE(self);
  EXPECT_TRUE(signal_process(self->ref, 0));
  EXPECT_FALSE(signal_process({::getpid(), self->ref.start_ticks + 1}, 0));
  EXPECT_FALSE(find_process(-5));
}

}  // namespace
}  // namespace fairlead::node

#include "model/device.h"

#include <algorithm>
#include <map>

namespace fairlead {
namespace {

// MIG geometry of A100 and its successors: seven compute slices, eight memory slices; where an
// instance may begin is what `nvidia-smi mig -lgipp` prints. The memory of each profile is what
// `nvidia-smi mig -lgip` prints for that device, in hundredths of a GiB there, in MiB here. (NVIDIA
// MIG user guide, "Supported MIG profiles".) The "+me" variants differ in media engines only and
// are not listed: at most one of them fits a device, and it takes the place of its plain form.
struct MigMemory {
  const char* gb[6];  // names of 1g, 1g with two memory slices, 2g, 3g, 4g, 7g
  std::int64_t mib[6];
};

std::vector<MigProfile> mig_profiles(const MigMemory& memory) {
  struct Shape {
    const char* prefix;
    std::int32_t compute;
    std::int32_t slices;
    std::vector<std::int32_t> starts;
  };
  const std::vector<Shape> shapes = {{"1g.", 1, 1, {0, 1, 2, 3, 4, 5, 6}},
                                     {"1g.", 1, 2, {0, 2, 4, 6}},
                                     {"2g.", 2, 2, {0, 2, 4}},
                                     {"3g.", 3, 4, {0, 4}},
                                     {"4g.", 4, 4, {0}},
                                     {"7g.", 7, 8, {0}}};
  std::vector<MigProfile> out;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    out.push_back(MigProfile{std::string(shapes[i].prefix) + memory.gb[i] + "gb", shapes[i].compute,
                             shapes[i].slices, MiB(memory.mib[i]), shapes[i].starts});
  }
  return out;
}

constexpr MigMemory kA100With40{{"5", "10", "10", "20", "20", "40"},
                                {4'864, 9'856, 9'984, 20'096, 20'096, 40'192}};
constexpr MigMemory kA100With80{{"10", "20", "20", "40", "40", "80"},
                                {9'728, 19'968, 19'968, 40'192, 40'192, 80'896}};
constexpr MigMemory kH100With80{{"10", "20", "20", "40", "40", "80"},
                                {9'984, 20'096, 20'096, 40'448, 40'448, 81'152}};
constexpr MigMemory kH200With141{{"18", "35", "35", "71", "71", "141"},
                                 {16'384, 33'280, 33'280, 71'424, 71'424, 143'360}};

DeviceClass plain(std::string name, std::int64_t mib) {
  return DeviceClass{std::move(name), MiB(mib), 0, 0, {}};
}

DeviceClass with_mig(std::string name, std::int64_t mib, const MigMemory& memory) {
  return DeviceClass{std::move(name), MiB(mib), 7, 8, mig_profiles(memory)};
}

// Memory is "FB memory usage, total" of nvidia-smi, which is what a program can see and below what
// the name promises on most (ECC, firmware). The same device can differ by some MiB between driver
// branches (T4: 15109 before 510, 15360 since); a site whose driver says otherwise states its own
// class. H200: measured with driver 580.
const std::map<std::string, DeviceClass>& known() {
  static const std::map<std::string, DeviceClass> kClasses = [] {
    std::map<std::string, DeviceClass> out;
    for (DeviceClass& device : std::vector<DeviceClass>{
             with_mig("H200-141GB", 143'771, kH200With141),
             with_mig("H100-80GB", 81'559, kH100With80),
             with_mig("A100-80GB", 81'920, kA100With80),
             with_mig("A100-40GB", 40'960, kA100With40),
             plain("L40S", 46'068),
             plain("L4", 23'034),
             plain("A10", 23'028),
             plain("T4", 15'360),
             plain("V100-32GB", 32'510),
             plain("V100-16GB", 16'160),
             plain("P100-16GB", 16'280),
             plain("K80", 11'441),  // each of the card's two GPUs
             // Names of the Alibaba GPU cluster trace v2023 (openb). What G2 and G3 are was not
             // published; the trace asks for portions only, so their memory decides nothing there.
             plain("V100M32", 32'510),
             plain("V100M16", 16'160),
             plain("P100", 16'280),
             plain("G2", 23'028),
             plain("G3", 81'920),
         }) {
      std::string name = device.name;
      out.emplace(std::move(name), std::move(device));
    }
    return out;
  }();
  return kClasses;
}

}  // namespace

const DeviceClass* known_device_class(const std::string& name) {
  const auto found = known().find(name);
  return found == known().end() ? nullptr : &found->second;
}

std::vector<std::string> known_device_class_names() {
  std::vector<std::string> names;
  for (const auto& [name, device] : known()) names.push_back(name);
  return names;
}

}  // namespace fairlead

#include "node/nvml.h"

#include <cctype>
#include <dlfcn.h>
#include <memory>

namespace fairlead::node {
namespace {

// The parts of NVML's interface that we use, by NVIDIA's "NVML API Reference Guide".
using Status = int;
constexpr Status kSuccess = 0;
constexpr unsigned kNvlink = 2;  // NVML_P2P_CAPS_INDEX_NVLINK
using Device = void*;

struct MemoryInfo {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

class Library {
 public:
  explicit Library(const std::string& name) : handle_(::dlopen(name.c_str(), RTLD_NOW)) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }

  bool loaded() const { return handle_ != nullptr; }

  // Calls the first of `names` that the library has; false if it has none or says no.
  template <class... Arguments>
  bool call(std::initializer_list<const char*> names, Arguments... arguments) const {
    for (const char* name : names) {
      if (void* symbol = ::dlsym(handle_, name)) {
        return reinterpret_cast<Status (*)(Arguments...)>(symbol)(arguments...) == kSuccess;
      }
    }
    return false;
  }

 private:
  void* handle_;
};

// "00000000:0F:00.0" as the kernel writes it: "0000:0f:00.0".
std::string kernel_bus_id(std::string id) {
  for (char& c : id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::size_t colon = id.find(':');
  return colon == 8 ? id.substr(4) : id;
}

Gpu ask_device(const Library& library, Device device, unsigned index) {
  Gpu gpu;
  char text[128] = {};
  constexpr unsigned kRoom = sizeof text - 1;
  gpu.uuid = library.call({"nvmlDeviceGetUUID"}, device, &text[0], kRoom)
                 ? text
                 : "gpu-" + std::to_string(index);
  gpu.name = library.call({"nvmlDeviceGetName"}, device, &text[0], kRoom) ? text : "GPU";
  MemoryInfo memory{};
  if (library.call({"nvmlDeviceGetMemoryInfo"}, device, &memory)) {
    gpu.memory = MiB(static_cast<std::int64_t>(memory.total >> 20));
  }
  PciInfo pci{};
  if (library.call({"nvmlDeviceGetPciInfo_v3"}, device, &pci)) {
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    gpu.pci = kernel_bus_id(&pci.bus_id[0]);
  }
  unsigned number = 0;
  if (library.call({"nvmlDeviceGetMinorNumber"}, device, &number)) {
    gpu.minor = static_cast<std::int32_t>(number);
  }
  unsigned pending = 0;
  unsigned current = 0;
  gpu.mig_enabled =
      library.call({"nvmlDeviceGetMigMode"}, device, &current, &pending) && current == 1;
  return gpu;
}

// Devices that reach each other by NVLink form an island.
void find_islands(const Library& library, const std::vector<Device>& devices,
                  std::vector<Gpu>& gpus) {
  std::int32_t islands = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      int state = -1;
      if (!library.call({"nvmlDeviceGetP2PStatus"}, devices[i], devices[j], kNvlink, &state) ||
          state != 0) {
        continue;
      }
      if (gpus[j].nvlink_island < 0) gpus[j].nvlink_island = islands++;
      gpus[i].nvlink_island = gpus[j].nvlink_island;
      break;
    }
  }
}

}  // namespace

NvmlFindings ask_nvml(const std::string& name) {
  NvmlFindings found;
  const Library library(name);
  if (!library.loaded()) {
    found.note = "no NVIDIA driver: " + name + " is not there, so this machine has no GPUs";
    return found;
  }
  if (!library.call({"nvmlInit_v2", "nvmlInit"})) {
    found.note = name + " is there but does not start; is the NVIDIA kernel module loaded?";
    return found;
  }
  unsigned count = 0;
  if (!library.call({"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, &count)) {
    found.note = name + " does not say how many GPUs there are";
  }
  std::vector<Device> devices;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (library.call({"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, i, &device)) {
      devices.push_back(device);
      found.gpus.push_back(ask_device(library, device, i));
    } else {
      found.note = "GPU " + std::to_string(i) + " of " + std::to_string(count) +
                   " does not answer and is left out";
    }
  }
  find_islands(library, devices, found.gpus);
  (void)library.call({"nvmlShutdown"});
  return found;
}

}  // namespace fairlead::node

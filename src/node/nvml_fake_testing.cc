// A driver's library with three GPUs, for tests: two H100 joined by NVLink, and one that nobody
// knows. The second H100 is cut by MIG.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

extern "C" {

struct FakeMemory {
  unsigned long long total, free, used;
};
struct FakePci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

static char g_devices[3];  // a handle is the address of one of these

static std::size_t index_of(void* device) {
  return static_cast<std::size_t>(static_cast<const char*>(device) - &g_devices[0]);
}

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &g_devices[index];
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned room) {
  std::snprintf(text, room, "GPU-fake-%d", static_cast<int>(index_of(device)));
  return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned room) {
  std::snprintf(text, room, "%s",
                index_of(device) < 2 ? "NVIDIA H100 80GB HBM3" : "NVIDIA Quadro Q9 (rev 2)");
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, FakeMemory* memory) {
  *memory = {(index_of(device) < 2 ? 81'559ULL : 6'000ULL) << 20, 0, 0};
  return 0;
}
int nvmlDeviceGetPciInfo_v3(void* device, FakePci* pci) {
  std::memset(pci, 0, sizeof *pci);
  std::snprintf(&pci->bus_id[0], sizeof pci->bus_id, "00000000:%dA:00.0",
                static_cast<int>(index_of(device)) + 1);
  return 0;
}
int nvmlDeviceGetMinorNumber(void* device, unsigned* number) {
  *number = static_cast<unsigned>(index_of(device));
  return 0;
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *current = *pending = index_of(device) == 1 ? 1 : 0;
  return index_of(device) < 2 ? 0 : 3;
}
int nvmlDeviceGetP2PStatus(void* one, void* other, unsigned, int* status) {
  *status = index_of(one) < 2 && index_of(other) < 2 ? 0 : 1;
  return 0;
}
}

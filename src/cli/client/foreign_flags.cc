#include "cli/client/foreign_flags.h"

#include <algorithm>

namespace fairlead::cli {
namespace {

constexpr std::string_view kContainer = "works from the container engine on";
constexpr std::string_view kKubernetes = "works with the kubernetes engine";
constexpr std::string_view kFolders =
    "a process sees the machine's folders as they are; storage can be mounted from the container "
    "engine on";
constexpr std::string_view kUseFolders = "leave it out and use the folder's own path";
constexpr std::string_view kNetwork =
    "a process listens on this machine already; services are published with the kubernetes engine";
constexpr std::string_view kForward =
    "leave it out and use \"port-forward NAME --port LOCAL:PORT\"";
constexpr std::string_view kServing = "serving is not there yet";
constexpr std::string_view kLeave = "leave it out";

using enum Stance;

constexpr ForeignFlag kFlags[] = {
    // images
    {"--image-pull-policy", true, kRefused, kContainer, kLeave},
    {"--always-pull-image", false, kRefused, kContainer, kLeave},
    {"--local-image", false, kRefused, kContainer, kLeave},
    // storage
    {"-v,--volume", true, kRefused, kFolders, kUseFolders},
    {"--host-path", true, kRefused, kFolders, kUseFolders},
    {"--nfs", true, kRefused, kFolders, kUseFolders},
    {"--nfs-server", true, kRefused, kFolders, kUseFolders},
    {"--mount-propagation", false, kRefused, kFolders, kUseFolders},
    {"--pvc", true, kRefused, kKubernetes, kUseFolders},
    {"--pvc-exists", true, kRefused, kKubernetes, kUseFolders},
    {"--existing-pvc", true, kRefused, kKubernetes, kUseFolders},
    {"--new-pvc", true, kRefused, kKubernetes, kUseFolders},
    {"--configmap-volume", true, kRefused, kKubernetes, kUseFolders},
    {"--configmap-map-volume", true, kRefused, kKubernetes, kUseFolders},
    {"--secret-volume", true, kRefused, kKubernetes, kUseFolders},
    {"--git-sync", true, kRefused, kContainer, "clone the repository and use --working-dir"},
    {"--s3", true, kRefused, kContainer, "let the command fetch what it needs"},
    {"--create-home-dir", false, kRemarked, "a process has its user's home folder", {}},
    {"--large-shm", false, kAlreadySo, "a process has the machine's shared memory", {}},
    // network
    {"-s,--service-type", true, kRefused, kNetwork, kForward},
    {"--port", true, kRefused, kNetwork, kForward},
    {"--external-url", true, kRefused, kNetwork, kForward},
    {"--custom-url", true, kRefused, kNetwork, kForward},
    {"--address", true, kRefused, kNetwork, kForward},
    {"--host-network", false, kAlreadySo, "a process has the machine's network", {}},
    {"--host-ipc", false, kAlreadySo, "a process has the machine's IPC", {}},
    // security
    {"--run-as-user", false, kAlreadySo, "a process runs as who submits it", {}},
    {"-u,--user", true, kRefused, "a process runs as who submits it",
     "an administrator says --run-as-uid"},
    {"--allow-privilege-escalation", false, kRefused, kContainer, kLeave},
    {"--prevent-privilege-escalation", false, kAlreadySo, "a process cannot gain privileges", {}},
    {"--add-capability", true, kRefused, kContainer, kLeave},
    {"--capability", true, kRefused, kContainer, kLeave},
    {"--seccomp-profile", true, kRefused, kContainer, kLeave},
    {"--supplemental-groups", true, kRefused, kContainer, kLeave},
    {"--user-group-source", true, kRefused, kContainer, kLeave},
    // placement
    {"--toleration", true, kRemarked, "the nodes of one machine have no taints", {}},
    {"--required-pod-topology-key", true, kRemarked, "one machine is one host already", {}},
    {"--preferred-pod-topology-key", true, kRemarked, "one machine is one host already", {}},
    {"--mnnvl", true, kRefused, kKubernetes, kLeave},
    // what is not there yet
    {"--template", true, kRefused, "templates are not there yet",
     "state what the workload needs, or keep a document and use -f"},
    {"--jupyter", false, kRefused, "it starts an image, which works from the container engine on",
     "run it as a process: submit NAME --interactive -- jupyter lab"},
    {"--inference", false, kRefused, kServing, kLeave},
    {"--replicas", true, kRefused, kServing, "for equal tasks state --completions"},
    {"--elastic", false, kRefused, "it halves and doubles GPUs of one container",
     "distributed workloads grow by --min-replicas and --max-replicas"},
    {"--env-pod-field-ref", true, kRefused, kKubernetes, "state the value with --environment"},
    {"--master-no-pvcs", false, kAlreadySo, "nothing is mounted", {}},
    // what changes nothing here
    {"--mps", false, kRemarked, "parts of a GPU need nothing else here", {}},
    {"-a,--annotation", true, kRemarked, "annotations belong to Kubernetes", "use --label"},
    {"--category", true, kRemarked, "workloads have no categories here", "use --label"},
    {"-c,--command", false, kAlreadySo, "the words after -- are the whole command", {}},
    {"--slots-per-worker,--processes",
     true,
     kRemarked,
     "on one machine mpirun's own -np says how many ranks run",
     {}},
    {"--clean-pod-policy",
     true,
     kRemarked,
     "what still runs when a workload is over is always stopped",
     {}},
    {"--wait-for-submit", true, kRemarked, "a submission is stored before it is answered", {}},
    {"--pod-running-timeout", true, kRemarked, "the log is followed as soon as there is one", {}},
};

}  // namespace

std::string_view ForeignFlag::name() const {
  const std::string_view longs = names.substr(names.find("--"));
  return longs.substr(0, longs.find(','));
}

std::span<const ForeignFlag> foreign_flags() {
  return kFlags;
}

ForeignVerdict judge_foreign(std::span<const std::string> given) {
  ForeignVerdict verdict;
  for (const ForeignFlag& flag : kFlags) {
    if (std::find(given.begin(), given.end(), flag.name()) == given.end()) continue;
    if (flag.stance == kAlreadySo) continue;
    Error error{ErrorCode::kInvalidArgument,
                std::string(flag.why),
                {},
                std::string(flag.name()),
                std::string(flag.cure)};
    if (flag.stance == kRefused) {
      error.message = "cannot be used yet: " + error.message;
      verdict.errors.push_back(std::move(error));
    } else {
      error.message = "changes nothing: " + error.message;
      verdict.warnings.push_back(std::move(error));
    }
  }
  return verdict;
}

}  // namespace fairlead::cli

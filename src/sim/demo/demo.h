// The bundled demonstration: a small cluster, three projects, two and a half days of generated
// load. The same files lie in traces/ for copying from; a test keeps them equal.
#pragma once

#include <string>
#include <vector>

#include "sim/generate/generator.h"
#include "sim/trace/job.h"

namespace fairlead::sim {

// A cluster document: 4 nodes of 8 GPUs, 4 nodes of 4, projects with quotas.
const std::string& demo_cluster_document();

GeneratorOptions demo_options(std::uint64_t seed);
inline constexpr std::uint64_t kDemoSeed = 7;

}  // namespace fairlead::sim

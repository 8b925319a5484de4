// The parts of the writer of scenario documents. Inside of document.h.
#pragma once

#include "model/tree.h"
#include "sim/scenario/scenario.h"

namespace fairlead::sim {

// document_expect_writer.cc
Tree expectation_tree(const Expectation& expectation, Instant start);

}  // namespace fairlead::sim

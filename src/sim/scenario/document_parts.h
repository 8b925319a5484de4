// The parts of the reader of scenario documents, one file each. Inside of document.h.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "model/cluster_reader.h"
#include "model/findings.h"
#include "model/object_reader.h"
#include "sim/scenario/reading.h"

namespace fairlead::sim {

// document_events.cc: one item of `events`.
void read_document_event(const Value& value, Findings& findings, Reading& reading);
// The cluster fields of a map as events, in an order that the core accepts. `whole`: it is the
// cluster at the beginning, so that names are looked up.
void read_document_cluster(ObjectReader& in, bool whole, Reading& reading);

// document_expectations.cc: one item of `expect`.
std::optional<Expectation> read_document_expectation(const Value& value, Findings& findings,
                                                     const Reading& reading);

// A string in the readable language as a statement at the place of the value.
std::optional<Statement> statement_of(const Value& value, Findings& findings,
                                      std::string_view first_word = {});

// "n1:0" or "n1:gpu-0" as the node and the id of its device.
std::optional<std::pair<std::string, std::string>> as_device(const Value& value, Findings& findings,
                                                             const Reading& reading);

// A duration after the scenario's start, "-2h" before it, or RFC 3339.
std::optional<Instant> as_scenario_time(const Value& value, Findings& findings, Instant start);

}  // namespace fairlead::sim

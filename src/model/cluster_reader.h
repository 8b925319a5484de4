// Documents into a ClusterSpec: docs/documents.md describes the format, schemas/ publishes it.
//
// parse_cluster() does all of it. Readers of other documents that hold a cluster (scenarios) use
// the two steps behind it: read_cluster_fields() for the fields of a map, then check_cluster() for
// what no single field can tell. Both report into Findings and never throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "model/document.h"
#include "model/findings.h"
#include "model/object_reader.h"

namespace fairlead {

// What a document may ask for by a count, which costs more memory than its text.
struct ClusterLimits {
  std::size_t nodes = 200'000;
  std::size_t devices = 2'000'000;
  std::int32_t tasks_per_role = 1'000'000;
  bool project_stated = true;  // a workload names its queue; else it may leave that open
};

// Where each part of the ClusterSpec was stated, by the same positions. Several nodes of a group
// share a place.
struct ClusterPlaces {
  const Value* root = nullptr;
  std::vector<const Value*> device_classes;  // root for those added because a node names them
  std::vector<const Value*> pools;
  std::vector<const Value*> nodes;
  std::vector<const Value*> queues;
  std::vector<const Value*> reservations;
  std::vector<const Value*> workloads;
};

struct ClusterDraft {
  ClusterSpec cluster;
  ClusterPlaces places;
  ClusterLimits limits;
  std::size_t device_count = 0;  // of all nodes so far
};

struct ClusterDocument {
  ClusterSpec cluster;
  bool has_cluster = false;  // false: only workloads, so that names were not looked up
  std::vector<Error> warnings;
};

// Reads a file of one `kind: Cluster` and any number of `kind: Workload` parts. Errors: all of
// them, by line.
std::expected<ClusterDocument, std::vector<Error>> parse_cluster(std::string_view text,
                                                                 std::string file,
                                                                 ClusterLimits limits = {});
std::expected<ClusterDocument, std::vector<Error>> parse_cluster(const Document& document,
                                                                 ClusterLimits limits = {});

// `kind` of a root, "" if it states none (or is no map).
std::string document_kind(const Value& root);

// Reads the fields topology, deviceClasses, pools, nodes, queues (or departments), reservations and
// workloads, and appends to the draft. Other fields are the caller's.
void read_cluster_fields(ObjectReader& in, ClusterDraft& draft);

// One workload: the fields of a `kind: Workload` document, without apiVersion and kind.
WorkloadEntry read_workload(const Value& value, Findings& findings,
                            const ClusterLimits& limits = {});

// One queue (with those nested in it, below `parent` if that is not empty), one pool: appended to
// the draft. A queue's fields `description` and `members`, which say nothing to the scheduler, are
// checked and left to the caller.
void read_queue(const Value& value, const std::string& parent, ClusterDraft& draft,
                Findings& findings);
void read_pool(const Value& value, ClusterDraft& draft, Findings& findings);

// A reservation: name, nodes, from, until, for. Other fields are the caller's.
ReservationSpec read_reservation(ObjectReader& in);

// Names that must exist or be unique, the queue tree, sums, capacities, running tasks. Adds to the
// draft the known device classes that nodes use without stating them.
void check_cluster(ClusterDraft& draft, Findings& findings);

// What can be said of workloads without their cluster.
void check_workloads_alone(const ClusterDraft& draft, Findings& findings);

}  // namespace fairlead

// A ClusterSpec as a document that parse_cluster() reads back to an equal value.
//
// What has its default is left out, so the output is about as short as a person would write it;
// nodes are printed one by one. Requires: a value that parse_cluster() could have returned.
#pragma once

#include "model/cluster.h"
#include "model/tree.h"

namespace fairlead {

// The whole document, with apiVersion and kind.
Tree cluster_tree(const ClusterSpec& cluster);

// The fields of read_cluster_fields(), added to a map; for documents that hold a cluster.
void add_cluster_fields(const ClusterSpec& cluster, Tree& map);

// One workload, without apiVersion and kind. `leaf`: what its leaf of the queue tree is called,
// "queue" beside the queues of a cluster, "project" to people.
Tree workload_tree(const WorkloadEntry& entry, const char* leaf = "queue");

// One queue, with `parent` if it has one; one pool.
Tree queue_tree(const QueueSpec& queue);
Tree pool_tree(const PoolSpec& pool);
// Nodes that people keep.
Tree reservation_tree(const ReservationSpec& reservation);

// What `gpu:` says: 2, 0.5, {memory: 4Gi}, …
Tree gpu_tree(const GpuRequest& request);

}  // namespace fairlead

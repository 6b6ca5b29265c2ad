// SPDX-License-Identifier: Apache-2.0
// Lists the parts of a worker that its sessions and their reliefs use.
#pragma once

#include <string_view>
#include <vector>

#include "heatsink/copies/counters.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/copies/read_hits.h"
#include "heatsink/copies/worker_copies.h"
#include "heatsink/fleet/names.h"
#include "heatsink/net/net.h"
#include "heatsink/relief/access_counter.h"
#include "heatsink/relief/admission.h"
#include "heatsink/relief/shared_state.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

class WriteGatherer;
class SpreadKeys;
class ReplicaCarrier;
class HotChannel;

// References only; all outlive it. The worker's thread.
struct WorkerParts {
  SharedState& shared;
  net::EventLoop& loop;
  copies::Counters& counters;
  copies::ReadHits& read_hits;
  copies::WorkerCopies& copies;
  copies::PermissionCache& permissions;
  AccessCounter* accesses;                                // null: detection is off
  std::vector<resp::KeyRef>& key_refs;                    // scratch
  std::vector<AskedKey>& asked_keys;                      // scratch
  WriteGatherer* write_gatherer = nullptr;                // null: no rule gathers writes
  topology::SlotCounts::Sampler* slot_sampler = nullptr;  // null: slots are not counted
  SpreadKeys* spread = nullptr;                           // null: no key has copies on nodes
  ReplicaCarrier* replicas = nullptr;                     // null: reads go to masters only
  HotChannel* hot_channel = nullptr;                      // null: __heatsink__:hot is the server's

  // The command for this key is sent to a server.
  void count_slot(std::string_view key) const {
    if (slot_sampler == nullptr || !slot_sampler->counts_next()) return;
    if (shared.cluster.version() > 0) shared.slot_counts.add(resp::key_slot(key));
  }
  void count(copies::Count what) const { counters.add(what); }
  void count_hit(const copies::LocalRead& read) const {
    counters.add(copies::Count::kLocalHits);
    read_hits.add(read);
  }
  void count_hits(const copies::LocalRead& read, std::uint64_t hits) const {
    counters.add(copies::Count::kLocalHits, hits);
    counters.add(copies::Count::kCommands, hits);
    read_hits.add(read, hits);
  }
  void record(const detect::Access& access) const {
    // A library, or another proxy, may reach its server through this one.
    if (access.key.starts_with('h') && fleet::is_own_key(access.key)) [[unlikely]]
      return;
    const bool writes = access.kind == detect::AccessKind::kWrite;
    counters.add(writes             ? copies::Count::kAccessWrites
                 : access.local_hit ? copies::Count::kAccessHits
                                    : copies::Count::kAccessMisses);
    copies.saw(access.hash, writes);
    if (accesses != nullptr) accesses->record(access, loop.now());
  }
};

}  // namespace heatsink::proxy

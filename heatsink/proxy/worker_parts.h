// SPDX-License-Identifier: Apache-2.0
// What clients' sessions and their reliefs use of the worker that they belong to.
#pragma once

#include <vector>

#include "heatsink/net/net.h"
#include "heatsink/proxy/access_counter.h"
#include "heatsink/proxy/admission.h"
#include "heatsink/proxy/copies.h"
#include "heatsink/proxy/counters.h"
#include "heatsink/proxy/proofs.h"
#include "heatsink/proxy/read_hits.h"
#include "heatsink/proxy/shared_state.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

class Coalescing;

// References only; all outlive it. The worker's thread.
struct WorkerParts {
  SharedState& shared;
  net::EventLoop& loop;
  Counters& counters;
  ReadHits& read_hits;
  Copies& copies;
  Proofs& proofs;
  AccessCounter* accesses;              // null: detection is off
  std::vector<resp::KeyRef>& key_refs;  // scratch
  std::vector<AskedKey>& asked_keys;    // likewise
  Coalescing* coalescing = nullptr;     // null: no rule asks for it

  void count(Count what) const { counters.add(what); }
  void count_hit(const LocalRead& read) const {
    counters.add(Count::kLocalHits);
    read_hits.add(read);
  }
  void record(const detect::Access& access) const {
    if (accesses != nullptr) accesses->record(access, loop.now());
  }
};

}  // namespace heatsink::proxy

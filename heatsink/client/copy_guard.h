// SPDX-License-Identifier: Apache-2.0
// Decides whether a loaded value may become the copy of its key, and ends copies that changes of
// their keys have outdated.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/begun_write.h"
#include "heatsink/client/cached_value.h"
#include "heatsink/client/chance.h"
#include "heatsink/client/kept_keys.h"
#include "heatsink/client/life.h"
#include "heatsink/client/name_fences.h"
#include "heatsink/client/options.h"
#include "heatsink/client/own_reads.h"
#include "heatsink/client/runtime.h"
#include "heatsink/client/server_link.h"

namespace heatsink::client {

// Owns the fences of all names and the one lock under which a copy is kept, so that no write can
// overtake it. Any thread. Each call is a few instructions under the lock, except the changes of
// many keys: O(kept keys).
class CopyGuard {
 public:
  struct Parts {  // all outlive it
    KeptKeys& kept;
    Chance& chance;
    const Life& life;
    admit::AdmissionState* admission;  // null: no key earns a copy, and there are no Notes
  };
  CopyGuard(const ClientOptions& options, const Runtime& runtime, const Parts& parts)
      : options_(options),
        runtime_(runtime),
        parts_(parts),
        has_server_(!options.server_url.empty()) {}

  // ---- a load

  // No load that began at or before this time may be shown.
  TimePoint fence(KeyHash hash) const noexcept { return fences_.fence(name_of(hash)); }
  struct KeepResult {
    bool is_unchanged;  // as far as the server has told: the value is still that of the key
    bool is_kept;       // the value is the copy now
  };
  // The load that `watch` precedes has ended with this value.
  KeepResult keep(KeyHash hash, const ServerLink::Watch& watch, const SharedCachedValue& cached);
  // The times of a value whose load took from `sent_at` to `loaded_at`.
  void set_times(CachedValue& cached, TimePoint sent_at, TimePoint loaded_at,
                 TimePoint deadline = TimePoint::max());
  // The calling thread has read the key over the client's own connection.
  void has_read(KeyHash hash) { own_reads_.note(hash, now()); }
  // A value of a key that was not kept when its load began is about to be shown. Ends a copy whose
  // load may not have seen this value yet.
  void end_cold_load(KeyHash hash);
  // Call it before a key is kept. While it was not, its loads raised no fence. A load from an
  // earlier time when it was kept must not bring back an older value.
  void raise_fence_of_cold(KeyHash hash);

  // ---- a write through the client: `begin_write end_write` around each

  BegunWrite begin_write(KeyHash hash);
  // `cached` becomes the copy if no other write overlapped; null: its value is not known.
  void end_write(const BegunWrite& write, std::shared_ptr<CachedValue> cached);

  // ---- changes by others, as the server or the application reports them

  void changed(KeyHash hash);
  void all_changed();
  void server_changed(topology::ServerIndex server);
  void slots_changed(const std::vector<bool>& slots);

  // What happened to copies since the last call, for EarnedCopies. Bounded: more is left out.
  struct Notes {
    std::vector<admit::SampledAccess> changed;
    std::vector<std::pair<KeyHash, Nanos>> lives;  // of copies with a TTL of their own
    std::vector<KeyHash> filled, ended;
  };
  static constexpr std::size_t kNotesMax = 8192;  // of each kind
  Notes take_notes();

 private:
  static NameHash name_of(KeyHash hash) { return NameHash{hash.value}; }  // one database
  TimePoint now() const noexcept { return runtime_.now(); }

  // REQUIRE mutex_.
  void key_changed(KeyHash hash);
  void note_life(KeyHash hash, Nanos life);
  void note(std::vector<KeyHash>& events, KeyHash hash) const;

  const ClientOptions& options_;
  const Runtime& runtime_;
  const Parts parts_;
  const bool has_server_;
  NameFences fences_;
  OwnReads own_reads_;
  std::mutex mutex_;
  // Guarded by mutex_:
  TimePoint all_changed_at_ = TimePoint::min();
  Notes notes_;
};

}  // namespace heatsink::client

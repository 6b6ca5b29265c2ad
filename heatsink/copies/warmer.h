// SPDX-License-Identifier: Apache-2.0
// Keeps keys hot by order or by schedule: retains their entries, loads them, and releases them at
// the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/detect/detect.h"
#include "heatsink/report/warming.h"

namespace heatsink::copies {

// A warmed key has an entry in the hot table that no other key takes, within cache.warm-share of
// cache.maximum-size and cache.maximum-bytes. Its GET stays loaded, with or without readers: at
// most one fill per kReloadInterval after a change. Orders by hand and configured windows may
// overlap; the key is warmed until the last of them ends.
//
// The keeper's thread. No clock, no socket.
class Warmer {
 public:
  static constexpr std::uint32_t kByHand = 0;  // the source of manual orders; windows have others
  static constexpr Nanos kReloadInterval = std::chrono::seconds(1);
  static constexpr std::size_t kUnderWayMax = 64;
  static constexpr std::size_t kNameBytesMax = 4096;

  explicit Warmer(NodeState& shared) : shared_(shared) {}

  // Begins or extends the warming. False: refused, and `why` has the reason.
  bool begin(const report::WarmKey& key, std::uint32_t source, TimePoint until, TimePoint now,
             std::string& why);
  // Ends the warming by hand, whatever its source. False: the key is not warmed.
  bool end(const report::WarmKey& key);
  // Ends the warming of keys that may have no copies by the present rules.
  void end_forbidden();
  void end_source(std::uint32_t source);
  // The warmed keys that match, in no particular order. O(warmed keys).
  std::vector<report::WarmKey> matching(const detect::KeyPattern& names, std::uint32_t db) const;

  // Releases the keys whose time is over and returns the fills to request now. O(warmed keys).
  std::vector<FillRequest> due(TimePoint now);
  // `why`: with kNoDatabase and kTableFull, which end the warming of the key.
  void filled(const FillRequest& asked, FillOutcome outcome, TimePoint now,
              const std::string& why = {});

  bool holds(KeyHash key) const { return retained_.contains(key); }
  bool none() const { return retained_.empty(); }
  std::size_t size() const { return retained_.size(); }
  // The state of a warmed key; REQUIRES holds().
  report::WarmedKey report_on(KeyHash key) const;
  std::vector<KeyHash> keys() const;
  TimePoint since(KeyHash key) const { return retained_.at(key).since; }

  // A key whose warming began or ended since the last call, for reports. `why`: the reason of an
  // end.
  struct WarmingChange {
    report::WarmKey key;
    KeyHash hash;
    bool begun;
    TimePoint until;
    std::string why;
  };
  std::vector<WarmingChange> take_changes() { return std::exchange(changes_, {}); }

  KeyHash hash_of(const report::WarmKey& key) const {
    return in_db(hash_name(key.name, shared_.seed), key.db);
  }

 private:
  struct Claim {
    std::uint32_t source;
    TimePoint until;
  };
  struct RetainedKey {
    report::WarmKey key;
    std::vector<Claim> claims;  // one per source
    TimePoint since{};
    TimePoint load_at{};
    report::WarmOutcome outcome = report::WarmOutcome::kLoading;
    bool under_way = false;

    TimePoint until() const;
    void claim(std::uint32_t source, TimePoint until);
  };
  struct HashOfHash {
    std::size_t operator()(KeyHash hash) const { return hash.value; }
  };
  using RetainedKeys = std::unordered_map<KeyHash, RetainedKey, HashOfHash>;

  std::string why_no_copies(const report::WarmKey& key) const;
  bool retain_key(const report::WarmKey& key, KeyHash hash, TimePoint now, std::string& why);
  bool wants_load(const RetainedKey& retained, KeyHash hash, TimePoint now) const;
  FillRequest request_of(const RetainedKey& retained, KeyHash hash) const;
  RetainedKeys::iterator release(RetainedKeys::iterator retained, const std::string& why);

  NodeState& shared_;
  RetainedKeys retained_;
  std::size_t under_way_ = 0;
  std::vector<WarmingChange> changes_;
};

}  // namespace heatsink::copies

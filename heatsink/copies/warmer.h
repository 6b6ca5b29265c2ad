// SPDX-License-Identifier: Apache-2.0
// The keys that are hot because somebody said so: pinned, loaded, and let go when their time is
// over.
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

// A warmed key has a place in the hot table that no other key takes, up to cache.warm-share of
// cache.maximum-size and cache.maximum-bytes, and its GET is kept loaded: at most one fill per
// kReloadInterval after a change, whoever reads or does not. Orders by hand and windows of the
// configuration may overlap: a key is warmed until the last of them ends.
//
// The keeper's thread. No clock, no socket. Whoever calls publishes the table afterwards.
class Warmer {
 public:
  static constexpr std::uint32_t kByHand = 0;  // a source; windows have others
  static constexpr Nanos kReloadInterval = std::chrono::seconds(1);
  static constexpr std::size_t kUnderWayMax = 64;
  static constexpr std::size_t kNameBytesMax = 4096;

  explicit Warmer(NodeState& shared) : shared_(shared) {}

  // From now on, or longer. False: refused, and `why` says so.
  bool begin(const report::WarmKey& key, std::uint32_t source, TimePoint until, TimePoint now,
             std::string& why);
  // By hand, whatever ordered it. False: it is not warmed.
  bool end(const report::WarmKey& key);
  void end_source(std::uint32_t source);
  // What is warmed of them, in no order. O(warmed keys).
  std::vector<report::WarmKey> matching(const detect::KeyPattern& names, std::uint32_t db) const;

  // Lets go what has had its time; gives what is to be asked for now. O(warmed keys).
  std::vector<FillRequest> due(TimePoint now);
  // `why`: of kNoDatabase and kTableFull, which end the warming of the key.
  void filled(const FillRequest& asked, FillOutcome outcome, TimePoint now,
              const std::string& why = {});

  bool holds(KeyHash key) const { return pinned_.contains(key); }
  bool none() const { return pinned_.empty(); }
  std::size_t size() const { return pinned_.size(); }
  // What there is to say of a key; REQUIRES holds().
  report::WarmedKey report_on(KeyHash key) const;
  std::vector<KeyHash> keys() const;
  TimePoint since(KeyHash key) const { return pinned_.at(key).since; }

  // Keys that have begun or ceased to be warmed since the last call, for those who tell people; of
  // the latter with why.
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
  struct PinnedKey {
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
  using PinnedKeys = std::unordered_map<KeyHash, PinnedKey, HashOfHash>;

  bool pin_key(const report::WarmKey& key, KeyHash hash, std::string& why);
  bool wants_load(const PinnedKey& pin, KeyHash hash, TimePoint now) const;
  FillRequest request_of(const PinnedKey& pin, KeyHash hash) const;
  PinnedKeys::iterator let_go(PinnedKeys::iterator pin, const std::string& why);

  NodeState& shared_;
  PinnedKeys pinned_;
  std::size_t under_way_ = 0;
  std::vector<WarmingChange> changes_;
};

}  // namespace heatsink::copies

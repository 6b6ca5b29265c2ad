// SPDX-License-Identifier: Apache-2.0
// Answers a client's reads from local copies, completely or not at all, and requests missing
// copies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/cache/cache.h"
#include "heatsink/relief/admission.h"
#include "heatsink/relief/barriers.h"
#include "heatsink/relief/copy_lookup.h"
#include "heatsink/relief/gets_ahead.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/worker_parts.h"

namespace heatsink::proxy {

// Decides whether the proxy may ask for copies of these keys. No fill for them is under way.
class FillGate {
 public:
  virtual bool is_on() const = 0;  // false: it lets all fills pass
  virtual Outcome admit_fill(Request& request, std::span<const AskedKey> keys) = 0;

 protected:
  ~FillGate() = default;
};

// The relief for reads. One per session; one worker's thread. cache::judge() decides when a copy
// may be served (docs/design/coherence.md). A hit allocates nothing.
class CopyReads final : public Relief {
 public:
  using Key = CopyLookup::Key;

  // All outlive it. `gate`: null: none.
  CopyReads(const WorkerParts& parts, const ReliefContext& client, CopyLookup& lookup,
            Barriers& barriers, FillGate* gate)
      : parts_(parts), client_(client), lookup_(lookup), barriers_(barriers), gate_(gate) {}

  // kPass: the request goes to the server, on a shared connection if possible.
  Outcome arrives(Request& request) {
    return lookup_.applies(request) ? look(request) : Outcome::kPass;
  }
  // Counts a read of a key that has no copy, or must earn one. True: arrives() may make one.
  bool counts_toward_copy(const Key& key) const {
    const bool is_earned = parts_.copies.counts_toward_copy(key.hash);
    if (key.must_earn && !is_earned) parts_.count(CopyLookup::count_of(cache::Ruling::kDeadline));
    return is_earned;
  }
  // Answers the first of these GETs from copies, without a request object for each. Stops before
  // the first one that has no valid copy, which may get Key::must_earn, or when `out` holds more
  // than `output_max` bytes. Returns the number of bytes that it has answered. REQUIRES that the
  // client is the proxy's own user, and what ReliefChain::passes_plain_gets() says.
  std::size_t serve_run(GetsAhead& gets, const CommandFacts& get, TimePoint now,
                        std::size_t output_max, ByteBuffer& out);
  // The fill that the request waits for has an answer.
  void filled(std::shared_ptr<const copies::FillAnswer> answer);

  // For reads that look for their copy themselves (TtlReads):
  // A copy would be older than what the client is about to get.
  bool overtakes(const Key& key) const;
  // A copy answers the read.
  void note_hit(const Request& request, const Key& key, const cache::Read& read);
  // No copy does. The read counts toward one, and asks for it if it has earned it, but never waits.
  void ask_in_background(const Key& key, const cache::Read& read, cache::Ruling ruling);

 private:
  Outcome look(Request& request);
  Outcome pass_to_check_right(Request& request, std::span<const Key> keys) const;

  TimePoint fill_after(cache::Level level) const;
  Outcome await_proof(Request& request);
  Outcome await_fill(Request& request);

  Outcome read_one(Request& request);
  bool earns_next(const Key& key, const cache::Read& read, cache::Ruling ruling) const;
  Outcome fill_refused(Request& request, const Key& key, const cache::Read& read,
                       cache::Ruling ruling, bool is_too_late);
  Outcome fill_earned(Request& request, const Key& key, const cache::Read& read);
  Outcome fill_one(Request& request, const copies::WantedKey& wanted, const cache::Read& read,
                   bool is_too_late);
  bool waits_for_fill(const Request& request, const copies::WantedKey& key, bool may_queue) const;
  bool is_limited(const copies::WantedKey& key) const;
  // Fewer reads come while its fill is queued than the fill costs. Null: a write has ended the
  // copy, so it is not known.
  static bool is_seldom_read(const cache::Copy* over) {
    return over != nullptr &&
           over->reads.load(std::memory_order_relaxed) < cache::Copy::kReadsCounted;
  }
  bool joins_fill(const copies::WantedKey& wanted, const cache::Read& read) const;
  void earn_copies(const std::vector<Key>& keys, const cache::Read& read);
  void fill_in_background(const copies::WantedKey& wanted, const cache::Read& read);
  static void request_after(std::optional<Nanos> wait, const WorkerParts& parts);
  static std::shared_ptr<const copies::FillAnswer> take_answer(Request& request);
  bool may_be_given(const copies::FillAnswer& answer, TimePoint now) const;
  static Outcome pass_and_record_size(Request& request, copies::ReadHash which);
  Outcome admit_fills(Request& request, std::span<const copies::WantedKey> missing,
                      const cache::Read& read);

  static bool has_stale_while_error(const cache::Entry& entry);
  static bool have_stale_while_error(const std::vector<Key>& keys);
  bool serve_in_outage(const Request& request, Key& key, const cache::Read& read);

  Outcome read_many(Request& request);
  template <class JudgeOne>
  static cache::Ruling judge_twice(std::vector<Key>& keys, JudgeOne judge_one);
  cache::Ruling judge_all(std::vector<Key>& keys, const cache::Read& read, TimePoint now) const;
  bool serve_many_in_outage(const Request& request, std::vector<Key>& keys,
                            const cache::Read& read);
  bool join_fills(Request& request, const std::vector<Key>& keys, const cache::Read& read);
  void note_served(const Request& request, const std::vector<Key>& keys);

  const WorkerParts& parts_;
  const ReliefContext& client_;
  CopyLookup& lookup_;
  Barriers& barriers_;
  FillGate* const gate_;
};

}  // namespace heatsink::proxy

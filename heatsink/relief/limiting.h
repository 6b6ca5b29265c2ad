// SPDX-License-Identifier: Apache-2.0
// Applies the limits of keys to a client's requests: they pass, wait for their turn, or are
// refused.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "heatsink/relief/admission.h"
#include "heatsink/relief/copy_lookup.h"
#include "heatsink/relief/copy_reads.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/stale_reads.h"
#include "heatsink/relief/worker_parts.h"
#include "heatsink/upstream/refusal_pace.h"

namespace heatsink::proxy {

// The relief for limits. One per session; one worker's thread. Inactive unless a rule has a limit.
// For each request: `(arrives | departs | departs_in_part | admit_fill)* ended`, however often the
// request waits: tokens that it has taken stay taken until it ends.
class Limiting final : public Relief, public FillGate {
 public:
  // All outlive it. `stale`: answers instead of a refusal, for rules with `over: stale`.
  Limiting(const WorkerParts& parts, const ReliefContext& client, const CopyLookup& lookup,
           StaleReads& stale);
  ~Limiting() { close(); }

  // A limit may hold for the client's next request, or holds for the one under way.
  bool is_on() const override {
    return !closed_ && (parts_.shared.limits() != nullptr || is_busy());
  }
  // The configuration has changed: the next request gets the new limits. Call it soon, because the
  // old ones stay in memory meanwhile.
  void policy_changed() {
    if (!is_busy()) admission_.reset();
  }

  // Limits of `all` also count reads that copies may answer.
  Outcome arrives(Request& request) {
    const bool counts = is_on() && counts_hits() && lookup_.applies(request);
    return counts ? ask(request, Stage::kLocal) : Outcome::kPass;
  }
  // Requests that the server will refuse take no tokens.
  Outcome departs(Request& request) {
    return is_on() ? ask(request, Stage::kUpstream) : Outcome::kPass;
  }
  // The same for a request with all its keys, but not all of its arguments yet.
  Outcome departs_in_part(Request& request);
  Outcome admit_fill(Request& request, std::span<const AskedKey> keys) override;
  // The request was answered or sent. Tokens for the server are given back if it was not asked.
  void ended(bool server_was_asked);

  void close();  // the client has left

 private:
  using Stage = Admission::Stage;

  bool is_busy() const { return admission_ != nullptr && admission_->is_busy(); }
  Admission* admission();
  bool counts_hits();
  Outcome ask(Request& request, Stage stage);
  Outcome admit(Request& request, std::span<const AskedKey> keys, Stage stage);
  std::span<const AskedKey> keys_of(const Request& request);
  Outcome refuse(Request& request, std::span<const AskedKey> keys, const Admission::Answer& answer);
  void record_refused(const Request& request, std::span<const AskedKey> keys);
  Outcome wait_for(Request& request, Nanos time);
  void turn_came();

  const WorkerParts& parts_;
  const ReliefContext& client_;
  const CopyLookup& lookup_;
  StaleReads& stale_;
  std::unique_ptr<Admission> admission_;  // null: the client has asked nothing yet
  bool closed_ = false;
  RefusalPace refusals_;
  std::uint32_t refused_before_ = 0;  // consecutive refusals before this request
  net::TimerId turn_timer_ = 0;
};

}  // namespace heatsink::proxy

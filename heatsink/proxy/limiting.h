// SPDX-License-Identifier: Apache-2.0
// Holds a client's requests to the limits of their keys: lets them pass, makes them wait for their
// turn, or refuses them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "heatsink/proxy/admission.h"
#include "heatsink/proxy/copy_lookup.h"
#include "heatsink/proxy/copy_reads.h"
#include "heatsink/proxy/refusal_pace.h"
#include "heatsink/proxy/relief.h"
#include "heatsink/proxy/stale_reads.h"
#include "heatsink/proxy/worker_parts.h"

namespace heatsink::proxy {

// The relief of limits. Of one session; one worker's thread. Nothing of it is done if no rule has a
// limit. For each request: `(arrives | departs | departs_in_part | admit_fill)* ended`, however
// often the request has to wait: what it has taken from a limit stays taken until it ends.
class Limiting final : public Relief, public FillGate {
 public:
  // All outlive it. `stale`: for rules that answer with what is stale rather than refuse.
  Limiting(const WorkerParts& parts, const ReliefContext& client, const CopyLookup& lookup,
           StaleReads& stale);
  ~Limiting() { close(); }

  bool is_on() const { return admission_ != nullptr; }

  // Limits of `all` count what copies may answer.
  Outcome arrives(Request& request) {
    const bool counts = is_on() && counts_hits() && lookup_.applies(request);
    return counts ? ask(request, Stage::kLocal) : Outcome::kPass;
  }
  // What the server will refuse asks for nothing.
  Outcome departs(Request& request) {
    return is_on() ? ask(request, Stage::kUpstream) : Outcome::kPass;
  }
  // Likewise, of a request of which not all arguments have come; but its keys have.
  Outcome departs_in_part(Request& request);
  Outcome admit_fill(Request& request, std::span<const AskedKey> keys) override;
  // It has been answered or sent. What was taken for a server that was not asked is given back.
  void ended(bool server_was_asked);

  void close();  // the client has left

 private:
  using Stage = Admission::Stage;

  bool counts_hits() const;
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
  std::unique_ptr<Admission> admission_;  // null: no rule has a limit, or the client has left
  RefusalPace refusals_;
  std::uint32_t refused_before_ = 0;  // in a row, before this request
  net::TimerId turn_timer_ = 0;
};

}  // namespace heatsink::proxy

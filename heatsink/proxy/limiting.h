// SPDX-License-Identifier: Apache-2.0
// Holds a client's requests to the limits of their keys: lets them pass, makes them wait for their
// turn, or refuses them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "heatsink/proxy/admission.h"
#include "heatsink/proxy/copy_reads.h"
#include "heatsink/proxy/refusal_pace.h"
#include "heatsink/proxy/relief.h"
#include "heatsink/proxy/worker_parts.h"

namespace heatsink::proxy {

// The relief of limits. Of one session; one worker's thread. Nothing of it is done if no rule has a
// limit. For each request: `(look | admit | admit_fill)* ended`, however often it has to wait.
class Limiting final : public FillGate {
 public:
  // All outlive it. `reads`: for rules that answer with what is stale rather than refuse.
  Limiting(const WorkerParts& parts, const ReliefContext& client, CopyReads& reads);
  ~Limiting() { close(); }
  Limiting(const Limiting&) = delete;

  bool is_on() const { return admission_ != nullptr; }

  // A request that copies may answer: limits of `all` count it.
  Outcome look(Request& request);
  // A request that the server is to answer. What the server will refuse asks for nothing.
  Outcome admit(Request& request);
  // Likewise, of a request of which not all arguments have come; but its keys have.
  Outcome admit_oversized(Request& request);
  Outcome admit_fill(Request& request, std::span<const AskedKey> keys) override;
  // It has been answered or sent. What was taken for a server that was not asked is given back.
  void ended(bool server_was_asked);

  bool waits() const { return admission_->waits() || refusals_.waits(); }  // REQUIRES is_on()
  void close();                                                            // the client has left

 private:
  using Door = Admission::Door;

  Outcome ask(Request& request, Door door);
  Outcome ask_for(Request& request, std::span<const AskedKey> keys, Door door);
  std::span<const AskedKey> keys_of(const Request& request);
  Outcome refuse(Request& request, std::span<const AskedKey> keys, const Admission::Answer& answer);
  void record_refused(const Request& request, std::span<const AskedKey> keys);
  Outcome wait_for(Nanos time);
  void turn_came();

  const WorkerParts& parts_;
  const ReliefContext client_;
  CopyReads& reads_;
  std::unique_ptr<Admission> admission_;  // null: no rule has a limit, or the client has left
  RefusalPace refusals_;
  std::uint32_t refused_before_ = 0;  // in a row, before this request
  net::TimerId turn_timer_ = 0;
};

}  // namespace heatsink::proxy

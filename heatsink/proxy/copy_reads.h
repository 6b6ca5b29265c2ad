// SPDX-License-Identifier: Apache-2.0
// Answers a client's reads from local copies: whole, from as many copies as there are keys, or not
// at all. Asks for the copies that are missing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/cache/cache.h"
#include "heatsink/proxy/admission.h"
#include "heatsink/proxy/relief.h"
#include "heatsink/proxy/worker_parts.h"

namespace heatsink::proxy {

// Who decides whether the tracker may be asked for copies. None of these keys' copies is being
// asked for already.
class FillGate {
 public:
  virtual Outcome admit_fill(Request& request, std::span<const AskedKey> keys) = 0;

 protected:
  ~FillGate() = default;
};

// The relief of reads. Of one session; one worker's thread. When a copy may be served is
// cache::judge()'s to say (docs/design/coherence.md).
class CopyReads {
 public:
  // All outlive it. `gate`: null if no rule has a limit.
  CopyReads(const WorkerParts& parts, const ReliefContext& client, FillGate* gate)
      : parts_(parts),
        id_(client.id),
        address_(client.address),
        state_(client.state),
        traffic_(client.traffic),
        session_(client.session),
        gate_(gate) {}
  CopyReads(const CopyReads&) = delete;

  // Whether copies could answer it, in the state that its client is in.
  bool applies(const Request& request) const {
    return request.facts->local != nullptr && request.has_right_arity() && may_read_copies();
  }
  // REQUIRES applies(). kPass: it is for the server, on a shared connection if that can be.
  Outcome look(Request& request);

  // The requests at the front of `bytes` that are plain GETs of keys that have copies, answered at
  // once: a pipeline of hits costs half as much so as one by one. Stops before the first request
  // that is anything else, or when `out` has more than `output_max` bytes. REQUIRES that the client
  // has nothing in flight and is the proxy's own user, and that no rule has a limit.
  struct Run {
    std::size_t bytes = 0;
    std::uint64_t hits = 0;
  };
  Run serve_run(std::string_view bytes, const CommandFacts& get, TimePoint now,
                std::size_t output_max, ByteBuffer& out);

  // From copies that nothing need prove, where the rule of each key that is not proven asks for
  // that (`over: stale`). Not behind the client's own commands in flight on that key, and not for
  // users who have not proven that they may read it.
  bool serve_stale(const Request& request);

 private:
  // A key of a read that may be served locally.
  struct LocalKey {
    std::string_view key;
    NameHash name;
    KeyHash hash;
    const cache::Entry* entry = nullptr;  // null: not hot
    const cache::Copy* copy = nullptr;    // null: may not be served
  };

  bool may_read_copies() const;
  LocalKey local_key(std::string_view key) const;
  cache::Ruling judge(LocalKey& key, const cache::Read& read, TimePoint now) const;

  Right right_to(const Request& request, std::span<const LocalKey> keys) const;
  bool may_read(const Request& request, std::span<const LocalKey> keys);
  Outcome pass_to_prove(Request& request, std::span<const LocalKey> keys) const;

  bool overtakes(const LocalKey& key) const;
  TimePoint fill_after(const cache::Entry& entry) const;
  Outcome await_proof(Request& request);

  Outcome read_one(Request& request);
  Outcome fill_one(Request& request, const LocalKey& key, const cache::Read& read,
                   cache::Ruling ruling, bool is_too_late);
  static std::shared_ptr<const FillAnswer> take_answer(Request& request);
  bool may_be_given(const FillAnswer& answer, TimePoint now) const;
  static Outcome pass_seen(Request& request, ReadHash which);
  Outcome admit_fills(Request& request, std::span<const LocalKey> missing, const cache::Read& read);

  static bool outlives_errors(const cache::Entry& entry);
  static bool outlive_errors(const std::vector<LocalKey>& keys);
  bool serve_in_outage(const Request& request, LocalKey& key, const cache::Read& read);

  Outcome read_many(Request& request);
  template <class JudgeOne>
  static cache::Ruling judge_twice(std::vector<LocalKey>& keys, JudgeOne judge_one);
  cache::Ruling judge_all(std::vector<LocalKey>& keys, const cache::Read& read,
                          TimePoint now) const;
  bool serve_many_in_outage(const Request& request, std::vector<LocalKey>& keys,
                            const cache::Read& read);
  bool join_fills(const std::vector<LocalKey>& keys, const cache::Read& read, TimePoint now);
  void consider_audits(const Request& request, const std::vector<LocalKey>& keys);

  bool find_unproven(LocalKey& key, const cache::Read& read, TimePoint now);
  void serve_joined(const Request& request, const std::vector<LocalKey>& keys);
  void record_hit(const CommandFacts& command, const LocalKey& key, std::size_t bytes);

  const WorkerParts& parts_;
  const std::uint64_t id_;
  const std::uint32_t address_;
  const ClientState& state_;
  const ClientTraffic& traffic_;
  ReliefClient& session_;
  FillGate* const gate_;
};

}  // namespace heatsink::proxy

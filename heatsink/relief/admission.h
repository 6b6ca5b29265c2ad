// SPDX-License-Identifier: Apache-2.0
// Decides whether a request passes the limits of its keys: it goes on, waits for its turn, or is
// refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/policy/limits.h"
#include "heatsink/relief/client_names.h"

namespace heatsink::proxy {

// A key of a request.
struct AskedKey {
  std::string_view name;
  KeyHash hash;
  bool write = false;
};

// One per session, reused for each request: `((ask)* end)*`. Each stage asks once per request,
// however often the request is looked at: tokens that were taken for it stay taken until it ends.
class Admission {
 public:
  // kLocal: local copies may answer the request; limits of `all` count here. kUpstream: the request
  // goes to the server.
  enum class Stage : std::uint8_t { kLocal, kUpstream };

  struct Answer {
    // kUndecided: a server was asked about a limit of the fleet; ask() again after `wait`.
    enum class Verdict : std::uint8_t { kGo, kWait, kUndecided, kRefused } verdict = Verdict::kGo;
    Nanos wait{0};  // with kWait: the time until its turn
    // With kRefused:
    policy::RuleLimit* limit = nullptr;
    const AskedKey* key = nullptr;  // the first key that its limit refused
    Nanos retry_after{0};
  };

  // `clients`: for limits of clients that several proxies share; it outlives this.
  explicit Admission(std::shared_ptr<policy::Limits> limits, const ClientNames* clients = nullptr)
      : limits_(std::move(limits)), clients_(clients) {}
  ~Admission() { end(); }
  Admission(const Admission&) = delete;

  // Takes tokens for all keys, or for none. Each key counts once. After kWait the caller calls
  // turn_came() or end().
  Answer ask(Stage stage, std::span<const AskedKey> keys, std::uint32_t client, TimePoint now);
  // The request has passed this stage and need not ask again.
  bool has_passed(Stage stage) const { return passed_[static_cast<std::size_t>(stage)]; }

  policy::Limits& limits() const { return *limits_; }
  // A request is under way that has asked already: it keeps to these limits until it ends.
  bool is_busy() const { return waits_ || passed_[0] || passed_[1] || !taken_.empty(); }

  bool waits() const { return waits_; }
  void turn_came();

  // A fill asks the server on behalf of the request: its tokens are spent.
  void mark_spent() { spent_ = true; }
  // The request is finished, or its client has left. Tokens for the server are given back if the
  // server was not asked.
  void end(bool server_was_asked = false);

 private:
  struct Taken {
    policy::RuleLimit* limit;
    std::shared_ptr<limit::Limiter> shared;  // owns `limiter`; null: the limit owns it
    limit::Limiter* limiter;
    const AskedKey* key;  // the first key; valid while ask() runs
    std::uint64_t count;
    Stage stage;
    TimePoint at;
  };

  void collect(Stage stage, std::span<const AskedKey> keys, std::uint32_t client, TimePoint now);
  void want(policy::RuleLimit& limit, const AskedKey& key, std::uint32_t client, Stage stage,
            TimePoint now);
  bool counts(const policy::LimitPolicy& policy, const AskedKey& key, Stage stage) const;
  Answer take(std::size_t from, TimePoint now);
  void give_back(std::size_t from);

  std::shared_ptr<limit::Limiter> shared_limiter(policy::RuleLimit& limit, const AskedKey& key,
                                                 std::uint32_t client) const;

  const std::shared_ptr<policy::Limits> limits_;
  const ClientNames* const clients_;
  std::vector<Taken> taken_;
  std::array<bool, 2> passed_{};
  bool spent_ = false;
  bool waits_ = false;
};

}  // namespace heatsink::proxy

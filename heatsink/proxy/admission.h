// SPDX-License-Identifier: Apache-2.0
// One request's way past the limits of its keys: it is let through, waits for its turn, or is
// refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/policy/limits.h"

namespace heatsink::proxy {

// A key of a request.
struct AskedKey {
  std::string_view name;
  KeyHash hash;
  bool write = false;
};

// Of one session and used for one request after the other: `((ask)* end)*`. A request is asked
// about once for each stage, however often it is looked at: what has been taken for it stays taken
// until it ends.
class Admission {
 public:
  // A request comes to the first when it could be answered from local copies, where limits of
  // `all` count; to the second when the server is to answer.
  enum class Stage : std::uint8_t { kLocal, kUpstream };

  struct Answer {
    enum class Verdict : std::uint8_t { kGo, kWait, kRefused } verdict = Verdict::kGo;
    Nanos wait{0};  // of kWait: then it may go
    // Of kRefused:
    policy::RuleLimit* limit = nullptr;
    const AskedKey* key = nullptr;  // the first that its limit refused
    Nanos retry_after{0};
  };

  explicit Admission(policy::Limits& limits) : limits_(limits) {}
  ~Admission() { end(); }
  Admission(const Admission&) = delete;

  // All keys are let through, or nothing is taken from any limit. Each key counts once. kWait wants
  // turn_came() or end().
  Answer ask(Stage stage, std::span<const AskedKey> keys, std::uint32_t client, TimePoint now);
  // It need not ask again.
  bool has_passed(Stage stage) const { return passed_[static_cast<std::size_t>(stage)]; }

  bool waits() const { return waits_; }
  void turn_came();

  // The server is being asked, though not by the request itself: what was taken is spent.
  void spend() { spent_ = true; }
  // The request is done with, or its client has gone. What was taken for a server that was not
  // asked is given back.
  void end(bool server_was_asked = false);

 private:
  struct Taken {
    policy::RuleLimit* limit;
    limit::Limiter* limiter;
    const AskedKey* key;  // the first; while ask() runs
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

  policy::Limits& limits_;
  std::vector<Taken> taken_;
  std::array<bool, 2> passed_{};
  bool spent_ = false;
  bool waits_ = false;
};

}  // namespace heatsink::proxy

// SPDX-License-Identifier: Apache-2.0
// The filler with a real tracker. The test plays the server, byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/testing/times.h"
#include "heatsink/copies/filler.h"
#include "heatsink/copies/local_reads.h"
#include "heatsink/resp/command_table.h"
#include "heatsink/resp/writer.h"

namespace heatsink::copies {

inline int to_ms(TimePoint time) {
  return static_cast<int>(std::chrono::duration_cast<Millis>(time - kStart).count());
}

// Replies to the handshake: of a server without HPTTL, and of one that has it.
inline constexpr std::string_view kHandshake =
    "+PONG\r\n%1\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n"
    "*1\r\n*6\r\n$3\r\nget\r\n:2\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n+OK\r\n:0\r\n";
inline constexpr std::string_view kHandshakeWithFields =
    "+PONG\r\n%1\r\n$7\r\nversion\r\n$5\r\n8.0.2\r\n"
    "*1\r\n*6\r\n$5\r\nhpttl\r\n:-5\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n+OK\r\n:0\r\n";
inline constexpr std::string_view kOk = "+OK\r\n";
inline constexpr std::string_view kNoTtl = ":-1\r\n";
inline constexpr std::string_view kNoKey = "$0\r\n\r\n:-2\r\n";
inline constexpr std::string_view kProof = ":0\r\n";
inline constexpr std::string_view kPushOfK = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n";
inline constexpr std::string_view kPushOfAll = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

inline constexpr int kAclStalenessMs = 9'000;

inline policy::ProxyOptions filler_options() {
  policy::ProxyOptions options;
  options.maximum_value_bytes = Bytes{10};
  options.expire_after_write = std::chrono::seconds(10);
  options.acl_staleness = Millis(kAclStalenessMs);
  return options;
}

// Records the messages to the workers.
class Workers final : public Filler::Listener {
 public:
  void deliver(std::size_t worker, std::shared_ptr<const FillAnswer> answer) override {
    told.push_back(std::to_string(worker) + ": " +
                   (!answer->usable ? "ask yourself"
                    : answer->nil   ? "nil"
                                    : answer->reply) +
                   " sent " + std::to_string(to_ms(answer->sent_at)));
    if (when_told) when_told(*answer);
  }
  void release(const BarrierRequest& waited) override {
    told.push_back(std::to_string(waited.worker) + ": release " + std::to_string(waited.session) +
                   (waited.ticket != 0 ? " of wait " + std::to_string(waited.ticket) : ""));
  }
  void learn(const redis::ServerFacts&) override {}
  void rights_changed() override { told.emplace_back("rights changed"); }
  void filled(const FillRequest& asked, FillOutcome outcome, const std::string& why) override {
    outcomes.push_back(outcome);
    asked_by = asked.worker;
    last_why = why;
  }
  void changed(const cache::Entry& entry) override { changes.push_back(entry.hash()); }
  void proof_state_changed(const std::string& reason) override { proof.push_back(reason); }
  void kept_slots_lost(const std::vector<bool>& slots) override {
    for (std::size_t slot = 0; slot < slots.size(); ++slot)
      if (slots[slot]) lost_slots.push_back(slot);
  }

  std::vector<std::string> take() { return std::exchange(told, {}); }

  std::vector<std::string> told;
  std::vector<FillOutcome> outcomes;
  std::size_t asked_by = 0;
  std::string last_why;
  std::vector<KeyHash> changes;    // of keys with a copy
  std::vector<std::string> proof;  // why it ended; "": it is back
  std::vector<std::size_t> lost_slots;
  std::function<void(const FillAnswer&)> when_told;
};

// "k" is hot in databases 0 and 1; the tracker is up since 0 ms.
class FillerTest : public testing::Test {
 protected:
  FillerTest() {
    filler_.use(tracker_);
    for (std::uint32_t db : {0u, 1u}) shared_.table.promote("k", db, key(db), kName, TimePoint{});
    tracker_.connected(at(0));
    hear(kHandshake);
    sent();
  }

  static redis::TrackerOptions tracker_options() {
    redis::TrackerOptions options;
    options.heartbeat_key = "hb";
    options.value_bytes_max = 10;
    return options;
  }

  static KeyHash key(std::uint32_t db = 0) { return in_db(kName, db); }

  void ask(std::size_t worker, TimePoint fence, TimePoint now, std::uint32_t db = 0) {
    filler_.request({worker, key(db), "k", db, fence, {key(db).value}}, now);
  }

  // HGET k f.
  static constexpr std::string_view kField = "f";
  static cache::Read field() {
    static const std::uint16_t hget =
        local_read_of(*resp::CommandTable::built_in().find_name("hget"))->number;
    return {hget, {&kField, 1}};
  }
  void ask_field(std::size_t worker, TimePoint fence, TimePoint now) {
    filler_.request(
        {worker, key(), "k", 0, fence, hash_read(key(), field()), cache::StoredRead(field())}, now);
  }

  void hear(std::string_view bytes) { EXPECT_TRUE(tracker_.received(bytes, at(1)).ok()); }
  void hear_value(std::string_view value, std::string_view ttl = kNoTtl) {
    ByteBuffer wire;
    resp::append_bulk(wire, value);
    hear(wire.view());
    hear(ttl);
  }

  std::string sent() {
    std::string out(tracker_.output().view());
    tracker_.output().clear();
    return out;
  }
  static std::size_t count(std::string_view text, std::string_view word) {
    std::size_t found = 0;
    for (std::size_t i = text.find(word); i != std::string_view::npos; i = text.find(word, i + 1))
      ++found;
    return found;
  }

  const cache::Entry& entry(std::uint32_t db = 0) { return *shared_.table.entry(key(db)); }
  const cache::Copy* copy(std::uint32_t db = 0) { return entry(db).copy({}); }
  // The key rule's decision: a copy may exist and still not be servable.
  bool served(TimePoint now, std::uint32_t db = 0) {
    return cache::judge(entry(db), cache::Read{}, shared_.proof, shared_.fences, now, TimePoint{})
               .ruling == cache::Ruling::kServe;
  }

  static constexpr std::uint64_t kSeed = 1;
  inline static const NameHash kName = hash_name("k", kSeed);
  NodeState shared_{filler_options(), net::RedisUrl{}, kSeed};
  Counters counters_;
  Workers workers_;
  Filler filler_{shared_, counters_, workers_};
  redis::Tracker tracker_{tracker_options(), filler_};
};

}  // namespace heatsink::copies

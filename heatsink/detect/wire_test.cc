// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "heatsink/base/hash.h"
#include "heatsink/detect/merge.h"
#include "heatsink/detect/recorder.h"
#include "heatsink/detect/testing/random_summary.h"
#include "heatsink/detect/wire_bytes.h"

namespace heatsink::detect {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr TimePoint kAt{seconds(1000)};
constexpr std::size_t kHeaderBytes = 13;

// The decoded summary, or a failed test.
Summary decoded(const std::string& bytes, std::uint64_t seed, TimePoint at = kAt) {
  Result<Summary> result = decode(bytes, seed, at);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(*result) : Summary{};
}

std::string fault_of(const std::string& bytes) {
  const Result<Summary> result = decode(bytes, 1, kAt);
  return result.ok() ? "" : result.error().message;
}

// A body as a sender would frame it that does not keep the rules.
std::string framed(const std::string& body) {
  WireWriter out;
  out.raw("HSum");
  out.byte(kWireVersion);
  out.fixed64(hash_name(body, 0).value);
  out.raw(body);
  return out.take();
}

KeyCount key_count(const std::string& name, std::uint64_t count, std::uint64_t seed) {
  KeyCount key;
  key.key = name;
  key.hash = in_db(hash_name(name, seed), 0);
  key.low = key.high = key.reads = count;
  return key;
}

Summary summary_of(std::vector<KeyCount> keys) {
  Summary summary;
  summary.window = seconds(10);
  summary.keys = std::move(keys);
  return summary;
}

TEST(Wire, WhatIsDecodedIsWhatWasEncoded) {
  ClusterMaker maker(1);
  for (int round = 0; round < 300; ++round) {
    for (Summary& shard : maker.make().shards) {
      for (KeyCount& key : shard.keys) {
        key.db = static_cast<std::uint32_t>(maker.below(3));
        if (!key.key_truncated) key.hash = in_db(hash_name(key.key, 5), key.db);
      }
      rehash(shard, 5);
      ASSERT_EQ(decoded(encode(shard), 5, shard.at), shard);
    }
  }
}

TEST(Wire, SoItIsWithBytesAndMissesWhereReadsAndWritesAreOtherNumbers) {
  Summary summary = summary_of({key_count("k", 1'000'000, 5)});
  summary.dimension = Dimension::kBytes;
  summary.keys[0].reads = 7;
  summary.keys[0].writes = 1'000'001;
  summary.keys[0].hits = 3;
  EXPECT_EQ(decoded(encode(summary), 5), [&] {
    summary.at = kAt;
    return summary;
  }());
}

TEST(Wire, NothingIsASummaryToo) { EXPECT_EQ(decoded(encode({}), 1, {}), Summary{}); }

TEST(Wire, TheBytesDoNotDependOnTheSeed) {
  std::vector<KeyCount> keys;
  for (int i = 0; i < 100; ++i) keys.push_back(key_count("key:" + std::to_string(i), 50, 1));
  const std::string bytes = encode(summary_of(keys));
  const Summary elsewhere = decoded(bytes, 2);
  EXPECT_NE(elsewhere.keys[0].hash, decoded(bytes, 1).keys[0].hash);
  EXPECT_EQ(encode(elsewhere), bytes);
}

TEST(Wire, AWholeNameGetsTheHashThatTheReceiverCountsItBy) {
  Summary summary = summary_of({key_count("user:1", 5, 1)});
  summary.keys[0].db = 3;
  EXPECT_EQ(decoded(encode(summary), 9).keys[0].hash, in_db(hash_name("user:1", 9), 3));
}

// One node knows 1024 bytes of the name, the other had room for 48; both know its digest. Other
// names with the same beginning are other keys.
TEST(Wire, ATruncatedNameIsOneKeyForWhoeverJoins) {
  KeyCount here = key_count(std::string(1024, 'n'), 10, 1);
  here.key_truncated = true;
  here.digest = 77;
  KeyCount there = key_count(std::string(48, 'n'), 20, 2);
  there.key_truncated = true;
  there.digest = 77;
  KeyCount other = there;
  other.digest = 78;
  other.hash.value ^= 1;
  Summary own = summary_of({here});
  rehash(own, 3);
  const Summary joined = join(std::vector{own, decoded(encode(summary_of({there, other})), 3)});
  ASSERT_EQ(joined.keys.size(), 2u);
  EXPECT_EQ(joined.keys[0].low, 30u);
  EXPECT_EQ(joined.keys[0].key.size(), 1024u);
  EXPECT_EQ(joined.keys[0].digest, 77u);
  EXPECT_EQ(joined.keys[1].low, 20u);
}

TEST(Wire, WithoutADigestATruncatedNameIsOnlyKnownToExist) {
  KeyCount key = key_count("cut", 20, 1);
  key.key_truncated = true;
  Summary summary = summary_of({key, key_count("whole", 10, 1)});
  for (const Summary& sent : {decoded(encode(summary), 1), (rehash(summary, 1), summary)}) {
    ASSERT_EQ(sent.keys.size(), 1u);
    EXPECT_EQ(sent.keys[0].key, "whole");
    EXPECT_EQ(sent.absent_max, 20u);
  }
}

TEST(Wire, TheLeastBusyKeysAreLeftOutPastTheLimits) {
  Summary many = summary_of({});
  for (std::size_t i = 0; i < kWireKeysMax + 10; ++i) {
    many.keys.push_back(key_count(std::to_string(i), 100'000 - i, 1));
  }
  const Summary kept = decoded(encode(many), 1);
  ASSERT_EQ(kept.keys.size(), kWireKeysMax);
  EXPECT_EQ(kept.absent_max, many.keys[kWireKeysMax].high);

  Summary fat = summary_of({});
  for (std::size_t i = 0; i < 2000; ++i) {
    fat.keys.push_back(key_count(std::to_string(i) + std::string(1000, 'n'), 5000 - i, 1));
  }
  const std::string bytes = encode(fat);
  EXPECT_LE(bytes.size(), kWireBytesMax);
  const Summary slim = decoded(bytes, 1);
  ASSERT_GT(slim.keys.size(), 1000u);
  EXPECT_EQ(slim.absent_max, slim.keys.back().high - 1);
}

TEST(Wire, CountsPastTheLimitAreToldAsTheLimit) {
  Summary summary = summary_of({key_count("k", UINT64_MAX, 1)});
  summary.requests = summary.reads = UINT64_MAX;
  summary.keys[0].clients.assign(1, {"c", UINT64_MAX, UINT64_MAX});
  const Summary sent = decoded(encode(summary), 1);
  EXPECT_EQ(sent.requests, kWireCountMax);
  EXPECT_EQ(sent.keys[0].low, kWireCountMax);
  EXPECT_EQ(sent.keys[0].clients[0].high, kWireCountMax);
}

TEST(Wire, AnyDamageIsSeen) {
  Summary summary = summary_of({key_count("user:1", 300, 1), key_count("user:2", 200, 1)});
  summary.keys[0].clients = {{"10.0.0.1", 5, 9}};
  const std::string bytes = encode(summary);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_NE(fault_of(bytes.substr(0, i)), "");
    for (const int bit : {0, 3, 7}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      EXPECT_NE(fault_of(damaged), "") << i;
    }
  }
  EXPECT_THAT(fault_of(bytes + "x"), HasSubstr("checksum"));
  EXPECT_THAT(fault_of("GET / HTTP/1.1"), HasSubstr("no valid header"));
  EXPECT_THAT(fault_of(std::string(kWireBytesMax + 1, 'x')), HasSubstr("1 MiB"));
}

TEST(Wire, ANewerVersionIsToldByItsNumber) {
  std::string bytes = encode({});
  bytes[4] = 2;
  const Result<Summary> result = decode(bytes, 1, kAt);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(result.error().message, HasSubstr("wire version 2, and this build reads 1"));
}

TEST(Wire, SectionsOfLaterBuildsArePassedOver) {
  const Summary summary = summary_of({key_count("k", 5, 1)});
  WireWriter body;
  body.raw(encode(summary).substr(kHeaderBytes));
  body.number(40);
  body.string("quantiles, perhaps");
  body.number(1000);
  body.string("");
  EXPECT_EQ(decoded(framed(body.bytes()), 1, {}), summary);
  body.number(41);
  body.number(100);
  EXPECT_THAT(fault_of(framed(body.bytes())), HasSubstr("cut off"));
}

// Bodies with a correct checksum, made by an attacker.
class HostileWire : public ::testing::Test {
 protected:
  HostileWire() {
    for (const int n : {100, 100, 0, 0, 9, 8, 1, 8, 0, 0}) body_.number(static_cast<unsigned>(n));
  }
  void key(std::string_view name, std::uint64_t high, std::uint8_t flags = 0) {
    body_.byte(flags);
    body_.string(name);
    body_.number(kWireCountMax - high);
    body_.number(0);
  }
  std::string fault() { return fault_of(framed(body_.bytes())); }

  WireWriter body_;
};

TEST_F(HostileWire, AnnouncesMoreThanItHas) {
  body_.number(kWireKeysMax);
  EXPECT_THAT(fault(), HasSubstr("cut off"));
}

TEST_F(HostileWire, AnnouncesMoreThanThereMayBe) {
  body_.number(kWireKeysMax + 1);
  EXPECT_THAT(fault(), HasSubstr("too large"));
}

TEST_F(HostileWire, ListsAKeyTwice) {
  body_.number(2);
  key("k", 9);
  body_.byte(0);
  body_.string("k");
  body_.number(0);
  body_.number(0);
  EXPECT_THAT(fault(), HasSubstr("listed twice"));
}

TEST_F(HostileWire, HasANameLongerThanAnyIsKept) {
  body_.number(1);
  key(std::string(kKeyBytesMax + 1, 'n'), 9);
  EXPECT_THAT(fault(), HasSubstr("too large"));
}

TEST_F(HostileWire, HasATruncatedNameWithoutDigest) {
  body_.number(1);
  body_.byte(1);
  body_.string("n");
  body_.fixed64(0);
  EXPECT_THAT(fault(), HasSubstr("no digest"));
}

TEST_F(HostileWire, TalliesMoreThanWasSeen) {
  body_.number(1);
  key("k", 9, 32);
  body_.number(1);
  body_.string("GET");
  body_.number(10);
  body_.number(0);
  EXPECT_THAT(fault(), HasSubstr("a tally is larger"));
}

TEST_F(HostileWire, TalliesOneNameTwice) {
  body_.number(1);
  key("k", 9, 32);
  body_.number(2);
  for (int i = 0; i < 2; ++i) {
    body_.string("GET");
    body_.number(1);
    body_.number(0);
  }
  EXPECT_THAT(fault(), HasSubstr("listed twice"));
}

TEST_F(HostileWire, HasMoreHitsThanReads) {
  body_.number(1);
  key("k", 9, 8);
  body_.number(10);
  EXPECT_THAT(fault(), HasSubstr("more hits than reads"));
}

TEST_F(HostileWire, SpellsANumberInTooManyBytes) {
  body_.raw(std::string("\x80\x00", 2));
  EXPECT_THAT(fault(), HasSubstr("malformed"));
}

TEST_F(HostileWire, CountsOverNoTime) {
  body_.cut_back_to(0);
  for (const int n : {0, 0, 0, 0, 9, 8, 1, 8, 0, 0, 0}) body_.number(static_cast<unsigned>(n));
  EXPECT_THAT(fault(), HasSubstr("no window"));
}

// A recorder's summary of real accesses is about as short as their names.
TEST(Wire, AKeyTakesAboutItsNameAndADozenBytes) {
  Recorder recorder({.seed = 5});
  const auto name = [](int i) { return "user:" + std::to_string(100'000 + i) + ":profile"; };
  for (int i = 0; i < 1000; ++i) {
    const std::string key = name(i);
    for (int n = 0; n <= 1000 / (i + 1); ++n) {
      Access access{in_db(hash_name(key, 5), 0), key};
      access.bytes = 200;
      recorder.record(access, kAt);
    }
  }
  const Summary summary = recorder.summarize(kAt, 1000);
  ASSERT_EQ(summary.keys.size(), 1000u);
  const std::string bytes = encode(summary);
  EXPECT_EQ(decoded(bytes, 5), summary);
  EXPECT_LE(bytes.size(), 1000 * (name(0).size() + 12));
  RecordProperty("bytes_per_key", std::to_string(static_cast<double>(bytes.size()) / 1000));
}

// Commands and clients as a recorder tells them keep the promises that decode() asks for.
TEST(Wire, TheTalliesOfARecorderTravel) {
  struct Numbers : TallyNames {
    std::string command(std::uint16_t number) const override { return std::to_string(number); }
    std::string client(std::uint32_t number) const override { return std::to_string(number); }
  } names;
  Recorder recorder({.seed = 5, .names = &names});
  TimePoint now = kAt;
  for (std::uint32_t i = 0; i < 300'000; ++i, now += Nanos(50'000)) {
    const std::string key = i % 2 == 0 ? "hot" : std::to_string(i % 50);
    Access access{in_db(hash_name(key, 5), 0), key};
    access.command = static_cast<std::uint16_t>(i % 3);
    access.client = i % 97 % (1 + i % 20);
    recorder.record(access, now);
    if (i % 2000 == 0) recorder.summarize(now, 100);  // from here on the busiest are tallied
  }
  recorder.drain(now);
  const Summary summary = recorder.summarize(now, 100);
  EXPECT_FALSE(summary.keys.front().clients.empty());
  EXPECT_EQ(decoded(encode(summary), 5, now), summary);
}

}  // namespace
}  // namespace heatsink::detect

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/admission.h"

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/option_list.h"
#include "heatsink/base/testing/times.h"
#include "heatsink/policy/rules.h"

namespace heatsink::proxy {
namespace {

using namespace std::chrono_literals;
using Stage = Admission::Stage;

constexpr std::uint32_t kClient = 7;

KeyHash hash_of(std::string_view name) { return in_db(hash_name(name, 1), 0); }

class Admissions : public ::testing::Test {
 protected:
  using Verdict = Admission::Answer::Verdict;

  Admissions() { options.describe(rows); }

  void start(std::initializer_list<const char*> rules) {
    for (const char* rule : rules)
      for (const Error& fault : rows.find_list("rules")->add_item(rule, "--rule"))
        ADD_FAILURE() << fault.message;
    ASSERT_TRUE(policy::rule_faults(options).empty())
        << policy::rule_faults(options).front().sentence;
    limits = policy::Limits::make(options, policy::rule_set(options).value());
    ASSERT_NE(limits, nullptr);
  }
  static std::vector<AskedKey> keys(std::initializer_list<const char*> names, bool write = false) {
    std::vector<AskedKey> out;
    for (const char* name : names) out.push_back({name, hash_of(name), write});
    return out;
  }
  // The verdict on one request for the server, from a client without other requests.
  Verdict asked(std::initializer_list<const char*> names, bool write = false,
                TimePoint now = kStart, std::uint32_t client = kClient) {
    Admission admission(limits);
    const Verdict verdict =
        admission.ask(Stage::kUpstream, keys(names, write), client, now).verdict;
    admission.end(verdict == Verdict::kGo);
    return verdict;
  }
  int let_through(const char* name, int times, TimePoint now = kStart,
                  std::uint32_t client = kClient) {
    int sum = 0;
    for (int i = 0; i < times; ++i)
      sum += asked({name}, false, now, client) == Verdict::kGo ? 1 : 0;
    return sum;
  }

  policy::ProxyOptions options;
  OptionSet rows;
  std::shared_ptr<policy::Limits> limits;
};

// A limit of the fleet that a test answers for.
class SharedLimitForTest final : public limit::SharedLimit, public limit::SharedLimits {
 public:
  limit::Decision decision;
  std::vector<std::string> asked;
  int given_back = 0;

  std::shared_ptr<limit::Limiter> of(std::string_view key) override {
    asked.emplace_back(key);
    return std::make_shared<One>(*this);
  }
  std::string problem() const override { return ""; }
  Result<std::shared_ptr<limit::SharedLimit>> open(const std::string& /*name*/,
                                                   const limit::LimiterOptions& /*options*/,
                                                   std::size_t /*keys_max*/) override {
    return std::shared_ptr<limit::SharedLimit>(this, [](limit::SharedLimit*) {});
  }

 private:
  struct One final : limit::Limiter {
    explicit One(SharedLimitForTest& owner) : all(owner) {}
    limit::Decision try_acquire(std::uint64_t, TimePoint) noexcept override { return all.decision; }
    void give_back(std::uint64_t, TimePoint) noexcept override { ++all.given_back; }
    void forget() noexcept override {}
    SharedLimitForTest& all;
  };
};

TEST_F(Admissions, ALimitOfTheFleetMayBeUndecidedAndIsAskedAgain) {
  start({"match=lim:*,limit.rate=10/s,limit.scope=fleet",
         "match=pre:*,limit.rate=10/s,"
         "limit.scope=fleet,limit.per=prefix"});
  SharedLimitForTest shared;
  limits = policy::Limits::make(options, policy::rule_set(options).value(), nullptr, &shared);
  Admission admission(limits);
  shared.decision = {.retry_after = Millis(1), .undecided = true};
  const auto lim = keys({"lim:1", "pre:1"});
  EXPECT_EQ(admission.ask(Stage::kUpstream, lim, kClient, kStart).verdict, Verdict::kUndecided);
  EXPECT_FALSE(admission.has_passed(Stage::kUpstream));
  EXPECT_FALSE(admission.is_busy());
  shared.decision = {.allowed = true};
  EXPECT_EQ(admission.ask(Stage::kUpstream, lim, kClient, kStart).verdict, Verdict::kGo);
  admission.end(false);  // the server was not asked after all
  EXPECT_EQ(shared.given_back, 2);
  EXPECT_EQ(shared.asked, (std::vector<std::string>{"lim:1", "", "lim:1", ""}));
}

TEST_F(Admissions, WithoutARuleThereAreNoLimits) {
  EXPECT_EQ(policy::Limits::make(options, policy::rule_set(options).value()), nullptr);
}

TEST_F(Admissions, EachKeyOfTheRuleHasItsOwnLimitAndOthersHaveNone) {
  start({"match=a:*,limit.rate=5/s"});
  EXPECT_EQ(let_through("a:1", 10), 5);
  EXPECT_EQ(let_through("a:2", 10), 5);
  EXPECT_EQ(let_through("b", 10), 10);
  EXPECT_EQ(let_through("a:1", 10, kStart + 1s), 5);
}

TEST_F(Admissions, ARefusalNamesTheKeyAndTheTime) {
  start({"match=a:*,limit.rate=10/s,limit.burst=1"});
  ASSERT_EQ(asked({"a:2"}), Verdict::kGo);
  Admission admission(limits);
  const auto wanted = keys({"a:1", "a:2"});
  const Admission::Answer answer = admission.ask(Stage::kUpstream, wanted, kClient, kStart);
  EXPECT_EQ(answer.verdict, Verdict::kRefused);
  EXPECT_EQ(answer.key->name, "a:2");
  EXPECT_EQ(policy::busy_text(*answer.limit, "a:2", answer.retry_after),
            "BUSY heatsink: key a:2 limited to 10/s, retry in 101 ms");
}

TEST_F(Admissions, NothingIsTakenWhenOneKeyRefuses) {
  start({"match=a:*,limit.rate=5/s", "match=full,limit.rate=1/s"});
  ASSERT_EQ(asked({"full"}), Verdict::kGo);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(asked({"a:1", "a:2", "full"}), Verdict::kRefused);
  EXPECT_EQ(let_through("a:1", 10), 5);
  EXPECT_EQ(let_through("a:2", 10), 5);
}

TEST_F(Admissions, AllKeysOfAPrefixShareOneLimitAndACommandCountsEach) {
  start({"match=a:*,limit.rate=5/s,limit.per=prefix"});
  EXPECT_EQ(asked({"a:1", "a:2", "a:3"}), Verdict::kGo);
  EXPECT_EQ(asked({"a:4", "a:5", "a:6"}), Verdict::kRefused);
  EXPECT_EQ(asked({"a:4", "a:5"}), Verdict::kGo);
  EXPECT_EQ(asked({"a:7"}), Verdict::kRefused);
}

TEST_F(Admissions, MoreKeysAtOnceThanTheBurstIsNever) {
  start({"match=a:*,limit.rate=2/s,limit.per=prefix"});
  Admission admission(limits);
  const auto wanted = keys({"a:1", "a:2", "a:3"});
  const Admission::Answer answer = admission.ask(Stage::kUpstream, wanted, kClient, kStart);
  EXPECT_EQ(answer.verdict, Verdict::kRefused);
  EXPECT_EQ(policy::busy_text(*answer.limit, "", answer.retry_after),
            "BUSY heatsink: keys of rule a:* limited to 2/s, and this command needs more than the "
            "limit allows at once");
}

TEST_F(Admissions, EachClientHasItsOwnLimit) {
  start({"match=a:*,limit.rate=5/s,limit.per=client"});
  EXPECT_EQ(let_through("a:1", 3, kStart, 1), 3);
  EXPECT_EQ(let_through("a:2", 3, kStart, 1), 2);
  EXPECT_EQ(let_through("a:1", 10, kStart, 2), 5);
}

TEST_F(Admissions, OfWritesReadsAreFree) {
  start({"match=a,limit.rate=2/s,limit.of=writes"});
  EXPECT_EQ(let_through("a", 10), 10);
  EXPECT_EQ(asked({"a"}, true), Verdict::kGo);
  EXPECT_EQ(asked({"a"}, true), Verdict::kGo);
  EXPECT_EQ(asked({"a"}, true), Verdict::kRefused);
}

TEST_F(Admissions, OfUpstreamHitsAreFreeAndOfAllTheyCountOnce) {
  start({"match=u,limit.rate=2/s", "match=all,limit.rate=2/s,limit.of=all"});
  const auto hit = [this](const char* name) {
    Admission admission(limits);
    return admission.ask(Stage::kLocal, keys({name}), kClient, kStart).verdict;
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(hit("u"), Verdict::kGo);
  EXPECT_EQ(let_through("u", 10), 2);
  EXPECT_EQ(hit("all"), Verdict::kGo);
  {
    Admission miss(limits);  // reaches both stages
    EXPECT_EQ(miss.ask(Stage::kLocal, keys({"all"}), kClient, kStart).verdict, Verdict::kGo);
    EXPECT_EQ(miss.ask(Stage::kUpstream, keys({"all"}), kClient, kStart).verdict, Verdict::kGo);
    miss.end(true);
  }
  EXPECT_EQ(hit("all"), Verdict::kRefused);
  EXPECT_EQ(asked({"all"}), Verdict::kRefused);
}

// The read waited for its turn, and meanwhile the copy arrived.
TEST_F(Admissions, WhatWasNotSpentIsGivenBack) {
  start({"match=a,limit.rate=1/s"});
  for (int i = 0; i < 10; ++i) {
    Admission admission(limits);
    ASSERT_EQ(admission.ask(Stage::kUpstream, keys({"a"}), kClient, kStart).verdict, Verdict::kGo)
        << i;
    admission.end();
  }
  EXPECT_EQ(let_through("a", 10), 1);
}

// Three clients send as much as they can, one of them a thousand commands in a row. Each client has
// one turn at a time, so all get the same share.
TEST_F(Admissions, WaitingClientsTakeTurns) {
  start({"match=a,limit.rate=10/s,limit.burst=1,limit.over=delay,limit.delay-max=10s"});
  ASSERT_EQ(asked({"a"}), Verdict::kGo);
  std::vector<int> served(3, 0);
  std::vector<TimePoint> turns(3, kStart);
  std::vector<std::unique_ptr<Admission>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(std::make_unique<Admission>(limits));
  for (TimePoint now = kStart; now < kStart + 3s; now += 1ms) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (turns[i] > now) continue;
      if (clients[i]->waits()) {
        clients[i]->turn_came();
        clients[i]->end(true);
        ++served[i];
      }
      const Admission::Answer answer = clients[i]->ask(Stage::kUpstream, keys({"a"}), kClient, now);
      ASSERT_EQ(answer.verdict, Verdict::kWait);
      EXPECT_LE(answer.wait, 301ms);
      turns[i] = now + answer.wait;
    }
  }
  EXPECT_NEAR(served[0] + served[1] + served[2], 30, 2);
  for (const int count : served) EXPECT_NEAR(count, 10, 1);
}

TEST_F(Admissions, NobodyWaitsLongerThanDelayMax) {
  start({"match=a,limit.rate=10/s,limit.burst=1,limit.over=delay,limit.delay-max=350ms"});
  ASSERT_EQ(asked({"a"}), Verdict::kGo);
  std::vector<std::unique_ptr<Admission>> clients;
  std::vector<Verdict> verdicts;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<Admission>(limits));
    verdicts.push_back(clients.back()->ask(Stage::kUpstream, keys({"a"}), kClient, kStart).verdict);
  }
  EXPECT_EQ(verdicts, (std::vector<Verdict>{Verdict::kWait, Verdict::kWait, Verdict::kWait,
                                            Verdict::kRefused, Verdict::kRefused}));
}

TEST_F(Admissions, WhoLeavesWhileWaitingGivesHisTurnBack) {
  start({"match=a,limit.rate=10/s,limit.burst=1,limit.over=delay,limit.delay-max=350ms"});
  ASSERT_EQ(asked({"a"}), Verdict::kGo);
  for (int i = 0; i < 100; ++i) {
    Admission leaves(limits);
    ASSERT_EQ(leaves.ask(Stage::kUpstream, keys({"a"}), kClient, kStart).verdict, Verdict::kWait)
        << i;
  }
}

TEST_F(Admissions, SoManyMayWaitAndNoMore) {
  options.limits_waiting = 2;
  start({"match=a,limit.rate=10/s,limit.burst=1,limit.over=delay"});
  ASSERT_EQ(asked({"a"}), Verdict::kGo);
  Admission first(limits), second(limits), third(limits);
  EXPECT_EQ(first.ask(Stage::kUpstream, keys({"a"}), kClient, kStart).verdict, Verdict::kWait);
  EXPECT_EQ(second.ask(Stage::kUpstream, keys({"a"}), kClient, kStart).verdict, Verdict::kWait);
  EXPECT_EQ(third.ask(Stage::kUpstream, keys({"a"}), kClient, kStart).verdict, Verdict::kRefused);
  first.turn_came();
  const Admission::Answer again = third.ask(Stage::kUpstream, keys({"a"}), kClient, kStart);
  EXPECT_EQ(again.verdict, Verdict::kWait);
  EXPECT_NEAR(std::chrono::duration<double>(again.wait).count(), 0.3, 1e-4);  // nothing was taken
}

}  // namespace
}  // namespace heatsink::proxy

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/near_pushes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Counts the pushes.
class CountingHolder final : public NearTable::Holder {
 public:
  explicit CountingHolder(std::uint64_t its_id) : id_(its_id) {}
  std::uint64_t id() const override { return id_; }
  void end_name(NameHash /*name*/, std::string_view /*wire*/, NearTable::EndedBy by) override {
    ++told;
    own += by == NearTable::EndedBy::kOther ? 0 : 1;
  }

  int told = 0, own = 0;
  NearTable::Number number = 0;

 private:
  const std::uint64_t id_;
};

// The first of some workers. A slice is two clients.
class NearPushesTest : public ReliefTest {
 protected:
  void begin(std::size_t workers) {
    start();
    shared->clients_told_at_once = 2;
    pass(Nanos(0));  // the loop reads its clock
    mail.emplace(
        workers, [this](std::size_t worker) { got_mail.push_back(worker); },
        [this](const copies::HeldWriter& held) { released.push_back(held.session); });
    pushes.emplace(*shared, loop, 0, *mail);
  }
  // So many clients keep the key, in all. The first one has the number of the writer.
  void keep(std::string_view key, std::size_t clients) {
    while (holders.size() < clients) {
      holders.emplace_back(writer.id() + holders.size());
      holders.back().number = pushes->table().join(holders.back());
    }
    for (std::size_t i = 0; i < clients; ++i) keep(key, holders[i]);
  }
  void keep(std::string_view key, const CountingHolder& holder) {
    ASSERT_TRUE(pushes->table().keep(holder.number, name(key), key, [this] {
      NearBasis basis;
      basis.generation = shared->proof.generation();
      basis.filled_at = now;
      basis.ends_at = now + std::chrono::seconds(60);
      basis.max_staleness = std::chrono::seconds(1);
      return std::optional(basis);
    }));
  }
  // The server has answered the command of this client; null: of one that has left.
  void answered(std::string_view key, bool is_write, Requester* client) {
    Pending pending;
    pending.session = client;
    pending.keys.add({name(key), hash(key), is_write});
    pushes->settles(pending);
    pushes->settled(pending);
  }
  void writes(std::string_view key) { answered(key, true, &writer); }
  int told() const {
    int sum = 0;
    for (const CountingHolder& each : holders) sum += each.told;
    return sum;
  }

  PlayedClient writer{100};
  std::deque<CountingHolder> holders;
  std::vector<std::size_t> got_mail;
  std::vector<std::uint64_t> released;
  std::optional<copies::NearMail> mail;
  std::optional<NearPushes> pushes;
};

TEST_F(NearPushesTest, FewClientsAreToldBeforeTheWriterHasItsReply) {
  begin(1);
  keep("k", 2);
  answered("k", false, &writer);
  answered("other", true, &writer);
  EXPECT_EQ(told(), 0);
  writes("k");
  EXPECT_EQ(told(), 2);
  EXPECT_EQ(holders[0].own, 1);
  EXPECT_EQ(holders[1].own, 0);
  EXPECT_EQ(writer.holds, 0) << "there is nothing to wait for";
}

TEST_F(NearPushesTest, AWriterWaitsForTheSlicesOfItsOwnWorker) {
  begin(1);
  keep("k", 5);
  writes("k");
  EXPECT_EQ(told(), 0);
  EXPECT_EQ(writer.holds, 1);
  pushes->end_turn();
  pushes->end_turn();
  EXPECT_EQ(told(), 4);
  EXPECT_THAT(released, IsEmpty());
  pushes->end_turn();
  EXPECT_EQ(told(), 5);
  EXPECT_THAT(released, ElementsAre(writer.id()));
}

TEST_F(NearPushesTest, AWriterWaitsForOtherWorkersAndForItsOwn) {
  begin(2);
  keep("k", 3);
  writes("k");
  EXPECT_EQ(writer.holds, 1);
  EXPECT_THAT(got_mail, ElementsAre(1));
  const copies::NearMail::Content content = mail->take(1);
  ASSERT_EQ(content.changed, std::vector{name("k")});
  ASSERT_EQ(content.writers.size(), 1U);
  mail->marked(*content.writers[0]);
  EXPECT_THAT(released, IsEmpty()) << "a client here does not know yet";
  pushes->end_turn();
  pushes->end_turn();
  EXPECT_EQ(told(), 3);
  EXPECT_THAT(released, ElementsAre(writer.id()));
}

// Its clients may have the old value of any name that is being told.
TEST_F(NearPushesTest, TheWriterOfAnotherKeptNameWaitsAsWell) {
  begin(1);
  keep("k", 5);
  keep("l", 1);
  writes("k");
  writes("l");
  EXPECT_EQ(told(), 1);
  EXPECT_EQ(writer.holds, 2);
  for (int i = 0; i < 3; ++i) pushes->end_turn();
  EXPECT_EQ(told(), 6);
  EXPECT_THAT(released, ElementsAre(writer.id(), writer.id()));
}

TEST_F(NearPushesTest, AWriterThatHasLeftIsNotHeld) {
  begin(2);
  keep("k", 3);
  writer.is_closed = true;
  writes("k");
  EXPECT_EQ(writer.holds, 0);
  EXPECT_THAT(mail->take(1).writers, IsEmpty());
  keep("l", 1);
  answered("l", true, nullptr);
  EXPECT_EQ(holders[0].told, 1);
  EXPECT_THAT(mail->take(1).changed, ElementsAre(name("l")));
}

TEST_F(NearPushesTest, AWriterOfAnotherWorkerWaitsForTheSlicesHere) {
  begin(2);
  keep("k", 3);
  const auto held = std::make_shared<copies::HeldWriter>();
  held->worker = 1;
  held->session = 7;
  mail->put(1, {name("k")}, held);
  EXPECT_THAT(got_mail, ElementsAre(0));
  pushes->take_mail();
  EXPECT_EQ(told(), 0);
  pushes->end_turn();
  EXPECT_THAT(released, IsEmpty());
  pushes->end_turn();
  EXPECT_EQ(told(), 3);
  EXPECT_THAT(released, ElementsAre(7));
}

TEST_F(NearPushesTest, MailEndsWhatIsKept) {
  begin(2);
  keep("k", 1);
  keep("l", 1);
  mail->put(copies::NearMail::kKeeper, {name("k")});
  pushes->take_mail();
  EXPECT_EQ(told(), 1);
  mail->put_proof_changed();
  pushes->take_mail();
  EXPECT_EQ(told(), 1) << "the proof holds";
  static_cast<void>(shared->proof.begin_generation());
  mail->put_proof_changed();
  pushes->take_mail();
  EXPECT_EQ(told(), 2);
  EXPECT_TRUE(pushes->empty());
}

TEST_F(NearPushesTest, ANewRuleEndsWhatClientsMayNotKeepAnyMore) {
  begin(1);
  keep("price:1", 1);
  keep("price:2", 3);
  keep("k", 1);
  policy::ProxyOptions next = options;
  next.rules.emplace_back();
  next.rules.back().match = "price:*";
  const auto adopt = [&] {
    shared->publish(std::make_shared<const copies::PolicySnapshot>(
        next, redis::Credentials{}, policy::KeyDisplay{}, &shared->current()));
    pushes->follow_policy();
    for (int i = 0; i < 2; ++i) pushes->end_turn();
  };
  adopt();
  EXPECT_EQ(told(), 0);
  next.rules.back().client_tracking = policy::ClientTracking::kOff;
  adopt();
  EXPECT_EQ(told(), 4);
  EXPECT_EQ(pushes->table().kept(), 1U);
}

TEST_F(NearPushesTest, SilenceEndsWhatIsKeptWithinTheBound) {
  begin(1);
  keep("k", 1);
  const auto pass_a_turn = [this] {
    pushes->end_turn();
    pass(Millis(100));
  };
  for (int i = 0; i < 9; ++i) pass_a_turn();
  EXPECT_EQ(told(), 0);
  pass_a_turn();
  EXPECT_EQ(told(), 1) << "it would not hold at the next look";
}

TEST_F(NearPushesTest, WhatIsKeptIsCountedWithinASecond) {
  begin(1);
  keep("k", 5);
  keep("l", 1);
  pushes->end_turn();
  EXPECT_EQ(pushes->figures().kept(), 6U);
  for (int i = 0; i < 10; ++i) {
    pass(Millis(100));
    shared->proof.prove(now);
    pushes->end_turn();
  }
  ASSERT_EQ(pushes->figures().listed().size(), 2U);
  EXPECT_EQ(pushes->figures().listed()[0].key, "k");
  EXPECT_EQ(pushes->figures().listed()[0].clients, 5U);
}

}  // namespace
}  // namespace heatsink::proxy

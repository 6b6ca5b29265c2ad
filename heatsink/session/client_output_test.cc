// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/client_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "heatsink/session/testing/client_output_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Pushed = ClientOutput::Pushed;
using Ticket = ReplyQueue::Ticket;
using Written = ClientTransport::Written;

class ClientOutputTest : public ClientOutputFixture {
 protected:
  // The client gets a connection of its own, which is not ready.
  void lend() {
    upstreams->to_lend = connection(&owner);
    Step step = Step::kDone;
    EXPECT_EQ(servers->connection_for(request({"GET", "a"}), true, step), nullptr);
    ASSERT_NE(servers->own(), nullptr);
  }
};

TEST_F(ClientOutputTest, RepliesGoOutInTheOrderOfTheirTickets) {
  start_output();
  EXPECT_EQ(output->first_owed(), ReplyQueue::kNone);
  const Ticket first = output->expect();
  const Ticket second = output->expect();
  output->put_whole(second, "+2\r\n");
  output->add("+own\r\n");
  EXPECT_FALSE(output->has_unsent());
  EXPECT_TRUE(output->keeps_bytes());
  EXPECT_EQ(output->first_owed(), first);
  EXPECT_EQ(output->last_owed(), second);
  output->put(first, "+1\r\n");
  EXPECT_FALSE(output->is_between_replies());
  output->end(first);
  EXPECT_TRUE(output->is_between_replies());
  output->end(ReplyQueue::kNone);  // of a request without a reply
  EXPECT_EQ(flushed(), "+1\r\n+2\r\n+own\r\n");
  EXPECT_TRUE(output->is_at_rest());
}

TEST_F(ClientOutputTest, ATurnAsksForOneFlush) {
  start_output();
  output->add("+1\r\n");
  output->add("+2\r\n");
  EXPECT_THAT(asked(), ElementsAre("flush"));
  EXPECT_FALSE(output->is_all_sent());
  EXPECT_EQ(flushed(), "+1\r\n+2\r\n");
  EXPECT_TRUE(output->is_all_sent());
  output->add("+3\r\n");
  EXPECT_THAT(asked(), ElementsAre("flush"));
  flushed();
  output->flush_follows();
  output->add("+4\r\n");
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(ClientOutputTest, NothingIsSentWhileAReplyWaitsForTheTracker) {
  start_output();
  output->add("+1\r\n");
  traffic.holds = 1;
  EXPECT_EQ(output->flush(), std::nullopt);
  EXPECT_TRUE(output->has_unsent());
  traffic.holds = 0;
  EXPECT_EQ(flushed(), "+1\r\n");
}

TEST_F(ClientOutputTest, AShortOutputIsHeldOnce) {
  start_output();
  EXPECT_FALSE(output->hold());  // nothing is there
  output->flush_follows();
  output->add("+1\r\n");
  EXPECT_TRUE(output->hold());
  EXPECT_TRUE(output->is_held_since(loop.now()));
  EXPECT_THAT(asked(), ElementsAre("a while"));
  output->add("+2\r\n");
  EXPECT_TRUE(output->hold());
  EXPECT_THAT(asked(), ElementsAre("flush"));  // of the turn that added to it
  EXPECT_EQ(flushed(), "+1\r\n+2\r\n");
  EXPECT_FALSE(output->is_held_since(loop.now()));
}

TEST_F(ClientOutputTest, ALongOutputOrThatOfAnOwnConnectionIsNotHeld) {
  start_output();
  output->add(std::string(17 * 1024, 'x'));
  EXPECT_FALSE(output->hold());
  flushed();
  lend();
  output->add("+1\r\n");
  EXPECT_FALSE(output->hold());
}

TEST_F(ClientOutputTest, APushIsSentInASliceUnlessAFlushIsDue) {
  start_output();
  EXPECT_EQ(output->push(">1\r\n", ReplyQueue::kNone), Pushed::kAdded);
  EXPECT_EQ(output->push(">2\r\n", ReplyQueue::kNone), Pushed::kAdded);
  EXPECT_THAT(asked(), ElementsAre("slice"));
  EXPECT_EQ(flushed(), ">1\r\n>2\r\n");
  EXPECT_FALSE(output->at_slice());  // it has gone out
  output->add("+1\r\n");
  EXPECT_EQ(output->push(">3\r\n", ReplyQueue::kNone), Pushed::kAdded);
  EXPECT_THAT(asked(), ElementsAre("flush"));
  EXPECT_EQ(flushed(), "+1\r\n>3\r\n");
}

TEST_F(ClientOutputTest, APushFollowsTheReplyThatIsBegun) {
  start_output();
  const Ticket first = output->expect();
  const Ticket second = output->expect();
  output->put(first, "$2\r\n");
  EXPECT_EQ(output->push(">1\r\n", ReplyQueue::kNone), Pushed::kInTurn);
  EXPECT_EQ(output->push(">2\r\n", second), Pushed::kInTurn);
  output->put(first, "ab\r\n");
  output->end(first);
  output->put_whole(second, "+2\r\n");
  EXPECT_EQ(flushed(), "$2\r\nab\r\n>1\r\n+2\r\n>2\r\n");
}

TEST_F(ClientOutputTest, TheLimitsCountWhatIsUnsentAndWhatIsKept) {
  start_output();
  reader.takes = false;
  const Ticket first = output->expect();
  output->put_whole(output->expect(), std::string(10'000, 'x'));
  EXPECT_FALSE(output->is_long());
  output->put(first, "+");
  EXPECT_TRUE(output->is_long());  // more than a quarter of proxy.client-output-limit
  EXPECT_FALSE(output->is_congested());
  output->put(first, std::string(10'000, 'x'));
  EXPECT_TRUE(output->is_congested());  // more than half
  output->append(std::string(29'999, 'x'));
  EXPECT_FALSE(output->is_full());  // what is kept does not count: the client cannot read it yet
  output->append("x");
  EXPECT_TRUE(output->is_full());
  EXPECT_EQ(output->flush(), Written::kBlocked);
  EXPECT_GT(output->memory_bytes(), 40'000U);
  EXPECT_GT(memory_changes, 0);
}

TEST_F(ClientOutputTest, TheLatestEffectIsOwedUntilItsReply) {
  start_output();
  EXPECT_EQ(output->latest_effect().ticket, ReplyQueue::kNone);
  const Ticket read = output->expect();
  const Ticket write = output->expect_effect();
  const Ticket later = output->expect();
  EXPECT_FALSE(output->is_last_effect(read));  // asked again, it would be read after the write
  EXPECT_TRUE(output->is_last_effect(later));
  EXPECT_EQ(output->latest_effect().ticket, write);
  output->put_whole(read, "+1\r\n");
  EXPECT_TRUE(output->latest_effect().is_unanswered);
  output->put_whole(write, "+2\r\n");
  EXPECT_FALSE(output->latest_effect().is_unanswered);
  output->take_back(later);
  EXPECT_FALSE(output->owes(later));
}

TEST_F(ClientOutputTest, AfterItsEndAllIsDropped) {
  start_output();
  const Ticket ticket = output->expect();
  output->close();
  output->put(ticket, "+1\r\n");
  output->put_whole(ticket, "+1\r\n");
  output->end(ticket);
  output->add("+own\r\n");
  output->append(">message\r\n");
  EXPECT_FALSE(output->has_unsent());
  EXPECT_FALSE(output->owes_replies());
  EXPECT_EQ(output->flush(), std::nullopt);
}

TEST_F(ClientOutputTest, AnEmptyOutputGivesItsMemoryBack) {
  start_output();
  output->add(std::string(5000, 'x'));
  output->shrink(0, true);
  EXPECT_GE(output->memory_bytes(), 5000U);
  flushed();
  output->shrink(1 << 20, true);
  EXPECT_GE(output->memory_bytes(), 5000U);
  output->shrink(0, true);
  EXPECT_EQ(output->memory_bytes(), 0U);
}

}  // namespace
}  // namespace heatsink::proxy

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/outage_notes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

class OutageNotesTest : public testing::Test {
 protected:
  void add_copy(const std::string& name, Nanos stale_while_error) {
    const KeyHash hash = in_db(hash_name(name, 1), 0);
    ASSERT_TRUE(shared_.table.promote(name, 0, hash, hash_name(name, 1), at(0),
                                      {.stale_while_error = stale_while_error}));
    auto copy = std::make_unique<cache::Copy>();
    copy->fill_sent_at = at(1);
    copy->deadline = at(10'000);
    copy->reply = "$1\r\nv\r\n";
    ASSERT_TRUE(shared_.table.insert(hash, std::move(copy)));
  }

  NodeState shared_{{}, net::RedisUrl{}, 1};
  EventLog events_{"nothing is hot"};
  OutageNotes outages_{shared_, events_};
};

TEST_F(OutageNotesTest, AnOutageWithoutCopiesThatOutlastItIsNotNoted) {
  add_copy("a", Nanos(0));
  outages_.proof_ended("the server is away", at(0));
  outages_.proof_is_back(at(1));
  EXPECT_TRUE(events_.latest().empty());
}

TEST_F(OutageNotesTest, SaysHowManyCopiesMayBeServedForHowLong) {
  add_copy("a", std::chrono::seconds(30));
  add_copy("b", std::chrono::seconds(60));
  add_copy("c", Nanos(0));
  outages_.proof_ended("the server is away", at(0));
  ASSERT_EQ(events_.latest().size(), 1U);
  EXPECT_TRUE(events_.latest().front().outage);
  EXPECT_EQ(events_.latest().front().reason,
            "2 copies may be served for up to " + format_duration(std::chrono::seconds(60)) +
                " after the last proof (stale-while-error): the server is away");
}

TEST_F(OutageNotesTest, TheEndIsNotedOnce) {
  add_copy("a", std::chrono::seconds(30));
  outages_.proof_ended("the server is away", at(0));
  outages_.proof_is_back(at(1));
  outages_.proof_is_back(at(2));
  ASSERT_EQ(events_.latest().size(), 2U);
  EXPECT_EQ(events_.latest().back().reason,
            "the server answers again: copies from before are no longer served");
}

}  // namespace
}  // namespace heatsink::copies

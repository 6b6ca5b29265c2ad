// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/session/near_table_for_test.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A name that more clients keep than a slice has.
class SlicedNamesTest : public NearTableTest {
 protected:
  SlicedNamesTest() {
    for (FakeHolder* each : {&cat, &dan, &eve}) each->number = sliced.join(*each);
    for (FakeHolder* each : {&cat, &dan, &eve}) keep_sliced(*each, 7);
  }
  bool keep_sliced(const FakeHolder& who, std::uint64_t name) {
    return sliced.keep(who.number, {name}, "k", [&] { return std::optional(basis()); });
  }
  std::size_t told() const { return cat.told.size() + dan.told.size() + eve.told.size(); }

  NearTable sliced{kept, 2};
  FakeHolder cat{3}, dan{4}, eve{5};
};

TEST_F(SlicedNamesTest, AreToldSliceBySlice) {
  sliced.changed({7}, dan.id());
  EXPECT_EQ(told(), 0U);
  const std::uint64_t begun = sliced.begun();
  EXPECT_LT(sliced.told(), begun);
  EXPECT_TRUE(kept.has({7})) << "another writer has to wait, too";
  sliced.changed({7});
  EXPECT_EQ(sliced.begun(), begun) << "it is being told";
  sliced.tell_more();
  EXPECT_EQ(told(), 2U);
  EXPECT_LT(sliced.told(), begun);
  sliced.tell_more();
  EXPECT_EQ(told(), 3U);
  EXPECT_EQ(sliced.told(), begun);
  EXPECT_FALSE(kept.has({7}));
  EXPECT_EQ(sliced.kept(), 0U);
  EXPECT_EQ(dan.own_earlier, 1) << "its reply has gone out";
  EXPECT_EQ(cat.own + dan.own + eve.own, 0);
}

TEST_F(SlicedNamesTest, FewAreToldAtOnce) {
  sliced.forget(eve.number, {7});
  sliced.changed({7}, dan.id());
  EXPECT_EQ(told(), 2U);
  EXPECT_EQ(dan.own, 1);
  EXPECT_EQ(sliced.told(), sliced.begun());
}

// It has seen the new value.
TEST_F(SlicedNamesTest, WhoReadsTheNameAgainIsToldBefore) {
  sliced.changed({7});
  EXPECT_TRUE(keep_sliced(eve, 7));
  EXPECT_THAT(eve.take(), ElementsAre(7));
  while (sliced.is_telling()) sliced.tell_more();
  EXPECT_THAT(eve.take(), IsEmpty());
  EXPECT_EQ(sliced.kept(), 1U);
  sliced.changed({7});
  EXPECT_THAT(eve.take(), ElementsAre(7));
}

TEST_F(SlicedNamesTest, WhoLeavesIsNotTold) {
  sliced.changed({7});
  sliced.leave(cat.number);
  FakeHolder new_one{9};
  EXPECT_EQ(sliced.join(new_one), cat.number);
  sliced.end_all(eve.number);
  EXPECT_THAT(eve.take(), ElementsAre(7)) << "it goes to another worker";
  EXPECT_FALSE(sliced.keeps_any(eve.number));
  while (sliced.is_telling()) sliced.tell_more();
  EXPECT_THAT(new_one.told, IsEmpty());
  EXPECT_THAT(cat.told, IsEmpty());
  EXPECT_THAT(dan.told, ElementsAre(7));
}

TEST_F(SlicedNamesTest, ALaterCopyOfAChangedNameBeginsAnew) {
  kept.note_change({7});
  keep_sliced(eve, 7);
  EXPECT_THAT(eve.take(), ElementsAre(7));
  while (sliced.is_telling()) sliced.tell_more();
  EXPECT_EQ(told(), 2U);
  EXPECT_EQ(sliced.kept(), 1U);
  EXPECT_TRUE(kept.has({7}));
  sliced.changed({7});
  EXPECT_THAT(eve.take(), ElementsAre(7));
  EXPECT_FALSE(kept.any());
}

}  // namespace
}  // namespace heatsink::proxy

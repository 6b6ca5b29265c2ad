// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/ttl_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "heatsink/relief/copy_reader_for_test.h"
#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TtlReadsTest : public ReliefTest {
 protected:
  void begin() {
    start({});
    reader_ = std::make_unique<CopyReader>(1, *parts);
    heat("k");
  }
  bool serves(std::initializer_list<std::string_view> words) {
    Request& asked = request(words);
    asked.now = now;
    return TtlReads(*parts, reader_->lookup, reader_->reads).serve(asked, "+OK\r\n");
  }
  PlayedClient& client() { return reader_->client; }

  std::unique_ptr<CopyReader> reader_;
};

TEST_F(TtlReadsTest, TheCopyHasTheValueAndItsTime) {
  begin();
  fill("k", "v");
  const cache::Copy* const copy = copies->find(hash("k"), "k", 0)->copy(cache::Read{0, {}});
  const auto left = std::chrono::duration_cast<Millis>(copy->value_ends - now).count();
  EXPECT_TRUE(serves({"GET", "k"}));
  EXPECT_THAT(client().take(), ElementsAre("gets +OK|:" + std::to_string(left) + "|$1|v|"));
  EXPECT_EQ(count(copies::Count::kLocalHits), 1U);
}

// A held request would have to keep a whole transaction.
TEST_F(TtlReadsTest, WithoutACopyItAsksForOneAndDoesNotWait) {
  begin();
  EXPECT_FALSE(serves({"GET", "k"}));
  EXPECT_THAT(client().take(), IsEmpty());
  EXPECT_EQ(count(copies::Count::kRefusedNoCopy), 1U);
  pass(copies::WorkerCopies::kQueueFor * 2);
  EXPECT_EQ(keeper.fills.size(), 1U);
}

TEST_F(TtlReadsTest, ReadsOfManyAndWritesAreLeftAlone) {
  begin();
  fill("k", "v");
  EXPECT_FALSE(serves({"MGET", "k", "k"}));
  EXPECT_FALSE(serves({"SET", "k", "v"}));
  EXPECT_THAT(client().take(), IsEmpty());
  EXPECT_EQ(keeper.fills.size(), 0U);
}

}  // namespace
}  // namespace heatsink::proxy

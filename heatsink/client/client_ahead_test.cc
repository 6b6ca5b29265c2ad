// SPDX-License-Identifier: Apache-2.0
// Background loads can be joined by readers: no key is loaded twice at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "heatsink/client/core.h"
#include "heatsink/client/stage_for_test.h"

namespace heatsink::client {
namespace {

using ::testing::IsEmpty;
using Readers = std::vector<std::future<std::string>>;

ClientOptions patient() {
  ClientOptions options;
  options.wait_timeout = kPatience;
  return options;
}

// A stage whose source answers on command.
struct HeldStage : Stage {
  explicit HeldStage(const ClientOptions& options = patient()) : Stage(options) {
    source.write("a", "1");
    source.before_answer = [go = go] { go.wait(); };
  }
  ~HeldStage() { answer(); }

  void answer() {
    if (!has_answered) may_answer.set_value();
    has_answered = true;
  }
  void warm(const std::string& key) {
    const std::vector<std::string> keys = {key};
    EXPECT_THAT(client.warm(keys, source.loader()), IsEmpty());
  }
  // Returns when their load is under way or they wait for one.
  Readers read_by(int count) {
    const std::uint64_t before = asked();
    Readers readers;
    for (int i = 0; i < count; ++i)
      readers.push_back(std::async(std::launch::async, [this] { return get("a"); }));
    EXPECT_TRUE(eventually([&] { return asked() == before + static_cast<std::uint64_t>(count); }));
    return readers;
  }
  std::uint64_t asked() const {
    const Stats now = client.stats();
    return now.loads + now.waits;
  }

  std::promise<void> may_answer;
  std::shared_future<void> go = may_answer.get_future().share();
  bool has_answered = false;
};

// Keeps the only refresher of a client busy between a first and a last key. Declare it before the
// client, whose threads use it.
class BusyRefresher {
 public:
  // True: it loads the first key, until ends().
  bool begins(const Client<>& client) {
    const std::vector<std::string> keys = {"before"};
    EXPECT_THAT(client.warm(keys,
                            [this](const std::string&) {
                              ++first_;
                              go_on_.wait();
                              return std::optional<std::string>("1");
                            }),
                IsEmpty());
    return eventually([&] { return first_ == 1; });
  }
  // True: it has reached the last key.
  bool ends(const Client<>& client) {
    const std::vector<std::string> keys = {"after"};
    EXPECT_THAT(client.warm(keys,
                            [this](const std::string&) {
                              ++last_;
                              return std::optional<std::string>("1");
                            }),
                IsEmpty());
    may_go_on_.set_value();
    return eventually([&] { return last_ == 1; });
  }

 private:
  std::promise<void> may_go_on_;
  const std::shared_future<void> go_on_ = may_go_on_.get_future().share();
  std::atomic<int> first_{0}, last_{0};
};

TEST(ClientAhead, WhoReadsAWarmedKeyJoinsItsLoad) {
  HeldStage stage;
  stage.warm("a");
  ASSERT_TRUE(eventually([&] { return stage.source.reads == 1; }));
  Readers readers = stage.read_by(8);
  stage.answer();
  for (auto& reader : readers) EXPECT_EQ(reader.get(), "1");
  EXPECT_EQ(stage.source.reads, 1);
  EXPECT_EQ(stage.client.stats().waits, 8U);
}

// All refreshers are busy: a reader does not wait for one of them.
TEST(ClientAhead, AWarmedKeyThatAReaderLoadsIsNotLoadedAgain) {
  ClientOptions options = patient();
  options.refresh_threads = 1;
  BusyRefresher refresher;
  HeldStage stage(options);
  ASSERT_TRUE(refresher.begins(stage.client));
  stage.warm("a");
  Readers readers = stage.read_by(1);
  EXPECT_TRUE(refresher.ends(stage.client)) << "that of a was due before";
  EXPECT_EQ(stage.source.reads, 1);
  stage.answer();
  EXPECT_EQ(readers[0].get(), "1");
}

TEST(ClientAhead, WhatAReaderHasLoadedSinceIsNotLoadedAgain) {
  ClientOptions options = patient();
  options.refresh_threads = 1;
  BusyRefresher refresher;
  Stage stage(options);
  stage.source.write("a", "1");
  const std::vector<std::string> keys = {"a"};
  ASSERT_TRUE(refresher.begins(stage.client));
  ASSERT_THAT(stage.client.warm(keys, stage.source.loader()), IsEmpty());
  EXPECT_EQ(stage.get("a"), "1");
  EXPECT_TRUE(refresher.ends(stage.client));
  EXPECT_EQ(stage.source.reads, 1);
  EXPECT_TRUE(stage.client.peek("a"));
}

TEST(ClientAhead, WhoReadsWhileACopyThatHasEndedIsRefreshedJoinsThat) {
  ClientOptions options = patient();
  options.expire_after_write = Millis(40);  // refreshed after 30
  HeldStage stage(options);
  stage.source.before_answer = [&source = stage.source, go = stage.go] {
    if (source.reads > 1) go.wait();
  };
  stage.warm("a");
  ASSERT_TRUE(eventually([&] { return stage.source.reads == 2 && !stage.client.peek("a"); }));
  Readers readers = stage.read_by(3);
  stage.answer();
  for (auto& reader : readers) EXPECT_EQ(reader.get(), "1");
  EXPECT_EQ(stage.client.stats().loads, 0U);
}

TEST(ClientAhead, WhoJoinsALoadThatFailsGetsItsError) {
  HeldStage stage;
  stage.source.is_down = true;
  stage.warm("a");
  ASSERT_TRUE(eventually([&] { return stage.source.reads == 1; }));
  Readers readers = stage.read_by(3);
  stage.answer();
  for (auto& reader : readers) EXPECT_THROW(reader.get(), std::runtime_error);
  EXPECT_EQ(stage.source.reads, 1);
  stage.source.is_down = false;
  EXPECT_EQ(stage.get("a"), "1");
}

// Or the old copy, with stale-while-error.
TEST(ClientAhead, WhoJoinsALoadThatFailsGetsAStaleCopyIfAsked) {
  ClientOptions options = patient();
  options.expire_after_write = Millis(40);
  options.stale_while_error = std::chrono::hours(1);
  HeldStage stage(options);
  stage.source.before_answer = [&source = stage.source, go = stage.go] {
    if (source.reads <= 1) return;
    go.wait();
    throw std::runtime_error("the source is down");
  };
  stage.warm("a");
  ASSERT_TRUE(eventually([&] { return stage.source.reads == 2 && !stage.client.peek("a"); }));
  Readers readers = stage.read_by(2);
  stage.answer();
  for (auto& reader : readers) EXPECT_EQ(reader.get(), "1");
  EXPECT_GE(stage.client.stats().stale_served, 2U);
}

// A reader that found no copy asks after another load has completed.
TEST(ClientAhead, WhatHasBeenLoadedMeanwhileIsTaken) {
  int loads = 0;
  Core core(quiet());
  const KeyHash hash = core.hash("a");
  const Load load = [&] {
    ++loads;
    return std::make_shared<CachedValueOf<std::string>>("1");
  };
  ASSERT_TRUE(core.warm("a", hash, TimePoint::max()));
  const SharedCachedValue first = core.load(hash, load);
  EXPECT_EQ(core.load(hash, load), first);
  EXPECT_EQ(loads, 1);
  core.load_ahead(hash, load, BootClock::now());
  EXPECT_EQ(loads, 2) << "the copy is older than the wish";
  core.invalidate(hash);
  core.load(hash, load);
  EXPECT_EQ(loads, 3);
}

}  // namespace
}  // namespace heatsink::client

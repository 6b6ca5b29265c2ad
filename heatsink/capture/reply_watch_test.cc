// SPDX-License-Identifier: Apache-2.0
// Conversations of which the replies are captured only for a time.
#include "heatsink/capture/reply_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <random>

#include "heatsink/capture/decoded_for_test.h"

namespace heatsink::capture::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ReplyWatch kNone{0};

bool is_plain_reply(const Frame& frame) {
  return frame.from.port == 6379 && (frame.flags & (Frame::kSyn | Frame::kFin | Frame::kRst)) == 0;
}

// Like a live capture: unwatched replies do not arrive.
class Watched : public Decoded {
 public:
  // As a feed does it; the packets in between come as before.
  void watch(ReplyWatch to) {
    decoder().watch(watch_.common(to), now_ns_ + 1);
    watch_ = to;
    decoder().watch(to, now_ns_ + 2);
  }
  void play(TcpDialogue& talk) {
    for (; at_ < talk.frames().size(); ++at_) capture(talk.frames()[at_]);
  }
  void capture(const Frame& frame) {
    now_ns_ = frame.at_ns;
    if (!is_plain_reply(frame) || watch_.covers(frame.to.port)) take(frame);
  }

 private:
  ReplyWatch watch_;
  std::int64_t now_ns_ = 0;
  std::size_t at_ = 0;
};

void pause_and_get(TcpDialogue& talk, const std::string& key) {
  talk.pause(kPause).request(request({"GET", key})).reply(bulk(key + key));
}

TEST(ReplyWatch, PartsAreOfTheClientsPort) {
  EXPECT_TRUE(ReplyWatch().covers(0));
  EXPECT_TRUE(ReplyWatch().covers(65'535));
  EXPECT_TRUE(ReplyWatch::only(0).covers(32'768));
  EXPECT_TRUE(ReplyWatch::only(0).covers(32'769)) << "the lowest bit tells nothing";
  EXPECT_TRUE(ReplyWatch::only(1).covers(32'770));
  EXPECT_FALSE(ReplyWatch::only(1).covers(32'768));
  EXPECT_EQ(ReplyWatch::only(1).common(ReplyWatch()), ReplyWatch::only(1));
  EXPECT_EQ(ReplyWatch::only(1).common(ReplyWatch::only(2)), kNone);
}

TEST(ReplyWatch, RequestsAreToldAtOnceWhereNoRepliesCome) {
  Watched watched;
  TcpDialogue talk = opened();
  pause_and_get(talk, "a");
  watched.play(talk);
  watched.watch(kNone);
  for (const char* key : {"b", "c"}) pause_and_get(talk, key);
  watched.play(talk);
  EXPECT_THAT(watched.lines(), ElementsAre("get a -> 2 bytes", "get b -> ?", "get c -> ?"));
  EXPECT_EQ(watched.counters().commands_unwatched, 2);
  EXPECT_EQ(watched.counters().commands_unmatched, 0);
  EXPECT_THAT(watched.counters().caveats(), IsEmpty());
}

TEST(ReplyWatch, WhatWaitsForAReplyIsToldWhenNoneWillCome) {
  Watched watched;
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"}) + request({"GET", "b"}));
  watched.play(talk);
  EXPECT_THAT(watched.lines(), IsEmpty());
  watched.watch(kNone);
  watched.decoder().advance(talk.now_ns + 1'000'000'000);
  EXPECT_THAT(watched.lines(), ElementsAre("get a -> ?", "get b -> ?"));
}

TEST(ReplyWatch, AfterTwoQuietMomentsRepliesAreToldAgain) {
  Watched watched;
  TcpDialogue talk = opened();
  watched.watch(kNone);
  pause_and_get(talk, "a");
  watched.play(talk);
  watched.watch(ReplyWatch());
  for (const char* key : {"b", "c", "d", "e"}) pause_and_get(talk, key);
  watched.play(talk);
  EXPECT_THAT(watched.lines(), ElementsAre("get a -> ?", "get b -> ?", "get c -> ?",
                                           "get d -> 2 bytes", "get e -> 2 bytes"));
  EXPECT_EQ(watched.counters().commands_unwatched, 3);
  EXPECT_EQ(watched.counters().commands_unmatched, 0);
  EXPECT_EQ(watched.counters().gaps, 0);
}

TEST(ReplyWatch, AReplyThatComesLateIsNotTheNextRequests) {
  Watched watched;
  TcpDialogue talk = opened();
  pause_and_get(talk, "a");
  watched.play(talk);
  watched.watch(kNone);
  talk.request(request({"GET", "slow"}));
  watched.play(talk);
  watched.watch(ReplyWatch());
  talk.request(request({"GET", "b"})).reply(bulk("slow one's")).reply(bulk("bb"));
  for (const char* key : {"c", "d", "e"}) pause_and_get(talk, key);
  watched.play(talk);
  for (const std::string& line : watched.lines())
    EXPECT_THAT(line, ::testing::Not(::testing::HasSubstr("10 bytes")));
  EXPECT_EQ(watched.lines().back(), "get e -> 2 bytes");
}

TEST(ReplyWatch, ANewConnectionIsCertainWhereItIsWatchedFromItsBeginning) {
  Watched watched;
  watched.watch(kNone);
  TcpDialogue before = opened();
  watched.play(before);
  watched.watch(ReplyWatch());
  pause_and_get(before, "a");
  watched.play(before);
  EXPECT_THAT(watched.lines(), ElementsAre("get a -> ?"));
  TcpDialogue after(ipv4(8, 40'000), kServer);
  after.now_ns = before.now_ns;
  after.open();
  pause_and_get(after, "b");
  for (const Frame& frame : after.frames()) watched.capture(frame);
  EXPECT_EQ(watched.lines().back(), "get b -> 2 bytes");
}

TEST(ReplyWatch, OneThatEndsUnwatchedHasEnded) {
  Watched watched;
  TcpDialogue talk = opened();
  watched.watch(kNone);
  pause_and_get(talk, "a");
  talk.close();
  watched.play(talk);
  EXPECT_EQ(watched.counters().connections_now, 0);
  EXPECT_EQ(watched.counters().gaps, 0);
  EXPECT_EQ(watched.counters().segments_again, 0);
}

TEST(ReplyWatch, RequestsOutOfOrderWaitForEachOtherAlone) {
  Watched watched;
  TcpDialogue talk = opened();
  watched.watch(kNone);
  for (const char* key : {"a", "b", "c"}) pause_and_get(talk, key);
  std::vector<Frame>& frames = talk.frames();
  std::swap(frames[3].payload, frames[5].payload);
  std::swap(frames[3].seq, frames[5].seq);
  std::swap(frames[3].ack, frames[5].ack);
  watched.play(talk);
  EXPECT_THAT(watched.lines(), ElementsAre("get a -> ?", "get b -> ?", "get c -> ?"));
  EXPECT_EQ(watched.counters().gaps, 0);
}

TEST(ReplyWatch, WhateverWasSentUnseenTheConnectionGoesOn) {
  Watched watched;
  TcpDialogue talk = opened();
  talk.request(request({"SELECT", "5"})).reply("+OK\r\n");
  watched.play(talk);
  watched.watch(kNone);
  for (int i = 0; i < 40; ++i)
    talk.request(request({"GET", "big"})).reply(std::string(8 << 20, 'x'));
  watched.play(talk);
  watched.watch(ReplyWatch());
  for (int i = 0; i < 3; ++i) pause_and_get(talk, "a");
  watched.play(talk);
  EXPECT_EQ(watched.counters().connections, 1);
  EXPECT_EQ(watched.lines().back(), "get a db 5 -> 2 bytes");
}

// A connection in which requests do not wait for replies, pauses come only when all is answered,
// and the size of each value identifies its command.
Script pipelined_script(std::mt19937& random) {
  Script script;
  std::deque<std::size_t> outstanding;
  for (std::size_t asked = 0; asked < 60 || !outstanding.empty();) {
    const bool asks = asked < 60 && outstanding.size() < 4 && random() % 2 == 0;
    if (asks) {
      script.talk.request(request({"GET", "k" + std::to_string(asked)}));
      script.expected.push_back(fmt::format("get k{} -> {} bytes", asked, asked));
      outstanding.push_back(asked++);
    } else if (!outstanding.empty()) {
      script.talk.reply(bulk(std::string(outstanding.front(), 'v')));
      outstanding.pop_front();
    } else {
      script.talk.pause(random() % 2 == 0 ? kPause : 0);
    }
  }
  return script;
}

void swap_neighbours(std::vector<Frame>& frames, std::mt19937& random) {
  for (std::size_t i = 4; i < frames.size(); ++i) {
    if (random() % 10 != 0 || frames[i].at_ns - frames[i - 1].at_ns >= kPause) continue;
    std::swap(frames[i], frames[i - 1]);
    std::swap(frames[i].at_ns, frames[i - 1].at_ns);
  }
}

// Every command is reported, in order, and each reported reply belongs to its command.
bool is_true(const std::vector<std::string>& told, const std::vector<std::string>& expected) {
  const auto same = [](const std::string& line, const std::string& truth) {
    const std::string command = truth.substr(0, truth.find(" -> "));
    return line == truth || line == command + " -> ?";
  };
  return std::equal(told.begin(), told.end(), expected.begin(), expected.end(), same);
}

TEST(ReplyWatch, WatchingByTurnsNeverMakesALie) {
  EXPECT_TRUE(rc::check([](unsigned seed) {
    std::mt19937 random(seed);
    Script script = pipelined_script(random);
    swap_neighbours(script.talk.frames(), random);
    Watched watched;
    bool on = true;
    for (const Frame& frame : script.talk.frames()) {
      if (random() % 25 == 0) watched.watch((on = !on) ? ReplyWatch() : kNone);
      watched.capture(frame);
    }
    watched.decoder().finish();
    RC_ASSERT(is_true(watched.lines(), script.expected));
    RC_ASSERT(watched.counters().request_bytes_lost == 0U);
  }));
}

}  // namespace
}  // namespace heatsink::capture::testing

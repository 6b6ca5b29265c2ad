// SPDX-License-Identifier: Apache-2.0
// Damaged TCP streams: segments out of order, repeated, lost or cut, and connections joined in the
// middle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <random>

#include "heatsink/capture/decoded_for_test.h"

namespace heatsink::capture::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TcpDialogue get(TcpDialogue talk, const std::string& key) {
  talk.request(request({"GET", key})).reply("$1\r\n" + key + "\r\n");
  return talk;
}

std::vector<Frame> without(std::vector<Frame> frames, std::size_t place) {
  frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(place));
  return frames;
}

TEST(Damage, SegmentsOutOfOrderWait) {
  TcpDialogue talk = get(get(opened(), "a"), "b");
  std::vector<Frame>& frames = talk.frames();
  std::reverse(frames.begin() + 3, frames.end());
  const Decoded decoded(frames);
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> 1 bytes", "get b -> 1 bytes"));
  EXPECT_EQ(decoded.counters().segments_out_of_order, 3);
  EXPECT_EQ(decoded.counters().gaps, 0);
}

TEST(Damage, AReplySeenBeforeItsRequestWaitsForIt) {
  TcpDialogue talk = get(get(opened(), "a"), "b");
  std::swap(talk.frames()[3], talk.frames()[4]);
  EXPECT_THAT(Decoded(talk.frames()).lines(), ElementsAre("get a -> 1 bytes", "get b -> 1 bytes"));
}

TEST(Damage, WhatComesAgainCountsOnce) {
  TcpDialogue talk = get(get(opened(), "a"), "b");
  std::vector<Frame> twice;
  for (const Frame& frame : talk.frames()) twice.insert(twice.end(), {frame, frame});
  TcpDialogue closed = talk;
  closed.close();
  twice.insert(twice.end(), closed.frames().end() - 3, closed.frames().end());
  twice.insert(twice.end(), talk.frames().begin(), talk.frames().end());
  const Decoded decoded(twice);
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> 1 bytes", "get b -> 1 bytes"));
  EXPECT_EQ(decoded.counters().connections, 1);
  EXPECT_EQ(decoded.counters().segments_again, 4);
}

TEST(Damage, OverlapsAreCutOff) {
  TcpDialogue talk = opened();
  const std::string whole = request({"GET", "a"}) + request({"GET", "b"});
  talk.request(whole.substr(0, 15));
  Frame more = talk.frames().back();
  more.payload = whole;  // sends the first bytes again
  talk.request(whole.substr(15)).reply("$1\r\na\r\n$1\r\nb\r\n");
  talk.frames()[4] = more;
  EXPECT_THAT(Decoded(talk.frames()).lines(), ElementsAre("get a -> 1 bytes", "get b -> 1 bytes"));
}

TEST(Damage, SequenceNumbersWrapAround) {
  TcpDialogue talk = opened(kClient, kServer, 0xFFFFFFF0, 0xFFFFFFFC);
  for (const char* key : {"a", "b", "c"}) talk = get(talk, key);
  EXPECT_THAT(Decoded(talk.frames()).lines(),
              ElementsAre("get a -> 1 bytes", "get b -> 1 bytes", "get c -> 1 bytes"));
}

TEST(Damage, ALostRequestIsAGapAndNothingIsMixedUp) {
  TcpDialogue talk = get(get(get(opened(), "a"), "b"), "c");
  talk.pause(kPause);
  talk = get(talk, "d");
  talk.pause(kPause);
  talk = get(talk, "e");
  const Decoded decoded(without(talk.frames(), 5));  // GET b
  EXPECT_THAT(decoded.lines(),
              ElementsAre("get a -> 1 bytes", "get c -> ?", "get d -> ?", "get e -> 1 bytes"));
  EXPECT_EQ(decoded.counters().gaps, 1);
  EXPECT_EQ(decoded.counters().bytes_lost, request({"GET", "b"}).size());
  EXPECT_EQ(decoded.counters().request_bytes_lost, request({"GET", "b"}).size());
  EXPECT_EQ(decoded.counters().matching_lost, 1);
}

TEST(Damage, ALostReplyIsAGapAndNothingIsMixedUp) {
  TcpDialogue talk = get(get(get(opened(), "a"), "b"), "c");
  talk.pause(kPause);
  talk = get(talk, "d");
  talk.pause(kPause);
  talk = get(talk, "e");
  const Decoded decoded(without(talk.frames(), 6));  // the reply to b
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> 1 bytes", "get b -> ?", "get c -> ?",
                                           "get d -> ?", "get e -> 1 bytes"));
}

// The segment after the gap acknowledges a captured request, but waits for the lost reply.
TEST(Damage, ALostReplyTakesNoRequestWithIt) {
  TcpDialogue talk = get(opened(), "a");
  talk = get(talk, "b");
  const std::size_t lost = talk.frames().size() - 1;
  talk = get(talk, "c");
  std::vector<Frame> frames = without(talk.frames(), lost);
  std::swap(frames[lost], frames[lost + 1]);
  const Decoded decoded(frames);
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> 1 bytes", "get b -> ?", "get c -> ?"));
  EXPECT_EQ(decoded.counters().request_bytes_lost, 0);
}

TEST(Damage, LostBytesAreGivenUpSoonWhenTheyWereAcknowledged) {
  TcpDialogue talk = get(get(opened(), "a"), "b");
  talk.pause(150'000'000);
  talk = get(talk, "c");
  Decoded decoded;
  decoded.take(without(talk.frames(), 3));  // GET a; the server has answered it
  EXPECT_EQ(decoded.lines().size(), 2) << "b and c, before any end";
}

TEST(Damage, BytesThatMayYetComeAreWaitedForLonger) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"})).request(request({"GET", "b"}));
  const std::int64_t at_ns = talk.now_ns;
  Decoded decoded;
  decoded.take(without(talk.frames(), 3));
  decoded.decoder().advance(at_ns + 1'900'000'000);
  EXPECT_THAT(decoded.lines(), IsEmpty());
  decoded.decoder().advance(at_ns + 2'100'000'000);
  EXPECT_THAT(decoded.lines(), ElementsAre("get b -> ?"));
}

TEST(Damage, JoinedInTheMiddleKeysAreToldAtOnceAndRepliesOnceTheyAreCertain) {
  TcpDialogue talk(kClient, kServer);
  talk.reply("lue of something\r\n");
  for (const char* key : {"a", "b", "c", "d"}) {
    talk.pause(kPause);
    talk = get(talk, key);
  }
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> ?", "get b -> 1 bytes", "get c -> 1 bytes",
                                           "get d -> 1 bytes"));
  EXPECT_EQ(decoded.counters().connections_joined, 1);
  EXPECT_EQ(decoded.counters().commands_db_assumed, 4);
}

TEST(Damage, JoinedInsideAValueTheNextRequestIsFound) {
  TcpDialogue talk(kClient, kServer);
  talk.request("middle of a value * with *1 stars\r\n*3\r\n\r\n" + request({"GET", "a"}));
  talk.reply("+OK\r\n$1\r\na\r\n").request(request({"GET", "b"})).reply("$1\r\nb\r\n");
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> ?", "get b -> ?"));
  EXPECT_EQ(decoded.counters().bytes_skipped, 41 + 12 + 7);
}

TEST(Damage, RequestsQuotedInAValueAreNotBelieved) {
  TcpDialogue talk(kClient, kServer);
  // The end of a SET whose value quotes the protocol: behind the quoted request comes more value.
  talk.request("start " + request({"DEL", "quoted"}) + "more of the value\r\n");
  talk.reply("+OK\r\n").request(request({"GET", "a"}));
  EXPECT_THAT(Decoded(talk.frames()).lines(), ElementsAre("get a -> ?"));
}

// A client with two requests on the way at all times, joined in the middle: the first reply that is
// seen answers a request that was not.
TEST(Damage, AHiddenRequestDoesNotShiftReplies) {
  TcpDialogue talk(kClient, kServer);
  talk.request(request({"GET", "x"})).frames().clear();  // on the way, and not captured
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
    talk.request(request({"GET", key})).reply("$1\r\n?\r\n").pause(kPause / 10);
  }
  const Decoded decoded(talk.frames());
  EXPECT_EQ(decoded.counters().commands_answered, 0);
  EXPECT_EQ(decoded.counters().commands, 6);
}

TEST(Damage, AReplyTooManyIsNoticed) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"})).reply("$1\r\na\r\n$1\r\nb\r\n");
  talk.request(request({"GET", "c"})).reply("$1\r\nc\r\n");
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> 1 bytes", "get c -> ?"));
  EXPECT_EQ(decoded.counters().matching_lost, 1);
}

TEST(Damage, AReplySentBeforeItsRequestHadComeIsNotItsReply) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"})).reply("$1\r\na\r\n");
  talk.frames().back().ack -= 1;  // of the request's last byte
  EXPECT_THAT(Decoded(talk.frames()).lines(), ElementsAre("get a -> ?"));
}

// A client far away that has one request on the way at all times: every pause looks quiet to it.
TEST(Damage, AHiddenRequestDoesNotShiftRepliesOverALongWay) {
  TcpDialogue talk(kClient, kServer);
  talk.request(request({"GET", "x"})).frames().clear();
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
    const std::string asked = request({"GET", key});
    talk.request(asked).reply("$1\r\n?\r\n").pause(kPause);
    talk.frames().back().ack -= static_cast<std::uint32_t>(asked.size());
  }
  EXPECT_EQ(Decoded(talk.frames()).counters().commands_answered, 0);
}

TEST(Damage, ARepliesTypeThatTheCommandNeverHasIsNoticed) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"})).reply(":1\r\n");
  EXPECT_THAT(Decoded(talk.frames()).lines(), ElementsAre("get a -> ?"));
}

TEST(Damage, RepliesOutOfProtocolEndMatchingOnly) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"})).reply("nonsense\r\n").request(request({"GET", "b"}));
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> ?", "get b -> ?"));
  EXPECT_EQ(decoded.counters().bad_replies, 1);
}

TEST(Damage, RequestsOutOfProtocolAreSkipped) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"})).reply("$1\r\na\r\n");
  talk.request("*1\r\n$-7\r\n" + request({"GET", "b"}));
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> 1 bytes", "get b -> ?"));
  EXPECT_EQ(decoded.counters().bad_requests, 1);
}

TEST(Damage, CutPacketsAreGapsThatNobodyWaitsFor) {
  TcpDialogue talk = opened();
  talk.request(request({"SET", "a", std::string(100, 'v')})).reply("+OK\r\n");
  talk = get(talk, "b");
  Decoded decoded;
  for (const Frame& frame : talk.frames()) {
    const std::string bytes = frame.bytes();
    decoded.take_bytes(frame, std::string_view(bytes).substr(0, 90), bytes.size());
  }
  EXPECT_THAT(decoded.lines(), ElementsAre("get b -> ?"));
  EXPECT_EQ(decoded.counters().packets_cut, 1);
  EXPECT_EQ(decoded.counters().gaps, 1);
  EXPECT_EQ(decoded.counters().segments_out_of_order, 0);
}

TEST(Damage, PortsAreUsedAgain) {
  TcpDialogue first = get(opened(), "a");
  first.reset();
  TcpDialogue second = get(opened(kClient, kServer, 77'000'000, 99'000'000), "b");
  TcpDialogue third = get(opened(kClient, kServer, 1'077'000'000, 7), "c");
  Decoded decoded(first.frames());
  decoded.take(second.frames());
  decoded.take(third.frames());  // the end of the second was not captured
  EXPECT_THAT(decoded.lines(),
              ElementsAre("get a -> 1 bytes", "get b -> 1 bytes", "get c -> 1 bytes"));
}

TEST(Damage, WhoIsSilentLongestIsForgotten) {
  DecoderOptions options = redis_port();
  options.connections_max = 3;
  Decoded decoded(options);
  for (unsigned i = 0; i < 5; ++i) {
    TcpDialogue talk(ipv4(10 + i, 40'000), kServer);
    talk.open().request(request({"GET", std::to_string(i)}));
    decoded.take(talk.frames());
  }
  EXPECT_THAT(decoded.lines(), ElementsAre("get 0 -> ?", "get 1 -> ?"));
  EXPECT_EQ(decoded.counters().connections_evicted, 2);
  EXPECT_EQ(decoded.counters().connections_now, 3);
}

TEST(Damage, MemoryIsBounded) {
  DecoderOptions options = redis_port();
  options.memory_max = kibibytes(100);
  Decoded decoded(options);
  for (unsigned i = 0; i < 50; ++i) {
    TcpDialogue talk(ipv4(10 + i, 40'000), kServer);
    talk.open().request("x").request(std::string(60'000, 'x'));
    decoded.take(without(talk.frames(), 3));
  }
  EXPECT_LE(decoded.counters().connections_now, 2);
}

// Many conversations of random commands; the segments cut anew, sent twice, and mixed up within a
// window: whatever that does, the same commands with the same answers come out.
Script cut_up_script(std::mt19937& random) {
  Script script;
  const auto below = [&random](unsigned n) { return random() % n; };
  for (unsigned round = 0; round < 12; ++round) {
    std::string asked;
    std::string answered;
    for (unsigned i = 0; i <= below(4); ++i) {
      const std::string key = "k" + std::to_string(below(100));
      const std::string value(below(3000), 'v');
      if (below(2) == 0) {
        asked += request({"GET", key});
        answered += bulk(value);
        script.expected.push_back(fmt::format("get {} -> {} bytes", key, value.size()));
      } else {
        asked += request({"SET", key, value});
        answered += "+OK\r\n";
        script.expected.push_back(fmt::format("set {}! -> 0 bytes", key));
      }
    }
    for (const bool client : {true, false}) {
      std::string rest = client ? asked : answered;
      while (!rest.empty()) {
        const std::size_t size = std::min<std::size_t>(1 + below(1400), rest.size());
        script.talk.say(client, rest.substr(0, size));
        rest.erase(0, size);
      }
    }
  }
  return script;
}

void mix_up(std::vector<Frame>& frames, std::mt19937& random) {
  std::vector<Frame> mixed(frames.begin(), frames.begin() + 3);
  for (std::size_t i = 3; i < frames.size(); ++i) {
    mixed.push_back(frames[i]);
    if (random() % 5 == 0) mixed.push_back(frames[3 + random() % (i - 2)]);
  }
  for (std::size_t i = 3; i + 8 < mixed.size(); i += 1 + random() % 8)
    std::shuffle(mixed.begin() + static_cast<std::ptrdiff_t>(i),
                 mixed.begin() + static_cast<std::ptrdiff_t>(i + 8), random);
  for (std::size_t i = 1; i < mixed.size(); ++i) mixed[i].at_ns = mixed[i - 1].at_ns + 1000;
  frames = std::move(mixed);
}

TEST(Damage, AnyOrderOfAnySegmentsGivesTheSameCommands) {
  EXPECT_TRUE(rc::check([](unsigned seed) {
    std::mt19937 random(seed);
    Script script = cut_up_script(random);
    mix_up(script.talk.frames(), random);
    const Decoded decoded(script.talk.frames());
    RC_ASSERT(decoded.lines() == script.expected);
    RC_ASSERT(decoded.counters().gaps == 0U);
  }));
}

// Even with missing segments the reports are true: a reply is never given to another command than
// its own.
TEST(Damage, LossNeverMakesALie) {
  EXPECT_TRUE(rc::check([](unsigned seed) {
    std::mt19937 random(seed);
    Script script = cut_up_script(random);
    std::vector<Frame>& frames = script.talk.frames();
    for (unsigned i = 0; i < 3; ++i) frames = without(frames, 3 + random() % (frames.size() - 3));
    if (random() % 2 == 0) frames.erase(frames.begin(), frames.begin() + 3);
    const Decoded decoded(frames);
    std::size_t at = 0;
    for (const std::string& line : decoded.lines()) {
      const std::string command = line.substr(0, line.find(" -> "));
      const auto same = [&](const std::string& expected) {
        return expected == line || (line.ends_with("?") && expected.starts_with(command + " -> "));
      };
      while (at < script.expected.size() && !same(script.expected[at])) ++at;
      RC_ASSERT(at < script.expected.size());
      ++at;
    }
  }));
}

}  // namespace
}  // namespace heatsink::capture::testing

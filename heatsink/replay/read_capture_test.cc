// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heatsink/capture/testing/traffic.h"
#include "heatsink/replay/read_for_test.h"
#include "heatsink/replay/read_trace.h"

namespace heatsink::replay {
namespace {

using capture::testing::TcpDialogue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TcpDialogue opened() {
  TcpDialogue talk(capture::testing::ipv4(7, 40'000), capture::testing::ipv4(1, 7000));
  talk.open();
  return talk;
}

std::string request(const std::vector<std::string>& args) {
  return capture::testing::request(args);
}

TEST(ReadCapture, TellsAccessesWithTimesAndSizes) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"})).reply("$5\r\nhello\r\n").pause(1'000'000'000);
  talk.request(request({"PING"})).reply("+PONG\r\n");
  talk.request(request({"SET", "b", "secret"})).reply("+OK\r\n");
  talk.request(request({"GET", "c"})).reply("$-1\r\n");
  const Result<Trace> trace = read(capture::testing::pcap_of(talk.frames()));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace->accesses.size(), 3);
  EXPECT_EQ(trace->accesses[0].operation(), Operation::kGet);
  EXPECT_EQ(trace->accesses[0].value_bytes(), 5);
  EXPECT_EQ(trace->accesses[1].operation(), Operation::kWrite);
  EXPECT_EQ(trace->accesses[1].at_ns, 1'000'000'000 + 4 * TcpDialogue::kStep);
  EXPECT_FALSE(trace->accesses[2].bytes_known()) << "there is no value";
  EXPECT_EQ(trace->keys.name(trace->accesses[1].key), "b");
  EXPECT_EQ(trace->facts.format, "a packet capture");
  EXPECT_EQ(trace->facts.keyless, 1);
  EXPECT_TRUE(trace->facts.timed);
  EXPECT_THAT(trace->facts.caveats, IsEmpty());
}

TEST(ReadCapture, KeepsWhatStandsBeforeTheDamage) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"})).reply("$-1\r\n").request(request({"GET", "b"}));
  std::string file = capture::testing::pcap_of(talk.frames());
  file.resize(file.size() - 5);
  const Result<Trace> trace = read(file);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->accesses.size(), 1);
  EXPECT_THAT(trace->facts.caveats, ElementsAre(HasSubstr("cut off after packet 5")));
}

TEST(ReadCapture, TimesOfSeveralConnectionsDoNotGoBack) {
  TcpDialogue slow = opened();
  slow.request(request({"BLPOP", "q", "0"})).pause(1'000'000'000).reply("*-1\r\n");
  TcpDialogue quick(capture::testing::ipv4(8, 40'000), capture::testing::ipv4(1, 7000));
  quick.open().pause(500'000'000).request(request({"GET", "a"})).reply("$-1\r\n");
  std::vector<capture::testing::Frame> frames = slow.frames();
  frames.insert(frames.end(), quick.frames().begin(), quick.frames().end());
  std::stable_sort(frames.begin(), frames.end(),
                   [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; });
  const Result<Trace> trace = read(capture::testing::pcap_of(frames));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->accesses.size(), 2);
  EXPECT_EQ(trace->facts.times_back, 0);
}

TEST(ReadCapture, SaysWhyNothingCouldBeRead) {
  TcpDialogue talk = opened();
  talk.request(std::string("\x16\x03\x01\x00\x05hello", 10));
  const Result<Trace> trace = read(capture::testing::pcap_of(talk.frames()));
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.error().message, HasSubstr("no Redis command"));
  EXPECT_THAT(trace.error().message, HasSubstr("encrypted (TLS)"));
}

}  // namespace
}  // namespace heatsink::replay

// SPDX-License-Identifier: Apache-2.0
// Conversations as they should be: from packets to commands with their replies.
#include "heatsink/capture/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/capture/decoded_for_test.h"

namespace heatsink::capture::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Decoder, TellsACommandWithItsReply) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"})).pause(200'000).reply(bulk("hello"));
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> 5 bytes"));
  EXPECT_EQ(decoded.latencies()[0], Nanos(300'000));
  EXPECT_THAT(decoded.clients(), ElementsAre("10.0.0.7:40000"));
  EXPECT_EQ(decoded.counters().commands_answered, 1);
  EXPECT_THAT(decoded.counters().caveats(), IsEmpty());
}

TEST(Decoder, TellsWritesMissesErrorsAndSeveralKeys) {
  TcpDialogue talk = opened();
  talk.request(request({"SET", "a", "12345"})).reply("+OK\r\n");
  talk.request(request({"GET", "b"})).reply("$-1\r\n");
  talk.request(request({"GET", "c"})).reply("-WRONGTYPE no string\r\n");
  talk.request(request({"MGET", "a", "b"})).reply("*2\r\n$1\r\nx\r\n$-1\r\n");
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("set a! -> 0 bytes", "get b -> null", "get c -> error",
                                           "mget a b -> 16 bytes"));
}

TEST(Decoder, MatchesPipelines) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"}) + request({"GET", "b"}) + request({"INCR", "c"}));
  talk.request(request({"GET", "d"}));
  talk.reply("$1\r\n1\r\n$-1\r\n").reply(":7\r\n$3\r\nabc\r\n");
  EXPECT_THAT(
      Decoded(talk.frames()).lines(),
      ElementsAre("get a -> 1 bytes", "get b -> null", "incr c! -> 4 bytes", "get d -> 3 bytes"));
}

TEST(Decoder, ReadsRequestsAndRepliesInAnyPieces) {
  TcpDialogue talk = opened();
  const std::string asked = request({"GET", "abcdefgh"});
  const std::string answered = bulk("0123456789");
  for (const char c : asked) talk.request(std::string(1, c));
  for (const char c : answered) talk.reply(std::string(1, c));
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("get abcdefgh -> 10 bytes"));
  EXPECT_EQ(decoded.latencies()[0], Nanos(TcpDialogue::kStep)) << "last byte to first byte";
}

TEST(Decoder, ReadsInlineRequests) {
  TcpDialogue talk = opened();
  talk.request("GET a\r\n").reply("$1\r\n1\r\n").request("\r\nset a 5\n").reply("+OK\r\n");
  EXPECT_THAT(Decoded(talk.frames()).lines(), ElementsAre("get a -> 1 bytes", "set a! -> 0 bytes"));
}

TEST(Decoder, KnowsTheDatabase) {
  TcpDialogue talk = opened();
  talk.request(request({"SELECT", "3"}) + request({"GET", "a"})).reply("+OK\r\n$-1\r\n");
  talk.request(request({"SELECT", "99"})).reply("-ERR DB index is out of range\r\n");
  talk.request(request({"GET", "b"})).reply("$-1\r\n");
  EXPECT_THAT(Decoded(talk.frames()).lines(),
              ElementsAre("select -> 0 bytes", "get a db 3 -> null", "select db 3 -> error",
                          "get b db 3 -> null"));
}

TEST(Decoder, PassesOverPushes) {
  TcpDialogue talk = opened();
  talk.request(request({"HELLO", "3"})).reply("%1\r\n$5\r\nproto\r\n:3\r\n");
  talk.request(request({"SUBSCRIBE", "news"})).reply(">3\r\n+subscribe\r\n+news\r\n:1\r\n");
  talk.request(request({"GET", "a"}));
  talk.reply(">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n_\r\n");
  EXPECT_THAT(Decoded(talk.frames()).lines(),
              ElementsAre("hello -> 19 bytes", "subscribe -> ?", "get a -> null"));
}

TEST(Decoder, MatchesNothingOnceRepliesCannotBeCounted) {
  for (const char* command : {"SUBSCRIBE", "MONITOR", "PSYNC"}) {
    TcpDialogue talk = opened();
    talk.request(request({"GET", "a"}) + request({command, "x", "1"}));
    talk.reply("$1\r\n1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n");
    talk.pause(5'000'000).request(request({"GET", "b"})).reply("$1\r\n1\r\n");
    talk.pause(5'000'000).request(request({"GET", "c"})).reply("$1\r\n1\r\n");
    const Decoded decoded(talk.frames());
    ASSERT_EQ(decoded.lines().size(), 4) << command;
    EXPECT_EQ(decoded.lines()[2], "get b -> ?");
    EXPECT_EQ(decoded.lines()[3], "get c -> ?");
  }
}

TEST(Decoder, ClientReplyOffEndsMatching) {
  TcpDialogue talk = opened();
  talk.request(request({"CLIENT", "REPLY", "SKIP"}) + request({"GET", "a"}) +
               request({"GET", "b"}));
  talk.reply("$1\r\nb\r\n");
  EXPECT_THAT(Decoded(talk.frames()).lines(),
              ElementsAre("client|reply -> ?", "get a -> ?", "get b -> ?"));
}

TEST(Decoder, MatchesWithinTransactions) {
  TcpDialogue talk = opened();
  talk.request(request({"MULTI"}) + request({"GET", "a"}) + request({"EXEC"}) +
               request({"GET", "b"}));
  talk.reply("+OK\r\n+QUEUED\r\n*1\r\n$-1\r\n$2\r\nbb\r\n");
  EXPECT_THAT(Decoded(talk.frames()).lines(), ElementsAre("multi -> 0 bytes", "get a -> 0 bytes",
                                                          "exec -> 9 bytes", "get b -> 2 bytes"));
}

TEST(Decoder, TellsNoLatencyOfWhatWaits) {
  TcpDialogue talk = opened();
  talk.request(request({"BLPOP", "q", "0"})).pause(9'000'000'000).reply("*-1\r\n");
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("blpop q! -> null"));
  EXPECT_EQ(decoded.latencies()[0], std::nullopt);
}

TEST(Decoder, StreamsBigRequestsAndReplies) {
  TcpDialogue talk = opened();
  std::string set = request({"SET", "big", std::string(1'000'000, 'v')});
  while (!set.empty()) {
    talk.request(set.substr(0, 40'000));
    set.erase(0, 40'000);
  }
  talk.reply("+OK\r\n").request(request({"GET", "big"}));
  talk.reply("$1000000\r\n" + std::string(60'000, 'v'));
  for (int i = 0; i < 47; ++i) talk.reply(std::string(20'000, 'v'));
  talk.reply("\r\n").request(request({"GET", "c"})).reply("$-1\r\n");
  EXPECT_THAT(Decoded(talk.frames()).lines(),
              ElementsAre("set big! -> 0 bytes", "get big -> 1000000 bytes", "get c -> null"));
}

TEST(Decoder, TellsClientsAndServersApart) {
  TcpDialogue one = opened(ipv4(7, 40'000), ipv4(1, 6379));
  TcpDialogue two = opened(ipv6(8, 40'000), ipv6(1, 6380));
  one.request(request({"GET", "a"})).reply("$-1\r\n");
  two.request(request({"GET", "b"})).reply("$-1\r\n");
  DecoderOptions options;
  options.ports = {6379, 6380};
  Decoded decoded(options);
  decoded.take(one.frames());
  decoded.take(two.frames());
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> null", "get b -> null"));
  EXPECT_THAT(decoded.clients(), ElementsAre("10.0.0.7:40000", "[fd00::8]:40000"));
  EXPECT_EQ(decoded.counters().connections_now, 2);
}

TEST(Decoder, LeavesOtherPortsAlone) {
  TcpDialogue talk = opened(kClient, ipv4(1, 6400));
  talk.request(request({"GET", "a"}));
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), IsEmpty());
  EXPECT_EQ(decoded.counters().packets_other, 4);
}

TEST(Decoder, FindsServersOnAnyPort) {
  TcpDialogue redis = opened(kClient, ipv4(1, 7001));
  redis.request(request({"GET", "a"})).reply("$-1\r\n");
  TcpDialogue web = opened(kClient, ipv4(2, 80));
  web.request("GET /a HTTP/1.1\r\nHost: b\r\n\r\n").reply("HTTP/1.1 200 OK\r\n\r\n");
  TcpDialogue joined(kClient, ipv4(3, 7002));
  joined.reply("$5\r\nvalue\r\n").request(request({"GET", "b"})).reply("$-1\r\n");
  Decoded decoded((DecoderOptions()));
  for (TcpDialogue* talk : {&redis, &web, &joined}) decoded.take(talk->frames());
  decoded.decoder().finish();
  EXPECT_THAT(decoded.lines(), ElementsAre("get a -> null", "get b -> ?"));
  EXPECT_EQ(decoded.counters().connections_foreign, 1);
}

TEST(Decoder, RefusesTls) {
  const std::string hello("\x16\x03\x01\x00\x05hello", 10);
  const std::string data("\x17\x03\x03\x00\x05hello", 10);
  TcpDialogue whole = opened();
  whole.request(hello).reply(hello).request(request({"GET", "a"}));
  TcpDialogue joined(ipv4(8, 40'001), kServer);
  joined.reply(data).request(data).request(request({"GET", "a"}));
  Decoded decoded(whole.frames());
  decoded.take(joined.frames());
  EXPECT_THAT(decoded.lines(), IsEmpty());
  EXPECT_EQ(decoded.counters().connections_tls, 2);
  EXPECT_THAT(decoded.counters().caveats(), ElementsAre(::testing::HasSubstr("TLS")));
}

TEST(Decoder, GivesUpOtherProtocols) {
  TcpDialogue talk = opened();
  talk.request("EHLO heatsink\r\n").reply("250 hello\r\n").request("QUIT\r\n");
  const Decoded decoded(talk.frames());
  EXPECT_THAT(decoded.lines(), IsEmpty());
  EXPECT_EQ(decoded.counters().connections_foreign, 1);
}

TEST(Decoder, TellsWhatWasNeverAnsweredAtTheEnd) {
  TcpDialogue talk = opened();
  talk.request(request({"GET", "a"}) + request({"GET", "b"})).reply("$-1\r\n");
  EXPECT_THAT(Decoded(talk.frames()).lines(), ElementsAre("get a -> null", "get b -> ?"));
}

TEST(Decoder, UnknownCommandsHaveTheirReplies) {
  TcpDialogue talk = opened();
  talk.request(request({"NOSUCH", "a"})).reply("-ERR unknown command\r\n");
  talk.request(request({"GET", "a"})).reply("$-1\r\n");
  EXPECT_THAT(Decoded(talk.frames()).lines(), ElementsAre("? -> error", "get a -> null"));
}

TEST(CapturedCommand, GivesAccesses) {
  TcpDialogue talk = opened();
  talk.request(request({"SELECT", "2"})).reply("+OK\r\n");
  talk.request(request({"SET", "k", "12345"})).reply("+OK\r\n");
  talk.request(request({"GET", "k"})).reply(bulk("123"));
  talk.request(request({"GET", "n"})).reply("$-1\r\n");
  std::vector<detect::Access> accesses;
  std::vector<bool> missed;
  Decoder decoder(redis_port(), [&](const CapturedCommand& command) {
    for (const CapturedKey& key : command.keys) accesses.push_back(command.access(key, 9));
    missed.push_back(command.missed());
  });
  for (const Frame& frame : talk.frames()) {
    const std::string bytes = frame.bytes();
    decoder.packet({frame.at_ns, frame.link, bytes, bytes.size()});
  }
  ASSERT_EQ(accesses.size(), 3);
  EXPECT_EQ(accesses[0].kind, detect::AccessKind::kWrite);
  EXPECT_EQ(accesses[0].bytes, 5);
  EXPECT_EQ(accesses[1].kind, detect::AccessKind::kRead);
  EXPECT_EQ(accesses[1].bytes, 3);
  EXPECT_EQ(accesses[1].hash, in_db(hash_name("k", 9), 2));
  EXPECT_THAT(missed, ElementsAre(false, false, false, true));
}

}  // namespace
}  // namespace heatsink::capture::testing

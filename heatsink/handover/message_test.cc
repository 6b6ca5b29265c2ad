// SPDX-License-Identifier: Apache-2.0
#include "heatsink/handover/message.h"

#include <gtest/gtest.h>

#include "heatsink/handover/encoding.h"

namespace heatsink::handover {
namespace {

template <class Kind>
Kind there_and_back(const Kind& message) {
  const Result<Message> got = decode(encode(message));
  EXPECT_TRUE(got.ok()) << (got.ok() ? "" : got.error().message);
  return got.ok() ? std::get<Kind>(*got) : Kind{};
}

TEST(HandoverMessage, EachKindArrivesAsItWasSent) {
  EXPECT_EQ(there_and_back(Hello{7}).version, 7U);
  const Offer offer = there_and_back(Offer{"127.0.0.1:6380", "redis://a@b", 3, true, 11, 12});
  EXPECT_EQ(offer.listen, "127.0.0.1:6380");
  EXPECT_EQ(offer.upstream, "redis://a@b");
  EXPECT_EQ(offer.file_device, 11U);
  EXPECT_EQ(offer.file_inode, 12U);
  EXPECT_EQ(descriptors_of(offer), 4U);
  const Rule rule = there_and_back(Rule{true, "match=a:*,level=off", "a:*", "added live"});
  EXPECT_TRUE(rule.is_added);
  EXPECT_EQ(rule.text, "match=a:*,level=off");
  EXPECT_EQ(rule.match, "a:*");
  EXPECT_EQ(rule.origin, "added live");
  const Keys keys = there_and_back(Keys{{{std::string("a\0b", 3), 5, 1000}, {"", 0, 0}}, true});
  ASSERT_EQ(keys.keys.size(), 2U);
  EXPECT_EQ(keys.keys[0].name, std::string("a\0b", 3));
  EXPECT_EQ(keys.keys[0].db, 5U);
  EXPECT_EQ(keys.keys[0].lasts_ms, 1000U);
  EXPECT_TRUE(keys.is_last);
  EXPECT_EQ(there_and_back(Go{99}).next_client_id, 99U);
  const Client client = there_and_back(Client{1ULL << 63, true, "state"});
  EXPECT_EQ(client.token, 1ULL << 63);
  EXPECT_EQ(client.state, "state");
  EXPECT_EQ(descriptors_of(client), 2U);
  EXPECT_EQ(descriptors_of(Client{1, false, ""}), 1U);
  EXPECT_EQ(there_and_back(Taken{4}).token, 4U);
  EXPECT_EQ(there_and_back(Refused{5}).token, 5U);
  const ClientWithNodes listener = there_and_back(ClientWithNodes{{6, true, "state"}, 3});
  EXPECT_EQ(listener.client.token, 6U);
  EXPECT_EQ(listener.client.state, "state");
  EXPECT_EQ(descriptors_of(listener), 5U);
  EXPECT_EQ(descriptors_of(ClientWithNodes{{6, false, ""}, 3}), 4U);
  there_and_back(Ready{});
  there_and_back(Done{});
}

TEST(HandoverMessage, WhatWasLearnedArrivesAsItWasSent) {
  const Learned sent{.server_scale = 1'700'000,
                     .worker_scale = 3'000'000,
                     .at_once = 20'500'000,
                     .awaited = 250'000,
                     .reads = 10,
                     .reads_with_room = UINT32_MAX,
                     .history = 6,
                     .pace = 3,
                     .is_sieve = true};
  const Learned got = there_and_back(sent);
  EXPECT_EQ(got.server_scale, sent.server_scale);
  EXPECT_EQ(got.keeper_scale, 0U);
  EXPECT_EQ(got.worker_scale, sent.worker_scale);
  EXPECT_EQ(got.at_once, sent.at_once);
  EXPECT_EQ(got.awaited, sent.awaited);
  EXPECT_EQ(got.reads, 10U);
  EXPECT_EQ(got.reads_with_room, UINT32_MAX);
  EXPECT_EQ(got.history, 6U);
  EXPECT_EQ(got.pace, 3U);
  EXPECT_TRUE(got.is_sieve);
  there_and_back(Learned{});
  EXPECT_FALSE(decode(encode(Learned{.server_scale = UINT64_MAX})).ok());
  EXPECT_FALSE(decode(encode(Learned{.at_once = 0})).ok());
  EXPECT_FALSE(decode(encode(Learned{.awaited = Learned::kOne + 1})).ok());
  EXPECT_FALSE(decode(encode(Learned{.history = 1000})).ok());
  EXPECT_FALSE(decode(encode(Learned{.reads = 1})).ok());
}

// A process of version 2 knows the first eleven kinds by these numbers.
TEST(HandoverMessage, AKindKeepsItsNumber) {
  EXPECT_EQ(Message(ClientWithNodes{}).index(), 10U);
  EXPECT_EQ(Message(Learned{}).index(), 11U);
}

TEST(HandoverMessage, AShortenedOrLengthenedMessageIsRefused) {
  const std::string whole = encode(Keys{{{"name", 1, 2}}, false});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode(whole.substr(0, size)).ok()) << size;
  EXPECT_FALSE(decode(whole + "x").ok());
}

TEST(HandoverMessage, ValuesBeyondTheLimitsAreRefused) {
  EXPECT_FALSE(decode(encode(Offer{"", "", 0, false, 0, 0})).ok());
  EXPECT_FALSE(decode(encode(Offer{"", "", kListenersMax + 1, false, 0, 0})).ok());
  EXPECT_FALSE(decode(encode(Rule{true, std::string(kRuleBytesMax + 1, 'r'), "", ""})).ok());
  EXPECT_FALSE(decode(encode(Keys{{{"", UINT32_MAX, 0}}, false})).ok());
  EXPECT_FALSE(decode(encode(Keys{{{std::string(kKeyBytesMax + 1, 'k'), 0, 0}}, false})).ok());
  EXPECT_FALSE(decode(encode(Go{0})).ok());
  EXPECT_FALSE(decode(encode(Client{1, false, std::string(kMessageBytesMax + 1, 's')})).ok());
  EXPECT_FALSE(decode(encode(ClientWithNodes{{1, false, ""}, 0})).ok());
  EXPECT_FALSE(decode(encode(ClientWithNodes{{1, false, ""}, kNodesMax + 1})).ok());
}

TEST(HandoverMessage, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(decode("GET a\r\n").error().message, "the packet is not a message of a hand-over");
  Writer unknown;
  unknown.u32(0x4f485348);
  unknown.u8(200);
  EXPECT_EQ(decode(unknown.take()).error().message,
            "the hand-over has no message of kind 200 (another version?)");
  EXPECT_EQ(decode(encode(Go{0})).error().message, "the fields of the message 'go' are invalid");
}

TEST(HandoverReader, ACountBeyondItsBytesReadsNothing) {
  Writer out;
  out.u32(1'000'000);
  const std::string bytes = out.take();
  Reader in(bytes);
  EXPECT_EQ(in.count(2'000'000), 0U);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.u64(), 0U);
}

}  // namespace
}  // namespace heatsink::handover

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/upstream_login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink::proxy {
namespace {

using Kind = UpstreamLogin::Kind;
using resp::Protocol;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const redis::Credentials kNoCredentials{};
const redis::Credentials kPassword{"", "secret"};
const redis::Credentials kUserAndPassword{"heat", "secret"};

// The requests of a login, word by word; as many as it says that replies follow.
std::vector<std::string> asked(const UpstreamLogin& login, const redis::Credentials& own) {
  ByteBuffer wire;
  const std::size_t replies = login.append(wire, own);
  std::string bytes(wire.view());
  std::vector<std::string> requests;
  resp::RequestParser parser;
  while (!bytes.empty() && parser.parse(bytes) == resp::ParseStatus::kRequest) {
    std::string words;
    for (const std::string_view word : parser.args()) words.append(word).append(" ");
    requests.push_back(words);
    bytes.erase(0, parser.size());
  }
  EXPECT_EQ(requests.size(), replies);
  return requests;
}

TEST(UpstreamLogin, InResp3OneRequestSaysAll) {
  const UpstreamLogin login(Protocol::kResp3, Kind::kOwn);
  EXPECT_THAT(asked(login, kNoCredentials), ElementsAre("HELLO 3 SETNAME heatsink "));
  EXPECT_THAT(asked(login, kUserAndPassword),
              ElementsAre("HELLO 3 AUTH heat secret SETNAME heatsink "));
}

TEST(UpstreamLogin, InResp2AuthComesFirst) {
  const UpstreamLogin login(Protocol::kResp2, Kind::kOwn);
  EXPECT_THAT(asked(login, kNoCredentials), ElementsAre("HELLO 2 SETNAME heatsink "));
  EXPECT_THAT(asked(login, kPassword), ElementsAre("AUTH secret ", "HELLO 2 SETNAME heatsink "));
  EXPECT_THAT(asked(login, kUserAndPassword),
              ElementsAre("AUTH heat secret ", "HELLO 2 SETNAME heatsink "));
}

TEST(UpstreamLogin, AClientsUserComesInsteadOfTheProxys) {
  const ClientUser alice{{"alice", "wonder"}};
  UpstreamLogin login(Protocol::kResp2, Kind::kOwn);
  login.log_in_as(alice);
  EXPECT_THAT(asked(login, kPassword),
              ElementsAre("AUTH alice wonder ", "HELLO 2 SETNAME heatsink "));
}

TEST(UpstreamLogin, AConnectionWithoutLoginSendsNothing) {
  const UpstreamLogin login(Protocol::kResp2, Kind::kNone);
  EXPECT_THAT(asked(login, kPassword), IsEmpty());
}

TEST(UpstreamLogin, TheLastReplyIsThatToHello) {
  UpstreamLogin login(Protocol::kResp2, Kind::kOwn);
  EXPECT_TRUE(login.take_reply(true, "+OK\r\n"));
  EXPECT_TRUE(login.take_reply(true, "*0\r\n"));
  EXPECT_EQ(login.hello_reply(), "*0\r\n");
  EXPECT_THAT(login.refusal(), IsEmpty());
}

TEST(UpstreamLogin, AnOldServerMayNotKnowHello) {
  constexpr std::string_view kUnknown = "-ERR unknown command `HELLO`\r\n";
  UpstreamLogin old(Protocol::kResp2, Kind::kOwn);
  EXPECT_TRUE(old.take_reply(true, "+OK\r\n"));
  EXPECT_TRUE(old.take_reply(false, kUnknown));
  EXPECT_THAT(old.hello_reply(), IsEmpty());
  EXPECT_THAT(old.refusal(), IsEmpty());
  UpstreamLogin needs_resp3(Protocol::kResp3, Kind::kOwn);
  EXPECT_FALSE(needs_resp3.take_reply(false, kUnknown));
  EXPECT_THAT(needs_resp3.refusal(), HasSubstr("unknown command"));
}

TEST(UpstreamLogin, ARefusalNamesTheUser) {
  UpstreamLogin own(Protocol::kResp2, Kind::kOwn);
  EXPECT_FALSE(own.take_reply(false, "-WRONGPASS invalid\r\n"));
  EXPECT_THAT(own.refusal(), HasSubstr("the server refused the login (WRONGPASS)"));
  const ClientUser alice{{"alice", "wonder"}};
  UpstreamLogin others(Protocol::kResp2, Kind::kOwn);
  others.log_in_as(alice);
  EXPECT_FALSE(others.take_reply(false, "-WRONGPASS invalid\r\n"));
  EXPECT_EQ(others.refusal(),
            "the server refused the login of the client's user: WRONGPASS invalid");
}

TEST(UpstreamLogin, AnotherProcessSaysWhetherTheServerKnowsHello) {
  UpstreamLogin knows(Protocol::kResp2, Kind::kOwn), old(Protocol::kResp2, Kind::kOwn);
  knows.take_over(true);
  old.take_over(false);
  EXPECT_EQ(knows.hello_reply(), "+OK\r\n");
  EXPECT_THAT(old.hello_reply(), IsEmpty());
}

}  // namespace
}  // namespace heatsink::proxy

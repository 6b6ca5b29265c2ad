// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "heatsink/session/testing/session_parts.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// No connection is ready: what the server decides is forwarded, or waits.
class IdentityTest : public SessionPartsTest, public Identity::Client, public ServerSide::Client {
 protected:
  void begin() {
    start_parts();
    servers.emplace(*session_parts, state, traffic, static_cast<ServerSide::Client&>(*this));
  }
  Identity identity() { return {*session_parts, state, *servers, *this}; }
  std::string client(std::initializer_list<std::string_view> words) {
    answer.clear();
    identity().client(request(words));
    return answer;
  }
  std::string auth(std::initializer_list<std::string_view> words) {
    answer.clear();
    identity().auth(request(words));
    return answer;
  }
  void find_cluster() {
    topology::AnnouncedShard all;
    all.master = {"127.0.0.1", 7001};
    all.slots = {{0, resp::kSlots - 1}};
    shared->cluster.publish({all}, all.master, 1);
  }
  // The server has answered the AUTH of this user.
  void login_answered(std::string user, bool ok) {
    state.login_asked_ = std::make_unique<LoginAsked>(LoginAsked{{std::move(user), "x"}, {}});
    identity().authenticated(Pending(), ok);
  }

  ClientState state;
  ClientTraffic traffic;
  std::optional<ServerSide> servers;
  bool is_subscriber = false, keeps_user = false, is_busy = false;
  std::string answer;

 private:
  std::uint64_t id() const override { return 5; }
  bool is_drained() const override { return !is_busy; }
  bool receives_messages() const override { return is_subscriber; }
  bool must_keep_user() const override { return keeps_user; }
  Step stall_for(Awaited why) override {
    answer = why == Awaited::kDrain ? "drains" : "waits";
    return Step::kStall;
  }
  Step reply(std::string_view wire) override {
    answer = wire.substr(0, wire.find_last_not_of("\r\n") + 1);
    return Step::kDone;
  }
  Step reply_error(std::string_view text) override { return reply("-" + std::string(text)); }
  Step refuse_without_connection(Request& request) override {
    return reply_error(request.waited_for().refusal);
  }
  Step forward_whole(Request& request) override {
    return reply("forwards " + std::string(request.args()[0]));
  }
  Forwarded forward_on_own(Request& request, PartRequest /*of*/) override {
    return {reply("forwards on its own " + std::string(request.args()[0])), true};
  }
  Step send_on(Upstream& /*connection*/, Request& /*request*/, PartRequest /*of*/,
               std::uint32_t /*number*/) override {
    return reply("sends");
  }
  void user_changed() override {}
  void close_when_flushed() override { answer = "closes"; }
  ConnectionOwner& connection_owner() override { return owner_; }
  bool has_more_state() const override { return false; }
  std::optional<Destination> destination_of_exec() const override { return std::nullopt; }
  void map_changed() override {}

  PlayedOwner owner_;
};

TEST_F(IdentityTest, TheProxyKeepsTheClientsName) {
  begin();
  EXPECT_EQ(client({"CLIENT", "GETNAME"}), "$-1");
  EXPECT_EQ(client({"CLIENT", "SETNAME", "worker-1"}), "+OK");
  EXPECT_EQ(client({"CLIENT", "GETNAME"}), "$8\r\nworker-1");
  EXPECT_THAT(client({"CLIENT", "SETNAME", "a b"}), HasSubstr("-ERR Client names cannot contain"));
  EXPECT_EQ(state.name_, "worker-1");
  EXPECT_EQ(client({"CLIENT", "SETINFO", "LIB-VER", "1.2"}), "+OK");
  EXPECT_EQ(state.library_version_, "1.2");
  EXPECT_EQ(client({"CLIENT", "SETINFO", "lib-x", "1"}), "forwards on its own CLIENT");
}

TEST_F(IdentityTest, AClientWithItsOwnConnectionNamesThat) {
  begin();
  state.pinned_ = true;
  EXPECT_EQ(client({"CLIENT", "SETNAME", "worker-1"}), "forwards on its own CLIENT");
  EXPECT_EQ(state.name_, "worker-1");
}

TEST_F(IdentityTest, CommandsWaitForEarlierReplies) {
  begin();
  is_busy = true;
  EXPECT_EQ(client({"CLIENT", "GETNAME"}), "drains");
  EXPECT_EQ(auth({"AUTH", "x"}), "drains");
  identity().hello(request({"HELLO", "3"}));
  EXPECT_EQ(answer, "drains");
  identity().select(request({"SELECT", "1"}));
  EXPECT_EQ(answer, "drains");
}

TEST_F(IdentityTest, RepliesAreTurnedOff) {
  begin();
  EXPECT_EQ(client({"CLIENT", "REPLY", "SKIP"}), "");
  EXPECT_TRUE(state.reply_skip_);
  EXPECT_EQ(client({"CLIENT", "REPLY", "OFF"}), "");
  EXPECT_TRUE(state.reply_off_ && !state.reply_skip_);
  EXPECT_EQ(client({"CLIENT", "REPLY", "x"}), "-ERR syntax error");
  EXPECT_EQ(client({"CLIENT", "REPLY", "ON"}), "+OK");
  EXPECT_FALSE(state.reply_off_);
}

TEST_F(IdentityTest, TheServerRefusesWordsThatTheProxyDoesNotKnow) {
  begin();
  for (const auto& words : std::vector<std::vector<std::string_view>>{
           {"HELLO", "4"}, {"HELLO", "3", "AUTH", "a"}, {"HELLO", "3", "SETNAME", "a b"}}) {
    Request asked(words, "HELLO");
    identity().hello(asked);
    EXPECT_EQ(answer, "forwards on its own HELLO");
  }
  EXPECT_EQ(auth({"AUTH", "a", "b", "c"}), "forwards on its own AUTH");
  identity().select(request({"SELECT", "x"}));
  EXPECT_EQ(answer, "forwards SELECT");
}

TEST_F(IdentityTest, HelloWaitsForTheServersReply) {
  begin();
  identity().hello(request({"HELLO", "3"}));
  EXPECT_EQ(answer, "waits");
  EXPECT_EQ(state.protocol_, resp::Protocol::kResp2);
}

TEST_F(IdentityTest, ALoginChangesTheUser) {
  begin();
  shared->upstream_open = false;
  identity().become_fresh();
  EXPECT_EQ(state.user_, ClientState::User::kUnauthenticated) << "the server asks for a password";
  login_answered("default", false);
  EXPECT_EQ(state.user_, ClientState::User::kUnauthenticated);
  shared->upstream_open = true;
  login_answered("default", true);
  EXPECT_EQ(state.user_, ClientState::User::kShared);
  EXPECT_EQ(state.login_asked_, nullptr);
}

TEST_F(IdentityTest, AUserOfAClusterHasServersOfItsOwn) {
  begin();
  find_cluster();
  login_answered("alice", true);
  EXPECT_EQ(state.user_name_, "alice");
  ASSERT_NE(servers->user(), nullptr);
  EXPECT_NE(&servers->upstreams(), &session_parts->upstreams);
  EXPECT_FALSE(servers->is_bound());
  identity().become_fresh();
  EXPECT_EQ(servers->user(), nullptr);
  EXPECT_EQ(&servers->upstreams(), &session_parts->upstreams);
}

TEST_F(IdentityTest, InFrontOfAClusterStateBelongsToItsUser) {
  begin();
  find_cluster();
  keeps_user = true;
  EXPECT_THAT(auth({"AUTH", "alice", "x"}), HasSubstr("must log in as another user before"));
  keeps_user = false;
  const std::string long_password(20'000, 'x');
  EXPECT_THAT(auth({"AUTH", "alice", long_password}), HasSubstr("limited to 16 KiB"));
  state.pinned_ = true;
  login_answered("alice", true);
  EXPECT_EQ(answer, "closes") << "it has begun meanwhile what belongs to its user";
}

TEST_F(IdentityTest, SelectChangesTheDatabaseOnceTheServerAgrees) {
  begin();
  Pending pending;
  pending.number = 3;
  identity().selected(pending, false);
  EXPECT_EQ(state.db_, 0U);
  identity().selected(pending, true);
  EXPECT_EQ(state.db_, 3U);
}

}  // namespace
}  // namespace heatsink::proxy

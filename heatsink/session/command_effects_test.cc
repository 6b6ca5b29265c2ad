// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/command_effects.h"

#include <gtest/gtest.h>

#include "heatsink/session/testing/session_parts.h"

namespace heatsink::proxy {
namespace {

class CommandEffectsTest : public SessionPartsTest {
 protected:
  void begin(std::initializer_list<const char*> rules = {}) { start_parts(rules); }
  Pending note(std::initializer_list<std::string_view> words, Pending* queued = nullptr) {
    Pending pending;
    effects(queued).note_keys(request(words), pending);
    return pending;
  }
  CommandEffects effects(Pending* queued = nullptr) {
    return {*session_parts, state, traffic, *upstreams, 7, queued};
  }

  ClientState state;
  ClientTraffic traffic;
};

TEST_F(CommandEffectsTest, KeysAreTouchedAndPerhapsWritten) {
  begin();
  EXPECT_EQ(note({"SET", "a", "1"}).keys.size(), 1U);
  EXPECT_TRUE(traffic.touches(name("a")) && traffic.writes(name("a")));
  EXPECT_EQ(note({"MGET", "b", "c"}).keys.size(), 2U);
  EXPECT_TRUE(traffic.touches(name("c")));
  EXPECT_FALSE(traffic.writes(name("b")) || traffic.touches(name("d")));
  EXPECT_EQ(count(copies::Count::kAccessWrites), 1U);
  EXPECT_EQ(count(copies::Count::kAccessMisses), 2U);
}

TEST_F(CommandEffectsTest, CodeMayTouchAnyKey) {
  begin();
  EXPECT_TRUE(note({"EVAL", "return 1", "0"}).unknown_keys);
  EXPECT_TRUE(traffic.touches(name("any")));
  EXPECT_TRUE(note({"ACL", "DELUSER", "a"}).flush) << "what a server may show has changed";
}

TEST_F(CommandEffectsTest, InsideMultiTheEffectsAreThoseOfExec) {
  begin();
  Pending exec;
  EXPECT_EQ(note({"SET", "a", "1"}, &exec).keys.size(), 0U);
  EXPECT_EQ(exec.keys.size(), 1U);
  note({"SELECT", "3"}, &exec);
  EXPECT_TRUE(exec.unknown_keys) << "later keys are of another database";
}

TEST_F(CommandEffectsTest, ATransactionOfManyKeysMayTouchAny) {
  begin();
  Pending exec;
  for (int i = 0; i < 10'000; ++i) note({"SET", "a", "1"}, &exec);
  EXPECT_FALSE(exec.unknown_keys);
  note({"SET", "a", "1"}, &exec);
  EXPECT_TRUE(exec.unknown_keys);
}

TEST_F(CommandEffectsTest, ScriptsThatNameTheirCommandsAreLearned) {
  begin();
  const std::string_view harmless = "return redis.call('GET', KEYS[1])";
  EXPECT_FALSE(note({"EVAL", harmless, "1", "k"}).runs_code);
  EXPECT_TRUE(note({"EVAL", "return redis.call(ARGV[1])", "0", "SWAPDB"}).runs_code);
  EXPECT_TRUE(note({"EVALSHA", "0123456789012345678901234567890123456789", "0"}).runs_code);
  upstreams->version = 1;
  EXPECT_FALSE(note({"EVAL", "return redis.call(ARGV[1])", "0"}).runs_code)
      << "a cluster has no SWAPDB";
}

TEST_F(CommandEffectsTest, AClientThatTracksKeysFencesWhatItReads) {
  begin();
  state.no_local_reads_ = true;
  EXPECT_TRUE(note({"GET", "a"}).keys.has_writes());
}

}  // namespace
}  // namespace heatsink::proxy

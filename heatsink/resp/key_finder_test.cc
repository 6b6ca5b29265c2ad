// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/key_finder.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "heatsink/resp/command_table.h"

namespace heatsink::resp {
namespace {

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word == "''" ? "" : word);
  return out;
}

std::string shown(Keys keys, const std::vector<KeyRef>& refs) {
  std::string out;
  for (const KeyRef& ref : refs)
    out += (out.empty() ? "" : " ") + std::string(ref.write ? "w" : "r") + std::to_string(ref.arg);
  if (keys == Keys::kUnknownReads) out += " +reads";
  if (keys == Keys::kUnknown) out += " +any";
  return out;
}

std::string keys_by(const Command& command, const std::vector<std::string>& call) {
  std::vector<KeyRef> refs = {{99, true}};  // what an earlier call left
  const std::vector<std::string_view> args(call.begin(), call.end());
  const Keys keys = find_keys(command, args, refs);
  return shown(keys, refs);
}

// "r1 w2": argument 1 is a key that is read, 2 one that is written; "+reads", "+any": others may be
// read, changed.
std::string keys_of(const std::string& line) {
  const std::vector<std::string> call = words(line);
  const std::vector<std::string_view> args(call.begin(), call.end());
  const Command* command = CommandTable::built_in().find(args);
  return command == nullptr ? "(not a command)" : keys_by(*command, call);
}

TEST(FindKeys, Plain) {
  EXPECT_EQ(keys_of("GET k"), "r1");
  EXPECT_EQ(keys_of("SET k v"), "w1");
  EXPECT_EQ(keys_of("MGET a b c"), "r1 r2 r3");
  EXPECT_EQ(keys_of("MSET a 1 b 2"), "w1 w3");
  EXPECT_EQ(keys_of("MSETNX a 1 b 2"), "w1 w3");
  EXPECT_EQ(keys_of("DEL a b"), "w1 w2");
  EXPECT_EQ(keys_of("GETEX k EX 3"), "w1");
  EXPECT_EQ(keys_of("LINSERT k BEFORE a b"), "w1");
  EXPECT_EQ(keys_of("COPY a b"), "r1 w2");
  EXPECT_EQ(keys_of("RENAME a b"), "w1 w2");
  EXPECT_EQ(keys_of("BITOP AND d a b"), "w2 r3 r4");
  EXPECT_EQ(keys_of("BLPOP a b 0"), "w1 w2");
  EXPECT_EQ(keys_of("RESTORE k 0 x"), "w1");
  EXPECT_EQ(keys_of("PFMERGE d a"), "w1 r2");
  EXPECT_EQ(keys_of("OBJECT ENCODING k"), "r2");
  EXPECT_EQ(keys_of("MEMORY USAGE k SAMPLES 5"), "r2");
  EXPECT_EQ(keys_of("XGROUP CREATE k g $"), "w2");
  EXPECT_EQ(keys_of("WATCH a b"), "r1 r2");
}

TEST(FindKeys, PfcountWritesItsEstimateIntoTheValue) { EXPECT_EQ(keys_of("PFCOUNT a b"), "w1 w2"); }

TEST(FindKeys, CountedKeys) {
  EXPECT_EQ(keys_of("ZUNIONSTORE d 2 a b WEIGHTS 1 2"), "w1 r3 r4");
  EXPECT_EQ(keys_of("ZINTERSTORE d 1 a"), "w1 r3");
  EXPECT_EQ(keys_of("ZDIFFSTORE d 1 a"), "w1 r3");
  EXPECT_EQ(keys_of("SINTERCARD 2 a b LIMIT 1"), "r2 r3");
  EXPECT_EQ(keys_of("LMPOP 2 a b LEFT"), "w2 w3");
  EXPECT_EQ(keys_of("ZMPOP 1 a MIN"), "w2");
  EXPECT_EQ(keys_of("BLMPOP 0 2 a b LEFT"), "w3 w4");
}

TEST(FindKeys, HostileCounts) {
  EXPECT_EQ(keys_of("LMPOP 9223372036854775807 a b LEFT"), " +any");
  EXPECT_EQ(keys_of("LMPOP 9223372036854775808 a b LEFT"), " +any");
  EXPECT_EQ(keys_of("LMPOP -1 a b LEFT"), " +any");
  EXPECT_EQ(keys_of("LMPOP +1 a b LEFT"), " +any");
  EXPECT_EQ(keys_of("LMPOP x a b LEFT"), " +any");
  EXPECT_EQ(keys_of("LMPOP 4 a b LEFT"), "w2 w3 w4 +any");
  EXPECT_EQ(keys_of("ZINTER 4 a b"), "r2 r3 +reads");
  EXPECT_EQ(keys_of("GET"), " +reads");
  EXPECT_EQ(keys_of("SET"), " +any");
  EXPECT_EQ(keys_of("DEL"), " +any");
}

TEST(FindKeys, Scripts) {
  EXPECT_EQ(keys_of("EVAL s 2 a b c"), "w3 w4");
  EXPECT_EQ(keys_of("EVALSHA s 1 a"), "w3");
  EXPECT_EQ(keys_of("EVAL s 0"), " +any");
  EXPECT_EQ(keys_of("EVAL s 0 x"), " +any");
  EXPECT_EQ(keys_of("EVAL_RO s 1 a"), "r3");
  EXPECT_EQ(keys_of("EVALSHA_RO s 0"), " +reads");
  EXPECT_EQ(keys_of("FCALL f 1 a"), "w3 +any");
  EXPECT_EQ(keys_of("FCALL f 0"), " +any");
  EXPECT_EQ(keys_of("FCALL_RO f 1 a"), "r3");
  EXPECT_EQ(keys_of("FCALL_RO f 0"), " +reads");
}

TEST(FindKeys, Sort) {
  EXPECT_EQ(keys_of("SORT k"), "r1");
  EXPECT_EQ(keys_of("SORT k LIMIT 0 1 ALPHA store d"), "r1 w7");
  EXPECT_EQ(keys_of("SORT k STORE a STORE b"), "r1 w5");
  EXPECT_EQ(keys_of("SORT k STORE store ALPHA"), "r1 w3");
  EXPECT_EQ(keys_of("SORT k BY nosort GET #"), "r1");
  EXPECT_EQ(keys_of("SORT k BY w_*"), "r1 +reads");
  EXPECT_EQ(keys_of("SORT k GET h_*->f STORE d"), "r1 w5 +reads");
  EXPECT_EQ(keys_of("SORT k GET store"), "r1");
  EXPECT_EQ(keys_of("SORT k STORE"), "r1");
  EXPECT_EQ(keys_of("SORT_RO k BY w_* STORE d"), "r1 +reads");
  EXPECT_EQ(keys_of("SORT"), " +any");
}

TEST(FindKeys, Migrate) {
  EXPECT_EQ(keys_of("MIGRATE h 1 k 0 100"), "w3");
  EXPECT_EQ(keys_of("MIGRATE h 1 k 0 100 COPY"), "w3");
  EXPECT_EQ(keys_of("MIGRATE h 1 '' 0 100 REPLACE KEYS a b"), "w8 w9");
  EXPECT_EQ(keys_of("MIGRATE h 1 '' 0 100 AUTH keys KEYS a"), "w9");
  EXPECT_EQ(keys_of("MIGRATE h 1 '' 0 100 AUTH2 keys keys KEYS a"), "w10");
  EXPECT_EQ(keys_of("MIGRATE h 1 k 0 100 KEYS a"), "w3");
  EXPECT_EQ(keys_of("MIGRATE h"), " +any");
}

TEST(FindKeys, Geo) {
  EXPECT_EQ(keys_of("GEORADIUS k 1 1 1 m"), "r1");
  EXPECT_EQ(keys_of("GEORADIUS k 1 1 1 m STORE d"), "r1 w7");
  EXPECT_EQ(keys_of("GEORADIUS k 1 1 1 m STORE d STORE e"), "r1 w7 w9");
  EXPECT_EQ(keys_of("GEORADIUSBYMEMBER k m 1 m storedist d"), "r1 w6");
  EXPECT_EQ(keys_of("GEORADIUS_RO k 1 1 1 m"), "r1");
  EXPECT_EQ(keys_of("GEOSEARCHSTORE d k FROMMEMBER m BYRADIUS 1 m"), "w1 r2");
}

TEST(FindKeys, Streams) {
  EXPECT_EQ(keys_of("XREAD STREAMS a b 0 0"), "r2 r3");
  EXPECT_EQ(keys_of("XREAD COUNT 1 BLOCK 0 STREAMS a 0"), "r6");
  EXPECT_EQ(keys_of("XREADGROUP GROUP streams streams STREAMS a >"), "w5");
  EXPECT_EQ(keys_of("XREADGROUP GROUP g c CLAIM 10 NOACK STREAMS a b > >"), "w8 w9");
  EXPECT_EQ(keys_of("XREAD STREAMS a b 0"), "r2 +reads");
  EXPECT_EQ(keys_of("XREADGROUP GROUP g c"), " +any");
  EXPECT_EQ(keys_of("XREADGROUP GROUP"), " +any");
}

TEST(FindKeys, BitField) {
  EXPECT_EQ(keys_of("BITFIELD k GET u8 0 GET u8 1"), "r1");
  EXPECT_EQ(keys_of("BITFIELD k GET u8 0 SET u8 0 1"), "w1");
  EXPECT_EQ(keys_of("BITFIELD k OVERFLOW SAT INCRBY u8 0 1"), "w1");
  EXPECT_EQ(keys_of("BITFIELD_RO k GET u8 0"), "r1");
}

TEST(FindKeys, NoKeysAtAll) {
  for (const char* call :
       {"PING", "PUBLISH c m", "SPUBLISH c m", "SSUBSCRIBE c", "CONFIG GET x", "CONFIG SET a b",
        "INFO", "SCRIPT LOAD s", "SCRIPT FLUSH", "FUNCTION LOAD f", "FUNCTION FLUSH", "COMMAND",
        "EXEC", "MULTI", "SELECT 1", "CLIENT ID", "CLUSTER NODES", "WAIT 0 0", "MODULE LIST"}) {
    EXPECT_EQ(keys_of(call), "") << call;
  }
}

TEST(FindKeys, AnyKeyMayChange) {
  for (const char* call :
       {"FLUSHALL", "FLUSHDB ASYNC", "SWAPDB 0 1", "DEBUG RELOAD", "REPLICAOF NO ONE",
        "SLAVEOF a 1", "FAILOVER", "CLUSTER SETSLOT 1 STABLE", "CLUSTER RESET", "MODULE LOAD x",
        "XGROUP NOSUCH k", "CLIENT NOSUCH"}) {
    EXPECT_EQ(keys_of(call), " +any") << call;
  }
}

TEST(FindKeys, AnyKeyMayBeRead) {
  for (const char* call : {"KEYS *", "SCAN 0", "RANDOMKEY", "DBSIZE"})
    EXPECT_EQ(keys_of(call), " +reads") << call;
}

TEST(FindKeys, CommandsOfModulesWithoutKeys) {
  EXPECT_EQ(keys_by(Command{.name = "m.do", .flags = kModule}, {"m.do"}), " +any");
  EXPECT_EQ(keys_by(Command{.name = "m.set", .flags = kModule | kWrite}, {"m.set"}), " +any");
  EXPECT_EQ(keys_by(Command{.name = "m.search", .flags = kModule | kReadonly}, {"m.search"}),
            " +reads");
}

KeySpec keyword_spec(std::string keyword, std::int32_t start, std::int32_t last_key) {
  return KeySpec{.begin = KeySpec::Begin::kKeyword,
                 .index = start,
                 .keyword = std::move(keyword),
                 .find = KeySpec::Find::kRange,
                 .last_key = last_key,
                 .writes = true};
}

TEST(FindKeys, KeywordSpecs) {
  Command command{
      .name = "m.set", .flags = kModule | kWrite, .key_specs = {keyword_spec("keys", 1, -1)}};
  EXPECT_EQ(keys_by(command, words("m.set x KEYS a b")), "w3 w4");
  EXPECT_EQ(keys_by(command, words("m.set x a b")), "");
  EXPECT_EQ(keys_by(command, words("m.set x KEYS")), " +any");
  command.key_specs = {keyword_spec("keys", -2, 0)};
  EXPECT_EQ(keys_by(command, words("m.set KEYS a KEYS b")), "w4");
  EXPECT_EQ(keys_by(command, words("m.set KEYS a x y")), "w2");
  command.key_specs = {keyword_spec("keys", -9, 0)};
  EXPECT_EQ(keys_by(command, words("m.set KEYS a")), "");
}

TEST(FindKeys, SpecsThatOverlapOrComeLateGiveEachKeyOnce) {
  const auto at = [](std::int32_t index, std::int32_t last_key, bool writes) {
    return KeySpec{.begin = KeySpec::Begin::kIndex,
                   .index = index,
                   .find = KeySpec::Find::kRange,
                   .last_key = last_key,
                   .reads = !writes,
                   .writes = writes};
  };
  const Command command{.name = "m.x",
                        .key_specs = {at(3, 0, false), at(1, -1, false), at(2, 0, true)}};
  EXPECT_EQ(keys_by(command, words("m.x a b c")), "r1 w2 r3");
}

TEST(FindKeys, IncompleteSpecs) {
  Command command{.name = "m.x", .key_specs = {keyword_spec("keys", 1, 0), KeySpec{.reads = true}}};
  EXPECT_EQ(keys_by(command, words("m.x KEYS a")), "w2 +reads");
  command.key_specs[0].incomplete = true;
  EXPECT_EQ(keys_by(command, words("m.x KEYS a")), "w2 +any");
}

}  // namespace
}  // namespace heatsink::resp

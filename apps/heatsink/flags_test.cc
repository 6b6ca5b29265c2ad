// SPDX-License-Identifier: Apache-2.0
// Command lines that a verb refuses before it does anything: exit code 2, and the fault.
#include "apps/heatsink/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/heatsink/verb_for_test.h"

namespace heatsink::app {
namespace {

using ::testing::HasSubstr;

struct Misuse {
  std::vector<std::string> words;
  const char* said;
};

TEST(Flags, WhatIsWrittenWronglyIsMisuse) {
  const std::string server = "redis://127.0.0.1:1";  // where nobody listens
  const Misuse all[] = {
      {{"top", server, "--source", "lfo"}, "--source: unknown source 'lfo' (did you mean lfu?)"},
      {{"top", server, "--source", ""}, "unknown source ''"},
      {{"top", server, "--source", "lfu,"}, "unknown source ''"},
      {{"top", "--source", "nonsense"}, "unknown source 'nonsense'"},
      {{"top", server, "--source", "proxy,lfu"}, "proxy cannot be combined"},
      {{"top", "--source", "lfu"}, "needs a server"},
      {{"top", server, "--sort", "size"}, "--sort: unknown order 'size'"},
      {{"top", server, "--for", "soon"}, "--for: 'soon' is not a duration"},
      {{"top", server, "--limit", "-1"}, "--limit: '-1' is not a number in 0 .. 100000"},
      {{"top", server, "--node", "some"}, "--node: a node must be all, busiest"},
      {{"explain", "k", server, "--source", "lfo"}, "did you mean lfu?"},
      {{"explain", "k", server, "--db", "-1"}, "--db: '-1' is not a number in 0 .. 4294967295"},
      {{"explain", "k", server, "--db", "4294967296"}, "--db: '4294967296' is not a number in"},
      {{"load", "--zipf", "nan"}, "--zipf: 'nan' is not a number in 0 .. 10"},
      {{"load", "--keys", "0"}, "--keys: '0' is not a number in 1 .. 1e+12"},
      {{"load"}, "--target is missing: name the server or proxy"},
      {{"load", "--rate", "10"}, "begin with 'heatsink-load:'"},
      {{"load", "--targte", "redis://h"}, "unknown flag '--targte': did you mean '--target'?"},
      {{"load", "one", "two"}, "unexpected arguments 'one' 'two'"},
      {{"stats", "--nope"}, "unknown flag '--nope'"},
      {{"config", "chekc"}, "unknown verb 'chekc': did you mean 'check'?"},
      {{"config", "print", "--mrkdown"}, "unknown flag '--mrkdown': did you mean '--markdown'?"},
      {{"load", "--target", "rediss://h"}, "'heatsink load' has no TLS"},
      {{"replay", "-", "--capacities", "0"},
       "--capacities: a capacity must be 1 to 1000000 copies"},
      {{"stats", server, "--window", "0s"}, "must be longer than 0"},
      {{"warm", "k", "--for", "1m", "--rate", "nan"}, "--rate: 'nan' is not a number in"},
      {{"warm", "k", "--until", "25:00"}, "'25:00'"},
      {{"warm", "k", "--for", "200h"}, "--for: 200h is too long: 168h is the longest"},
      {{"warm", "--pattern", "a[b", "--for", "1m"},
       "close it with ']', or write \\[ for a literal one"},
      {{"top", "http://db7"}, "not a server's address: write host[:port]"},
  };
  for (const Misuse& each : all) {
    const Outcome outcome = run_verb(each.words[0], {each.words.begin() + 1, each.words.end()});
    EXPECT_EQ(outcome.code, kMisused) << testing::PrintToString(each.words);
    EXPECT_THAT(outcome.err, HasSubstr(each.said)) << testing::PrintToString(each.words);
  }
}

}  // namespace
}  // namespace heatsink::app

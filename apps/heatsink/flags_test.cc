// SPDX-License-Identifier: Apache-2.0
// Command lines that a verb refuses before it does anything: exit code 2, and what is wrong.
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
      {{"top", server, "--source", "lfo"},
       "--source: there is no source 'lfo' (did you mean lfu?)"},
      {{"top", server, "--source", ""}, "there is no source ''"},
      {{"top", server, "--source", "lfu,"}, "there is no source ''"},
      {{"top", "--source", "nonsense"}, "there is no source 'nonsense'"},
      {{"top", server, "--source", "proxy,lfu"}, "proxy stands alone"},
      {{"top", "--source", "lfu"}, "needs a server"},
      {{"top", server, "--sort", "size"}, "--sort: there is no order 'size'"},
      {{"top", server, "--for", "soon"}, "--for: 'soon' is not a duration"},
      {{"top", server, "--limit", "-1"}, "--limit: '-1' is not within 0 .. 100000"},
      {{"top", server, "--node", "some"}, "--node: a node is all, busiest"},
      {{"explain", "k", server, "--source", "lfo"}, "did you mean lfu?"},
      {{"explain", "k", server, "--db", "-1"}, "--db: '-1' is not within 0 .. 4294967295"},
      {{"explain", "k", server, "--db", "4294967296"}, "--db: '4294967296' is not within"},
      {{"load", "--zipf", "nan"}, "--zipf: 'nan' is not within 0 .. 10"},
      {{"load", "--keys", "0"}, "--keys: '0' is not within 1 .. 1e+12"},
      {{"load", "--target", "rediss://h"}, "the load speaks no TLS"},
      {{"replay", "-", "--capacities", "0"}, "--capacities: a capacity is 1 .. 4096 copies"},
      {{"stats", server, "--window", "0s"}, "must be above 0"},
      {{"warm", "k", "--for", "1m", "--rate", "nan"}, "--rate: 'nan' is not within"},
      {{"warm", "k", "--until", "25:00"}, "'25:00'"},
      {{"warm", "k", "--for", "200h"}, "--for: 200h is too long: 168h at most"},
      {{"warm", "--pattern", "a[b", "--for", "1m"},
       "close it with ], or write \\[ for a plain one"},
      {{"top", "http://db7"}, "a server is written host[:port]"},
  };
  for (const Misuse& each : all) {
    const Outcome outcome = run_verb(each.words[0], {each.words.begin() + 1, each.words.end()});
    EXPECT_EQ(outcome.code, kMisused) << testing::PrintToString(each.words);
    EXPECT_THAT(outcome.err, HasSubstr(each.said)) << testing::PrintToString(each.words);
  }
}

}  // namespace
}  // namespace heatsink::app

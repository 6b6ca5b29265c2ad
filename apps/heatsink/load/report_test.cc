// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/report.h"

#include <gtest/gtest.h>

namespace heatsink::app {
namespace {

using std::chrono::seconds;

Tally sample() {
  Tally tally;
  tally.reads = 9'900;
  tally.writes = 100;
  for (int i = 0; i < 98; ++i) tally.latency.add(Millis(1));
  tally.latency.add(Millis(20));
  tally.latency.add(Millis(20));
  return tally;
}

TEST(LoadReport, OneLineASecond) {
  EXPECT_EQ(tally_line(sample(), seconds(65), seconds(1)),
            " 1m05s   10.0k/s  writes    100/s  p50   1.02 ms  p99  20.00 ms  errors 0\n");
}

TEST(LoadReport, TheEndNamesEveryErrorAndEscapesIt) {
  Tally tally = sample();
  tally.nils = 3;
  tally.given_up = 7;
  tally.add_error("LOADING Redis is loading\x1b[2J");
  tally.add_error("connection refused", 12);
  EXPECT_EQ(tally_text(tally, seconds(10)),
            "10000 operations in 10s (1.0k/s): 9900 reads, 100 writes\nlatency: p50 1.02 ms, p99 "
            "20.00 ms, max 20.00 ms\nreads of missing keys: 3\nnot sent because the server was too "
            "slow for --rate: 7\nerrors: 13\n        12  connection refused\n         1  LOADING "
            "Redis is loading\\x1b[2J\n");
}

TEST(Tally, ErrorTextsAreBoundedAndNoneIsLost) {
  Tally one, two;
  for (int i = 0; i < 100; ++i) one.add_error("MOVED " + std::to_string(i));
  two.add_error("MOVED 5", 4);
  two.add_error("new");
  one.merge(two);
  EXPECT_EQ(one.errors.size(), Tally::kErrorTextsMax + 1);
  EXPECT_EQ(one.error_count(), 105u);
  EXPECT_EQ(one.errors.at("MOVED 5"), 5u);
  EXPECT_EQ(one.errors.at("other errors"), 69u);
}

TEST(LoadReport, JsonHasTheSameFigures) {
  Tally tally = sample();
  tally.nils = 3;
  tally.given_up = 7;
  tally.add_error("LOADING", 2);
  EXPECT_EQ(tally_json(tally, seconds(2)),
            R"({"operations":10000,"seconds":2.000000,"reads":9900,"writes":100,"nils":3,)"
            R"("not_sent":7,"errors":2,"p50_ms":1.016,"p99_ms":20.000,"max_ms":20.000})"
            "\n");
}

}  // namespace
}  // namespace heatsink::app

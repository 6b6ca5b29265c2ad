// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

namespace heatsink::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Stats some() {
  Stats stats;
  stats.hits = 12'345'678'901;
  stats.hit_ratio = 0.25;
  stats.copies_bytes = 4096;
  return stats;
}

TEST(Metrics, HaveAHelpAndATypeEach) {
  const std::string text = metrics_text(some());
  EXPECT_THAT(text, HasSubstr("# HELP heatsink_local_hits_total Reads answered from a local copy.\n"
                              "# TYPE heatsink_local_hits_total counter\n"
                              "heatsink_local_hits_total 12345678901\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE heatsink_hit_ratio gauge\nheatsink_hit_ratio 0.25\n"));
  EXPECT_THAT(text, HasSubstr("\nheatsink_cache_bytes 4096\n"));
}

// Follows the format's definition, line by line, without duplicate names.
TEST(Metrics, AreInTheFormatThatIsScraped) {
  std::istringstream lines(metrics_text(some()));
  const std::regex form(
      "# HELP [a-z_]+ .+|# TYPE [a-z_]+ (counter|gauge)|[a-z_]+ [0-9.]+(e[+-][0-9]+)?");
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(std::regex_match(line, form)) << line;
    if (line[0] == '#') continue;
    EXPECT_TRUE(names.insert(line.substr(0, line.find(' '))).second) << line;
  }
  EXPECT_EQ(names.size(), count_rows().size() + 8);
}

TEST(Metrics, TellOfCoherenceWhereItIsPromised) {
  Stats stats = some();
  EXPECT_THAT(metrics_text(stats), Not(HasSubstr("heatsink_coherence_up")));
  stats.level = "key";
  EXPECT_THAT(metrics_text(stats), HasSubstr("\nheatsink_coherence_up 1\n"));
  stats.server_problem = "it does not answer";
  EXPECT_THAT(metrics_text(stats), HasSubstr("\nheatsink_coherence_up 0\n"));
}

}  // namespace
}  // namespace heatsink::client

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/reference_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace heatsink {
namespace {

using ::testing::HasSubstr;

std::string row_of(std::string_view help) {
  ReferenceTable table({"option", "default", "meaning"});
  table.add("a.b", {"`1`"}, help);
  return table.text();
}

TEST(ReferenceTable, KeepsShortHelpInItsRow) {
  EXPECT_EQ(row_of("Size. 0: no limit."),
            "| option | default | meaning |\n|---|---|---|\n"
            "| `a.b` | `1` | Size. 0: no limit. |\n");
}

TEST(ReferenceTable, HasTheSentencesThatDoNotFitBelow) {
  const std::string first = std::string(100, 'x') + ".";
  const std::string second = std::string(60, 'y') + " z.";
  EXPECT_EQ(row_of(first + " " + second),
            "| option | default | meaning |\n|---|---|---|\n"
            "| `a.b` | `1` | " +
                first + " |\n\nDetails:\n\n* `a.b`: " + second + "\n");
}

TEST(ReferenceTable, WrapsWhatStandsBelow) {
  std::string help = "First.";
  for (int i = 0; i < 60; ++i) help += " word";
  std::istringstream lines(row_of(help + "."));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_EQ(count, 10u);
}

TEST(ReferenceTable, EscapesBarsAndLinksGuides) {
  EXPECT_THAT(row_of("a | b: docs/guides/top.md, docs/guides/log.md."),
              HasSubstr("| a \\| b: [top](../guides/top.md), [log](../guides/log.md). |\n"));
  EXPECT_THAT(row_of("In docs/guides/."), HasSubstr("| In docs/guides/. |\n"));
}

}  // namespace
}  // namespace heatsink

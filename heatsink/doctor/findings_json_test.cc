// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/findings_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::doctor {
namespace {

using ::testing::HasSubstr;

TEST(FindingsJson, IsReadAsItWasWritten) {
  Diagnosis told;
  told.is_ready = false;
  told.problem = "a \"reason\"";
  told.checked_at = "2026-11-21T12:00:00.000Z";
  told.left_out = 3;
  told.findings = {{Level::kError, "what", "cost", "mend", "paste", "", "server-kind"},
                   {Level::kOk, "fine", "", "", "", "", "resp3"}};
  const std::string json = diagnosis_json(told);
  EXPECT_THAT(json, HasSubstr(R"("counts":{"ok":1,"note":0,"warning":0,"error":1})"));
  const Result<Diagnosis> read = parse_diagnosis(json);
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->is_ready);
  EXPECT_EQ(read->problem, told.problem);
  EXPECT_EQ(read->checked_at, told.checked_at);
  EXPECT_EQ(read->left_out, 3U);
  ASSERT_EQ(read->findings.size(), 2U);
  EXPECT_EQ(read->findings[0].level, Level::kError);
  EXPECT_EQ(read->findings[0].paste, "paste");
  EXPECT_EQ(read->findings[1].code, "resp3");
}

TEST(FindingsJson, OtherAnswersAreRefusedOrHarmless) {
  for (const char* text : {"", "ok", "[]", "{}", R"({"findings":1})", R"({"findings":[)"})
    EXPECT_FALSE(parse_diagnosis(text).ok()) << text;
  const auto read = parse_diagnosis(
      R"({"findings":[1,null,{"level":7,"what":[]},{"level":"dire"}],"checks_left_out":-1})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->findings.size(), 2U);
  EXPECT_EQ(read->findings[1].level, Level::kNote);
  EXPECT_EQ(read->left_out, 0U);
}

TEST(FindingsJson, HasALimit) {
  std::string many = R"({"findings":[{})";
  for (std::size_t i = 0; i < 2 * kFindingsMax; ++i) many += ",{}";
  EXPECT_EQ(parse_diagnosis(many + "]}")->findings.size(), kFindingsMax);
}

}  // namespace
}  // namespace heatsink::doctor

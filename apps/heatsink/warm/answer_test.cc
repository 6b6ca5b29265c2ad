// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/warm/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace heatsink::app {
namespace {

using testing::HasSubstr;

constexpr const char* kAnswer = R"({"at": "x", "problem": "", "keys": [
  {"name": "a", "name_base64": "YQ==", "name_truncated": false, "db": 0, "outcome": "loaded",
   "note": "", "warmed_until": "2026-11-21T20:30:00.000Z"},
  {"name": "b", "name_base64": "Yg==", "name_truncated": false, "db": 3, "outcome": "missing",
   "note": "no such key", "warmed_until": "2026-11-21T20:30:00.000Z"}]})";

TEST(WarmAnswer, TheSummaryNamesWhatIsNotLoaded) {
  const std::vector<WarmRow> rows = parse_warm_answer(kAnswer).value();
  EXPECT_EQ(warm_summary(rows),
            "warmed until 2026-11-21T20:30:00.000Z: 1 loaded, 1 missing\n"
            "  b (db 3): missing: no such key\n");
  EXPECT_TRUE(all_done(rows));
  EXPECT_THAT(warm_table(rows), HasSubstr("loaded     db 0  a\n"));
  EXPECT_THAT(warm_rows_json(rows), HasSubstr(R"("outcome":"missing")"));
}

TEST(WarmAnswer, ARefusedKeyIsNotDone) {
  std::vector<WarmRow> rows = parse_warm_answer(kAnswer).value();
  for (const char* outcome : {"refused", "loading", "not-warmed"}) {
    rows[0].outcome = outcome;
    EXPECT_FALSE(all_done(rows)) << outcome;
  }
}

TEST(WarmAnswer, LongListsOfTroubleEnd) {
  const std::vector<WarmRow> rows(kTroubleMax + 7, {"", "k", 0, "refused", "full", ""});
  EXPECT_THAT(warm_summary(rows), HasSubstr("and 7 more"));
}

constexpr const char* kSearch = R"({"problem": "", "keys": [], "searches": [{"id": 7,
  "pattern": "sale:*", "db": 0, "state": "finished", "note": "the limit is 2 keys",
  "progress": 1E0, "found": 30, "warmed": 2, "loading": 1, "left_out": 28,
  "left_out_names": ["sale:3", "sale:4"], "warmed_until": "2026-11-21T20:30:00.000Z"}]})";

TEST(WarmAnswer, WhatASearchLeavesOutIsCounted) {
  const WarmSearchRow search = parse_warm_search(kSearch).value();
  EXPECT_EQ(search.id, 7U);
  EXPECT_EQ(search.loading, 1U);
  EXPECT_EQ(search.progress, 1);
  EXPECT_TRUE(search.over());
  EXPECT_EQ(search_summary(search),
            "30 keys match sale:* (db 0); 28 left out: the limit is 2 keys\n"
            "  left out: sale:3 sale:4 and 26 more\n");
  EXPECT_THAT(warm_rows_json({}, search.json), HasSubstr(R"("search":{"id":7,)"));
}

TEST(WarmAnswer, ASearchThatFindsAllOrNothing) {
  WarmSearchRow search;
  search.pattern = "a*";
  search.state = "finished";
  EXPECT_EQ(search_summary(search), "no key matches a* (db 0)\n");
  search.found = search.warmed = 1;
  EXPECT_EQ(search_summary(search), "1 key matches a* (db 0)\n");
  search.state = "ended";
  EXPECT_EQ(search_summary(search), "1 key matches a* (db 0); the search was stopped\n");
  search.state = "searching";
  EXPECT_FALSE(search.over());
}

TEST(WarmAnswer, WhatIsNoSearchIsSaidToBeNone) {
  const std::string whole = kSearch;
  for (const char* member :
       {"id", "pattern", "db", "state", "note", "progress", "found", "left_out_names"}) {
    std::string damaged = whole;
    damaged.insert(damaged.find("\"" + std::string(member) + "\"") + 1, "x");
    EXPECT_EQ(parse_warm_search(damaged).error().code, ErrorCode::kProtocol) << member;
  }
  EXPECT_EQ(parse_warm_search(kAnswer).error().code, ErrorCode::kProtocol);
  EXPECT_EQ(parse_warm_search(R"({"problem": "gone"})").error().message, "gone");
}

TEST(WarmAnswer, WhatIsNotAnAnswerIsSaidToBeNone) {
  for (const char* body : {"", "[]", "{}", R"({"problem": "", "keys": [1]})",
                           R"({"problem": "", "keys": {}})", R"({"problem": 1, "keys": []})"})
    EXPECT_EQ(parse_warm_answer(body).error().code, ErrorCode::kProtocol) << body;
  EXPECT_EQ(parse_warm_answer(R"({"problem": "busy"})").error().message, "busy");
}

TEST(WarmAnswer, ATerminalIsNotAtTheMercyOfAName) {
  const std::vector<WarmRow> rows(1, {"", "\x1b[2J", 0, "refused", "\x1b", "\x1b"});
  EXPECT_EQ((warm_summary(rows) + warm_table(rows)).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace heatsink::app

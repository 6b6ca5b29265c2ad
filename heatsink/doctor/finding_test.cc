// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "heatsink/base/testing/source_dir.h"
#include "heatsink/doctor/facts_for_test.h"

namespace heatsink::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr TextOptions kPlain{};

// The deployment of the guide: one right is missing, and there are more proxies than the server's
// tracking table has room for.
Facts facts_of_guide() {
  Facts facts = healthy();
  facts.upstream = *net::parse_redis_url("redis://heatsink:secret@127.0.0.1:6379");
  facts.server.rights = policy::needed_rights("heatsink", "heatsink:heartbeat", false);
  facts.server.right_replies[3] =
      error_value("NOPERM this user has no permissions to run the 'getrange' command");
  facts.server.replies["PING"] = error_value("NOAUTH Authentication required.");
  set_config(facts.server, "tracking-table-max-keys", "50000");
  facts.machine.open_files_max = 1024;
  return facts;
}

TEST(Text, TheGuideShowsWhatIsPrinted) {
  std::ifstream page(std::string(kSourceDir) + "/docs/guides/doctor.md");
  std::ostringstream text;
  text << page.rdbuf();
  const Examination done = examine(facts_of_guide());
  EXPECT_THAT(text.str(), HasSubstr(findings_text(done.findings, done.left_out, kPlain)));
}

TEST(Text, ColourIsForTerminals) {
  const Findings one = {{Level::kWarning, "w", "c", "m", "CONFIG SET a b", "", "code"}};
  EXPECT_THAT(findings_text(one, 0, kPlain), Not(HasSubstr("\x1b")));
  EXPECT_THAT(findings_text(one, 0, {.has_colour = true}), HasSubstr("\x1b[33mwarning"));
}

TEST(Text, LinesToPasteAreWholeAndSayWhere) {
  const std::string line = "CONFIG SET a " + std::string(200, 'b');
  const std::string text =
      findings_text({{Level::kNote, "w", "c", "m", line, "", "code"}}, 0, kPlain);
  EXPECT_THAT(text, HasSubstr("redis-cli: " + line + "\n"));
  EXPECT_THAT(findings_text({{Level::kNote, "w", "c", "m", "sysctl x", "", "code"}}, 0, kPlain),
              HasSubstr("paste: sysctl x\n"));
}

TEST(Text, NoControlCharacterReachesATerminal) {
  const std::string bad = "a\x1b[31m\nb\x07";
  const std::string text = findings_text({{Level::kError, bad, bad, bad, bad, "", bad}}, 0, kPlain);
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
}

TEST(Text, TheLastLineCounts) {
  EXPECT_THAT(findings_text({{Level::kOk, "fine"}}, 2, kPlain),
              HasSubstr("0 errors, 0 warnings, 0 notes, 1 ok; 2 checks not made"));
}

TEST(Text, ALineOfTheLogSaysWhatToDo) {
  EXPECT_EQ(log_line({Level::kError, "what", "cost", "mend", "PASTE x", "", "code"}),
            "code: what: cost; mend: PASTE x");
}

}  // namespace
}  // namespace heatsink::doctor

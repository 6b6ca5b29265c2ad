// SPDX-License-Identifier: Apache-2.0
// The verb without a server; tests/integration/doctor_test.py has those with one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/verb_for_test.h"
#include "heatsink/base/testing/source_dir.h"

namespace heatsink::app {
namespace {

using ::testing::HasSubstr;

TEST(DoctorVerb, ReferencePageIsUpToDate) {
  std::ifstream page(std::string(heatsink::kSourceDir) + "/docs/reference/doctor.md");
  std::ostringstream text;
  text << page.rdbuf();
  EXPECT_EQ(run_verb("doctor", {"--list", "--markdown"}).out, text.str())
      << "run: heatsink doctor --list --markdown > docs/reference/doctor.md";
}

TEST(DoctorVerb, ListsItsChecks) {
  const Outcome listed = run_verb("doctor", {"--list"});
  EXPECT_EQ(listed.code, kDone);
  EXPECT_THAT(listed.out, HasSubstr("\nserver-kind           Whether the server has all keys"));
}

TEST(DoctorVerb, AWrongCommandLineChecksNothing) {
  for (std::vector<std::string> words : {std::vector<std::string>{"redis://h:x"},
                                         {"--markdown"},
                                         {"--token-file", "/none"},
                                         {"h:1", "--admin", "127.0.0.1:1"},
                                         {"--admin", "x"},
                                         {"--set", "proxy.workers=-1"}}) {
    const std::string first = words.front();
    const Outcome refused = run_verb("doctor", std::move(words));
    EXPECT_EQ(refused.code, kMisused) << first;
    EXPECT_EQ(refused.out, "") << first;
    EXPECT_NE(refused.err, "") << first;
  }
}

}  // namespace
}  // namespace heatsink::app

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "heatsink/doctor/facts_for_test.h"

namespace heatsink::doctor {
namespace {

using ::testing::Each;
using ::testing::Field;

TEST(Checks, EachHasACodeOfItsOwnAndSaysWhatItChecks) {
  std::set<std::string_view> codes;
  for (const Check& check : checks()) {
    EXPECT_TRUE(codes.insert(check.code).second) << check.code;
    EXPECT_TRUE(check.help.ends_with('.')) << check.code;
    EXPECT_NE(check.run, nullptr) << check.code;
    EXPECT_EQ(find_check(check.code), &check);
  }
  EXPECT_GT(codes.size(), 30U);
  EXPECT_EQ(find_check("none"), nullptr);
}

TEST(Checks, AHealthyDeploymentHasNothingToMend) {
  const Examination done = examine(healthy());
  EXPECT_THAT(done.findings, Each(Field(&Finding::level, Level::kOk)));
  EXPECT_EQ(done.left_out, 0U);
  EXPECT_GT(done.findings.size(), 25U);
}

// Whatever is missing, no check may say that all is well, or read what is not there.
TEST(Checks, NothingIsClaimedWithoutFacts) {
  Facts facts;
  facts.upstream = *net::parse_redis_url("redis://127.0.0.1:6379");
  facts.server.contact = Contact::kAnswered;
  for (const Finding& finding : examine(facts).findings) {
    EXPECT_THAT(finding.code,
                ::testing::AnyOf("server-reachable", "server-protocol", "server-login",
                                 "server-kind", "server-loading", "rights", "admin-api"))
        << finding.what;
  }
}

TEST(Checks, WhatAServerDoesNotGiveIsLeftOut) {
  Facts facts = healthy();
  facts.server.contact = Contact::kSilent;
  const Examination done = examine(facts);
  EXPECT_GT(done.left_out, 15U);
  EXPECT_EQ(count_of(done.findings, Level::kError), 1U);
  EXPECT_EQ(done.findings.front().code, "server-reachable");
}

TEST(Checks, EachFindingSaysWhatItCostsAndHowToMendIt) {
  Facts facts = healthy();
  for (auto& [name, reply] : facts.server.replies)
    if (name != "HELLO" && name != "INFO" && name != "PING")
      reply = error_value("NOPERM this user has no permissions to run the 'x' command");
  facts.machine.open_files_max = 100;
  facts.machine.cpus = 0.5;
  for (const Finding& finding : examine(facts).findings) {
    if (finding.level == Level::kOk) continue;
    EXPECT_NE(finding.cost, "") << finding.what;
    EXPECT_NE(finding.mend, "") << finding.what;
  }
}

TEST(Checks, AfterAReconnectTheCheapOnesAreMade) {
  const std::size_t all = examine(healthy()).findings.size();
  const Findings again = examine(healthy(), When::kConnect).findings;
  EXPECT_LT(again.size(), all / 2);
  for (const Finding& finding : again)
    EXPECT_EQ(find_check(finding.code)->when, When::kConnect) << finding.code;
}

}  // namespace
}  // namespace heatsink::doctor

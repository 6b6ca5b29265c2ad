// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/redirect.h"

#include <gtest/gtest.h>

namespace heatsink::topology {
namespace {

TEST(ErrorLine, HasNeitherSignNorEnd) {
  EXPECT_EQ(error_line("-MOVED 1 a:1\r\n"), "MOVED 1 a:1");
  EXPECT_EQ(error_line("-ERR"), "ERR");
  EXPECT_EQ(error_line("ASK"), "ASK");
  EXPECT_EQ(error_line(""), "");
}

TEST(Redirect, WhatServersSend) {
  const auto moved = parse_redirect("MOVED 3999 10.0.0.7:6381");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->kind, Redirect::Kind::kMoved);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->to.text(), "10.0.0.7:6381");
  const auto ask = parse_redirect("ASK 0 fd00::1:7000");
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->kind, Redirect::Kind::kAsk);
  EXPECT_EQ(ask->to.text(), "[fd00::1]:7000");
  // An empty host is that of the node that answered; Redis sends "?" for a name that it lacks.
  EXPECT_EQ(parse_redirect("MOVED 1 :7000")->to.host, "");
  EXPECT_EQ(parse_redirect("MOVED 1 ?:7000")->to.host, "");
  EXPECT_EQ(parse_redirect("TRYAGAIN Multiple keys request during rehashing of slot")->kind,
            Redirect::Kind::kTryAgain);
}

TEST(Redirect, OtherErrorsAndBrokenOnes) {
  for (const char* line :
       {"ERR no such key", "MOVED", "MOVED 3999", "MOVED 16384 a:1", "MOVED x a:1", "MOVED 1 a",
        "MOVED 1 a:0", "MOVED 1 a:65536", "ASKING 1 a:1", "CLUSTERDOWN The cluster is down", ""})
    EXPECT_FALSE(parse_redirect(line)) << line;
}

}  // namespace
}  // namespace heatsink::topology

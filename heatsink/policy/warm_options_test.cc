// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/warm_options.h"
#include "heatsink/report/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace heatsink::policy {
namespace {

WarmingOptions item(const std::string& key, const std::string& file = "") {
  WarmingOptions out;
  out.key = key;
  out.file = file;
  out.from = "19:55";
  out.until = "20:30";
  return out;
}

std::string fault(const WarmingOptions& item) {
  const auto faults = warming_faults({WarmingOptions{item}});
  return faults.empty() ? "" : faults.front().sentence;
}

std::string file_with(const std::string& text) {
  std::string path = testing::TempDir() + "heatsink-warm-options-" + std::to_string(getpid());
  std::ofstream(path) << text;
  return path;
}

TEST(WarmOptions, AKeyOrAFileOfThem) {
  EXPECT_EQ(fault(item("sale:42")), "");
  WarmingOptions file = item("", file_with("a\n\nb c\n"));
  file.db = 3;
  const auto keys = file.keys().value();
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[1].name, "b c");
  EXPECT_EQ(keys[1].db, 3U);
}

TEST(WarmOptions, OrAPattern) {
  WarmingOptions pattern = item("");
  pattern.pattern = "product:[0-9]*";
  pattern.db = 3;
  pattern.keys_max = 7;
  EXPECT_EQ(fault(pattern), "");
  EXPECT_TRUE(pattern.keys().value().empty());
  EXPECT_EQ(pattern.names().glob, "product:[0-9]*");
  EXPECT_EQ(pattern.names().db, 3U);
  EXPECT_EQ(pattern.names().keys_max, 7U);
  pattern.pattern = "product:[0-9*";
  EXPECT_NE(fault(pattern).find("has an open '['"), std::string::npos);
  pattern.pattern = "product:\\";
  EXPECT_NE(fault(pattern).find("backslash"), std::string::npos);
  pattern.pattern = std::string(report::WarmPattern::kGlobBytesMax + 1, 'a');
  EXPECT_NE(fault(pattern).find("longer than 1024 bytes"), std::string::npos);
  pattern.pattern = "\\[[]*";
  EXPECT_EQ(fault(pattern), "") << "a plain [, and a class of one";
  pattern.key = "a";
  EXPECT_EQ(fault(pattern), "write exactly one of key, file and pattern");
}

TEST(WarmOptions, WhatCannotBe) {
  EXPECT_EQ(fault(item("")), "write exactly one of key, file and pattern");
  EXPECT_EQ(fault(item("a", "b")), "write exactly one of key, file and pattern");
  EXPECT_EQ(fault(item("", "/nowhere/at/all")),
            "file /nowhere/at/all cannot be read: check that it exists and its permissions");
  EXPECT_NE(fault(item("", file_with("\n"))).find("has no keys"), std::string::npos);
  std::string many;
  for (std::size_t i = 0; i <= report::WarmOrder::kKeysMax; ++i) many += "k\n";
  EXPECT_NE(fault(item("", file_with(many))).find("has more than"), std::string::npos);
  WarmingOptions timeless = item("a");
  timeless.until = "";
  EXPECT_EQ(fault(timeless), "until is '': write a time of day, as in 19:55");
}

}  // namespace
}  // namespace heatsink::policy

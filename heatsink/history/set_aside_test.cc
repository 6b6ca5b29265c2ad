// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/set_aside.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heatsink/base/process_limits.h"
#include "heatsink/history/folder_for_test.h"

namespace heatsink::history {
namespace {

TEST(SetAside, KeepsTheLastThreeWithTheirLogs) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  for (const char* const text : {"one", "two", "three", "four"}) {
    std::ofstream(path) << text;
    std::ofstream(path + "-wal") << text << " log";
    const Result<std::string> aside = set_aside(path);
    ASSERT_TRUE(aside.ok());
    EXPECT_EQ(*aside, path + ".damaged-1");
  }
  EXPECT_EQ(file_text(path + ".damaged-1"), "four");
  EXPECT_EQ(file_text(path + ".damaged-1-wal"), "four log");
  EXPECT_EQ(file_text(path + ".damaged-3"), "two");
  EXPECT_FALSE(std::filesystem::exists(path + ".damaged-4"));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
}

TEST(SetAside, SaysWhyItCannot) {
  const Folder folder;
  const Result<std::string> aside = set_aside(folder.path("none"));
  ASSERT_FALSE(aside.ok());
  EXPECT_NE(aside.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace heatsink::history

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/state_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "heatsink/alerts/report_for_test.h"

namespace heatsink::alerts {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const BothClocks kNow{at_second(1000), WallTime(std::chrono::seconds(1'795'867'200))};

ToldAlert told_of(std::string subject) {
  return {.alert = {.kind = Kind::kHot,
                    .subject = std::move(subject),
                    .db = 3,
                    .key_hash = UINT64_MAX,
                    .summary = "\"it\"\n is hot",
                    .rate = 12.5,
                    .since = at_second(900)},
          .told_at = at_second(990)};
}

TEST(AlertState, WhatIsWrittenIsReadAfterAnotherStartOfTheMachine) {
  ToldAlert over = told_of("b");
  over.is_over = true;
  const std::string text = state_text({told_of("a"), over}, kNow);
  const BothClocks later{at_second(60), kNow.wall + std::chrono::seconds(100)};
  const auto read = parse_state(text, later);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_THAT(*read, SizeIs(2));
  EXPECT_EQ((*read)[0].alert.identity(), told_of("a").alert.identity());
  EXPECT_EQ((*read)[0].alert.summary, told_of("a").alert.summary);
  EXPECT_EQ((*read)[0].alert.rate, 12.5);
  EXPECT_EQ((*read)[0].told_at, at_second(60 - 100 - 10));
  EXPECT_EQ((*read)[0].alert.since, at_second(60 - 100 - 100));
  EXPECT_FALSE((*read)[0].is_over);
  EXPECT_TRUE((*read)[1].is_over);
}

TEST(AlertState, DamagedLinesAreLeftOutAndOtherFilesRefused) {
  std::string text = state_text({told_of("a"), told_of("b")}, kNow);
  text.insert(text.find("\"a\"") + 2, "\xff");
  for (const std::string& more : {std::string("[]"), std::string("{\"kind\":1}"),
                                  std::string(100'000, '['), std::string("{\"kind\":\"test\"}")})
    text += more + "\n";
  const auto read = parse_state(text, kNow);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_THAT(*read, SizeIs(1));
  EXPECT_EQ((*read)[0].alert.subject, "b");
  EXPECT_FALSE(parse_state("hello\n", kNow).ok());
  EXPECT_THAT(*parse_state("", kNow), IsEmpty());
}

TEST(AlertState, ATimeThatIsStillToComeIsNow) {
  const BothClocks before{at_second(5), kNow.wall - std::chrono::hours(24 * 365)};
  const auto read = parse_state(state_text({told_of("a")}, kNow), before);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)[0].told_at, before.boot);
}

class AlertStateFile : public ::testing::Test {
 protected:
  AlertStateFile() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "heatsink-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    path = folder + "/state";
  }
  ~AlertStateFile() override { std::filesystem::remove_all(folder); }

  std::string folder, path;
};

TEST_F(AlertStateFile, OneProcessHasItAndTheNextReadsWhatItWroteLast) {
  auto first = std::make_unique<StateFile>(path);
  EXPECT_THAT(*first->take(kNow), IsEmpty());
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  StateFile second(path);
  EXPECT_EQ(second.take(kNow).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(first->save({told_of("a")}, kNow).ok());
  EXPECT_EQ(second.take(kNow).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(first->save({told_of("a"), told_of("b")}, kNow).ok());
  first.reset();
  const auto told = second.take(kNow);
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_THAT(*told, SizeIs(2));
  EXPECT_TRUE(second.save({}, kNow).ok());
}

TEST_F(AlertStateFile, AFileOfAnotherKindIsLeftAlone) {
  std::ofstream(path) << "customers\n";
  StateFile file(path);
  const auto told = file.take(kNow);
  EXPECT_EQ(told.error().code, ErrorCode::kProtocol);
  EXPECT_THAT(told.error().message, HasSubstr("is left alone"));
  EXPECT_FALSE(file.is_taken());
  std::ifstream left(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(left), {}), "customers\n");
}

TEST_F(AlertStateFile, ALinkAtTheNameOfTheNewFileIsNotFollowed) {
  const std::string other = folder + "/other";
  std::ofstream(other) << "customers\n";
  std::filesystem::create_symlink(other, path + ".new");
  StateFile file(path);
  ASSERT_TRUE(file.take(kNow).ok());
  EXPECT_TRUE(file.save({told_of("a")}, kNow).ok());
  std::ifstream left(other);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(left), {}), "customers\n");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(AlertStateFile, AFolderThatIsNotThere) {
  StateFile file(folder + "/none/state");
  const auto told = file.take(kNow);
  EXPECT_EQ(told.error().code, ErrorCode::kPermission);
  EXPECT_THAT(told.error().message, HasSubstr("No such file"));
}

}  // namespace
}  // namespace heatsink::alerts

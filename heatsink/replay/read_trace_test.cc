// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/read_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <string>

#include "heatsink/replay/read_for_test.h"

namespace heatsink::replay {
namespace {

using ::testing::HasSubstr;

std::string packed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

ReadOptions at_rate(double rate) {
  ReadOptions options;
  options.timing.rate = rate;
  return options;
}

constexpr const char* kCsv = "t_ms,key,op,size\n1000,a,get,10\n1500,b,set,20\n1500.5,a,get,10\n";

TEST(ReadTrace, CsvByItsTimestamps) {
  const Result<Trace> trace = read(kCsv);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace->accesses.size(), 3u);
  EXPECT_EQ(trace->keys.size(), 2u);
  EXPECT_EQ(trace->keys.name(trace->accesses[2].key), "a");
  EXPECT_EQ(trace->accesses[0].at_ns, 0);
  EXPECT_EQ(trace->accesses[2].at_ns, 500'500'000);
  EXPECT_EQ(trace->accesses[1].operation(), Operation::kWrite);
  EXPECT_EQ(trace->accesses[1].value_bytes(), 20u);
  EXPECT_TRUE(trace->facts.timed);
}

TEST(ReadTrace, SpeedAndRateSetTheTime) {
  ReadOptions twice;
  twice.timing.speed = 2;
  EXPECT_EQ(read(kCsv, twice)->accesses[1].at_ns, 250'000'000);
  EXPECT_EQ(read(kCsv, at_rate(10))->accesses[2].at_ns, 200'000'000);
}

TEST(ReadTrace, ZstdGivesTheSame) {
  const Result<Trace> trace = read(packed(kCsv) + packed("2000,c,get,\n"));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->accesses.size(), 4u);
}

TEST(ReadTrace, DamagedAndForeignPackingIsTold) {
  std::string cut = packed(std::string(100'000, 'x') + kCsv);
  cut.resize(cut.size() - 5);
  EXPECT_THAT(read(cut).error().message, HasSubstr("zstd data is damaged"));
  EXPECT_THAT(read("\x1F\x8B\x08 and so on").error().message, HasSubstr("zcat"));
}

TEST(ReadTrace, OrderOnlyNeedsARate) {
  const std::string order = "t_ms,key,op,size\n,a,get,\n,b,get,\n";
  EXPECT_THAT(read(order).error().message, HasSubstr("--rate"));
  EXPECT_EQ(read(order, at_rate(4))->duration(), Millis(250));
}

TEST(ReadTrace, BadLinesAreCountedAndNamedButNeverShown) {
  const Result<Trace> trace = read(
      "key,t_ms,op\na,1,get\n\"secret,2,get\nb,x,get\nc,3,frobnicate\nd,4,get\ne,5,get\n"
      "f,6,get,7\ng,9,get\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->accesses.size(), 4u);
  EXPECT_EQ(trace->facts.bad_lines, 4u);
  ASSERT_EQ(trace->facts.first_bad_lines.size(), 4u);
  EXPECT_EQ(trace->facts.first_bad_lines[0].number, 3u);
  for (const BadLine& bad : trace->facts.first_bad_lines)
    EXPECT_THAT(bad.why, ::testing::Not(HasSubstr("secret")));
}

TEST(ReadTrace, MostlyBrokenIsRefused) {
  EXPECT_THAT(read("key\n\"\n\"\n\"\na\n", at_rate(1)).error().message,
              HasSubstr("3 of 5 lines cannot be read; line 2"));
}

TEST(ReadTrace, WhatIsNoTraceIsTold) {
  EXPECT_THAT(read("hello\n").error().message, HasSubstr("begins with 'hello'"));
  EXPECT_THAT(read("").error().message, HasSubstr("empty"));
  EXPECT_THAT(read("key\n", at_rate(1)).error().message, HasSubstr("no accesses"));
}

TEST(ReadTrace, CsvQuotesAndColumnsInAnyOrder) {
  const Result<Trace> trace = read("op,other,key\r\nget,1,\"a,\"\"b\"\"\"\r\n", at_rate(1));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->keys.name(0), "a,\"b\"");
}

TEST(ReadTrace, TimesThatStepBackStandStill) {
  const Result<Trace> trace = read("t_ms,key\n10,a\n5,b\n12,c\n");
  EXPECT_EQ(trace->accesses[1].at_ns, 0);
  EXPECT_EQ(trace->accesses[2].at_ns, 2'000'000);
  EXPECT_EQ(trace->facts.times_back, 1u);
}

TEST(ReadTrace, MemoryLimitEndsTheReading) {
  std::string text = "key\n";
  for (int i = 0; i < 1000; ++i) text += "k" + std::to_string(i) + "\n";
  ReadOptions options = at_rate(1);
  options.memory_max = Bytes{20'000};
  const Result<Trace> trace = read(text, options);
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace->facts.full);
  EXPECT_LT(trace->accesses.size(), 300u);
}

TEST(ReadTrace, MonitorOutput) {
  const Result<Trace> trace = read(
      "OK\n"
      "1700000000.100000 [0 127.0.0.1:5000] \"GET\" \"user:\\x00\\\"1\"\n"
      "1700000000.200000 [3 unix:/tmp/s] \"mset\" \"a\" \"secret\" \"b\" \"2\"\n"
      "1700000000.250000 [0 lua] \"get\" \"in a script\"\n"
      "1700000000.300000 [0 127.0.0.1:5000] \"PING\"\n"
      "1700000000.300001 [0 127.0.0.1:5000] \"hgetall\" \"h\"\n"
      "1700000000.300002 [0 127.0.0.1:5000] \"get\" \"cut\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace->accesses.size(), 4u);
  EXPECT_EQ(trace->keys.name(0), std::string("user:\0\"1", 8));
  EXPECT_EQ(trace->accesses[0].operation(), Operation::kGet);
  EXPECT_EQ(trace->keys.name(1), "a");
  EXPECT_EQ(trace->keys.name(2), "b");
  EXPECT_EQ(trace->keys.db(2), 3u);
  EXPECT_EQ(trace->accesses[1].operation(), Operation::kWrite);
  EXPECT_EQ(trace->accesses[1].at_ns, 100'000'000);
  EXPECT_EQ(trace->accesses[3].operation(), Operation::kRead);
  EXPECT_EQ(trace->facts.keyless, 2u);
  EXPECT_EQ(trace->facts.bad_lines, 1u);
}

constexpr const char* kHeader = "{\"heatsink_recording\":1}\n";

std::string answer(const std::string& at, const std::string& reads) {
  return R"({"at":")" + at + R"(","window_seconds":10,"node":{"requests_rate":100},)" +
         R"("keys":[{"name_base64":"YQ==","db":0,"reads":)" + reads + R"(,"writes":10}]})" + "\n";
}

TEST(ReadTrace, RecordingSpreadsWhatIsNew) {
  const Result<Trace> trace = read(kHeader + answer("2026-11-21T12:00:00.000Z", "500") +
                                   answer("2026-11-21T12:00:01.000Z", "5E2"));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_TRUE(trace->facts.is_recording);
  EXPECT_EQ(trace->accesses.size(), 510u + 51u);  // a whole window, then a second of the next
  EXPECT_EQ(trace->keys.name(0), "a");
  EXPECT_NEAR(trace->requests(), 1000 + 100, 1);
  EXPECT_NEAR(static_cast<double>(trace->duration().count()), 11e9, 0.2e9);
}

TEST(ReadTrace, RecordingThatLies) {
  const Result<Trace> trace = read(
      kHeader + answer("2026-11-21T12:00:00.000Z", "500") +
      answer("2026-11-21T12:00:01.000Z", "1e300") + answer("2026-11-21T11:00:00.000Z", "5") +
      answer("2026-11-21T12:00:02.000Z", "5") + "{}\n" + answer("2026-11-21T12:00:03.000Z", "5"));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->facts.bad_lines, 3u);
}

}  // namespace
}  // namespace heatsink::replay

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/moment_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heatsink/base/base64.h"

namespace heatsink::heat {
namespace {

using ::testing::HasSubstr;

constexpr TimePoint kNow(std::chrono::seconds(100));

Moment two_rows() {
  Moment moment;
  moment.window = std::chrono::seconds(10);
  moment.totals = {.requests = 42.5, .reads = 40, .writes = 2.5, .hits = 30};
  moment.totals.latency_p99 = 0.001;
  moment.totals.node_commands = 700;
  moment.totals.bytes = 5000;
  moment.totals.server_cpu_spared = -0.5;
  moment.unnamed_max[0] = 1.5;
  moment.items = {{.identity = {.name = std::string("a\0\n", 3)}, .rate = 20.25, .rate_high = 22},
                  {.identity = {.kind = Kind::kTemplate, .db = 3, .name = "user:*"},
                   .rate = 30,
                   .writes = 2,
                   .hits = 10,
                   .bytes = 4096.5,
                   .rate_high = 30}};
  return moment;
}

TEST(MomentJson, WhatIsWrittenIsRead) {
  const Result<Moment> read =
      parse_moment(moment_json(two_rows(), std::chrono::milliseconds(500)), kNow);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->at, kNow - std::chrono::milliseconds(500));
  EXPECT_EQ(read->window, std::chrono::seconds(10));
  EXPECT_EQ(read->totals.requests, 42.5);
  EXPECT_TRUE(std::isnan(read->totals.commands));
  EXPECT_EQ(read->totals.latency_p99, 0.001);
  EXPECT_EQ(read->totals.node_commands, 700);
  EXPECT_EQ(read->unnamed_max[0], 1.5);
  EXPECT_TRUE(std::isnan(read->unnamed_max[1]));
  ASSERT_EQ(read->items.size(), 2U);
  EXPECT_EQ(read->items[0].identity, two_rows().items[0].identity);
  EXPECT_EQ(read->items[0].rate, 20.25);
  EXPECT_EQ(read->items[0].rate_high, 22);
  EXPECT_EQ(read->items[1].identity, two_rows().items[1].identity);
  EXPECT_EQ(read->items[1].hits, 10);
  EXPECT_EQ(read->items[1].bytes, 4096.5);
  EXPECT_EQ(read->totals.bytes, 5000);
  EXPECT_EQ(read->totals.server_cpu_spared, -0.5) << "it may be negative";
  EXPECT_TRUE(std::isnan(read->totals.server_cpu));
}

std::string problem_of(const std::string& text) {
  const Result<Moment> read = parse_moment(text, kNow);
  return read.ok() ? "" : read.error().message;
}

std::string with(std::string_view part, std::string_view instead) {
  std::string text = moment_json(two_rows(), Nanos(0));
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), instead);
}

TEST(MomentJson, AnythingElseIsRefusedWithItsMember) {
  EXPECT_THAT(problem_of(""), HasSubstr("not JSON"));
  EXPECT_THAT(problem_of("[]"), HasSubstr("not an object"));
  EXPECT_THAT(problem_of("{}"), HasSubstr("\"window_seconds\" is missing"));
  EXPECT_THAT(problem_of(std::string(kMomentBytesMax + 1, ' ')), HasSubstr("too large"));
  EXPECT_THAT(problem_of(std::string(1000, '[')), HasSubstr("not JSON"));
  EXPECT_THAT(problem_of(with("2.025E1", "-1")), HasSubstr("\"rate\" must be a number"));
  EXPECT_THAT(problem_of(with("2.025E1", "1e300")), HasSubstr("\"rate\" must be a number"));
  EXPECT_THAT(problem_of(with("2.025E1", "null")), HasSubstr("\"rate\" must be a number"));
  EXPECT_THAT(problem_of(with("\"db\":", "\"db\":7e52,\"x\":")),
              HasSubstr("\"db\" must be a number of 0 or more"));
  EXPECT_THAT(problem_of(with("\"db\":", "\"db\":null,\"x\":")),
              HasSubstr("\"db\" must be a number"));
  EXPECT_THAT(problem_of(with("-5E-1", "-1e300")),
              HasSubstr("\"server_cpu_spared_cores\" must be a number"));
  EXPECT_THAT(problem_of(with("4.0965E3", "-1")), HasSubstr("\"bytes\" must be a number"));
  EXPECT_THAT(problem_of(with(base64("user:*"), "?")), HasSubstr("\"name_base64\" must be"));
  EXPECT_THAT(problem_of(with(base64("user:*"), base64(std::string(257, 'x')))),
              HasSubstr("\"name_base64\" must be"));
}

TEST(MomentJson, RowsOfOtherKindsAreSkippedAndTheirNumberIsLimited) {
  const Result<Moment> read = parse_moment(with("\"template\",\"name\"", "\"tea\",\"name\""), kNow);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->items.size(), 1U);
  Moment many = two_rows();
  for (std::size_t i = 0; i < kPerMoment[0]; ++i)
    many.items.push_back({.identity = {.name = std::to_string(i)}, .rate = 1});
  EXPECT_THAT(problem_of(moment_json(many, Nanos(0))), HasSubstr("too many rows"));
}

TEST(MomentJson, AnotherVersionMayHaveOtherKinds) {
  const Result<Moment> read = parse_moment(with("\"template\":null", "\"tea\":7"), kNow);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(std::isnan(read->unnamed_max[1]));
}

TEST(MomentJson, AnEarlierVersionHasNoCommandsOfNodes) {
  const Result<Moment> read = parse_moment(with("\"node_commands\"", "\"leaves\""), kNow);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(std::isnan(read->totals.node_commands));
}

TEST(MomentJson, AnEarlierVersionHasNoBytes) {
  std::string text = with("\"bytes\":5E3", "\"x\":5E3");
  for (std::size_t at = text.find("\"bytes\""); at != std::string::npos;
       at = text.find("\"bytes\""))
    text.replace(at, 7, "\"y\"");
  const Result<Moment> read = parse_moment(text, kNow);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(std::isnan(read->totals.bytes));
  EXPECT_EQ(read->items[1].bytes, 0);
}

TEST(MomentJson, AllKindsMayBeFull) {
  Moment full = two_rows();
  full.items.clear();
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (std::size_t i = 0; i < kPerMoment[kind]; ++i) {
      std::string name = std::to_string(i);
      if (kind < 2) name.resize(Identity::kBytesMax, '\x01');  // the longest as text
      full.items.push_back(
          {.identity = {.kind = static_cast<Kind>(kind), .is_cut = true, .name = name}, .rate = 1});
    }
  }
  const Result<Moment> read = parse_moment(moment_json(full, Nanos(0)), kNow);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->items.size(), full.items.size());
}

// An earlier version does not add up names that are cut to the same beginning.
TEST(MomentJson, RowsOfOneNameAreAddedUp) {
  Moment twice = two_rows();
  twice.items.push_back(twice.items[0]);
  twice.items[2].rate = 5;
  twice.items[2].rate_high = 7;
  const Result<Moment> read = parse_moment(moment_json(twice, Nanos(0)), kNow);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->items.size(), 2U);
  EXPECT_EQ(read->items[0].rate, 25.25);
  EXPECT_EQ(read->items[0].rate_high, 29);
  twice.items[2].rate_high = kNotKnown;
  const Result<Moment> unknown = parse_moment(moment_json(twice, Nanos(0)), kNow);
  ASSERT_TRUE(unknown.ok()) << unknown.error().message;
  EXPECT_TRUE(std::isnan(unknown->items[0].rate_high));
}

TEST(MomentJson, BoundsAreInOrder) {
  const Result<Moment> read = parse_moment(with("\"rate_high\":2.2E1", "\"rate_high\":1"), kNow);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->items[0].rate_high, read->items[0].rate);
}

}  // namespace
}  // namespace heatsink::heat

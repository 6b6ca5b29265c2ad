// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/near_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/proxy/near_figures.h"

namespace heatsink::proxy {
namespace {

using testing::SizeIs;
using testing::StartsWith;

class SilentHolder final : public NearTable::Holder {
 public:
  std::uint64_t id() const override { return 1; }
  void end_name(NameHash /*name*/, std::string_view /*wire*/, NearTable::EndedBy /*by*/) override {}
};

// A worker's table and what is known of it.
struct Counted {
  explicit Counted(cache::KeptNames& kept) : table(kept, 1024) {
    for (NearTable::Number& each : clients) each = table.join(holder);
  }
  void keep(std::string_view key, std::uint64_t seed, std::size_t by) {
    for (std::size_t i = 0; i < by; ++i)
      ASSERT_TRUE(table.keep(clients[i], hash_name(key, seed), key, [] {
        NearBasis until_told;
        until_told.is_proven = false;
        until_told.ends_at = TimePoint::max();
        return std::optional(until_told);
      }));
  }
  void count() {
    figures.walk(table, TimePoint(std::chrono::seconds(1000)));
    figures.note(table);
  }

  SilentHolder holder;
  NearTable table;
  NearFigures figures;
  std::array<NearTable::Number, 50> clients{};
};

class NearReportTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kSeed = 7;

  report::KeyReport row(const std::string& key, std::uint32_t db) const {
    report::KeyReport out;
    out.verdict.count.key = key;
    out.verdict.count.db = db;
    out.verdict.count.hash = in_db(hash_name(key, kSeed), db);
    shared->shown.hide(out.verdict.count);
    return out;
  }
  void begin(policy::KeyDisplay shown = {}) {
    shared = std::make_unique<copies::NodeState>(policy::ProxyOptions{}, net::RedisUrl{}, kSeed,
                                                 std::move(shown));
  }
  void add() {
    for (Counted* each : {&first, &second}) each->count();
    const std::array<const NearFigures*, 2> workers{&first.figures, &second.figures};
    add_near_caches(report, workers, *shared);
  }

  std::unique_ptr<copies::NodeState> shared;
  cache::KeptNames kept;
  Counted first{kept}, second{kept};
  report::Report report;
};

TEST_F(NearReportTest, TheClientsOfAllWorkersAreAdded) {
  begin();
  first.keep("a", kSeed, 30);
  second.keep("a", kSeed, 10);
  second.keep("b", kSeed, 35);
  report.keys = {row("a", 0), row("a", 9), row("b", 3), row("c", 0)};
  add();
  ASSERT_TRUE(report.near_caches);
  EXPECT_EQ(report.near_caches->clients, 100U);
  EXPECT_EQ(report.near_caches->keeping, 65U);
  EXPECT_EQ(report.near_caches->kept, 75U);
  EXPECT_EQ(report.near_caches->names, 3U);
  ASSERT_THAT(report.near_caches->list, SizeIs(2));
  EXPECT_EQ(report.near_caches->list[0].name, "a");
  EXPECT_EQ(report.near_caches->list[0].clients, 40U);
  EXPECT_EQ(report.near_caches->list[1].name, "b");
  EXPECT_EQ(report.keys[0].kept_by, 40U);
  EXPECT_EQ(report.keys[1].kept_by, 40U) << "names are kept without a database";
  EXPECT_EQ(report.keys[2].kept_by, 35U);
  EXPECT_EQ(report.keys[3].kept_by, 0U);
}

TEST_F(NearReportTest, ALongListIsCut) {
  begin();
  for (int i = 0; i < 100; ++i) first.keep("a" + std::to_string(i), kSeed, i < 40 ? 2 : 1);
  add();
  ASSERT_THAT(report.near_caches->list, SizeIs(kNearNamesMax));
  EXPECT_EQ(report.near_caches->list[39].clients, 2U);
}

TEST_F(NearReportTest, NamesAreRedactedAsThoseOfHotKeys) {
  begin(policy::KeyDisplay::hashed("secret"));
  first.keep("a", kSeed, 30);
  report.keys = {row("a", 5)};
  add();
  EXPECT_THAT(report.near_caches->list[0].name, StartsWith("key#"));
  EXPECT_EQ(report.near_caches->list[0].name, report.keys[0].verdict.count.key);
  EXPECT_EQ(report.keys[0].kept_by, 30U);
}

TEST_F(NearReportTest, WithoutAClientThatTracksThereIsNothing) {
  begin();
  std::vector<const NearFigures*> none;
  add_near_caches(report, none, *shared);
  EXPECT_FALSE(report.near_caches);
}

}  // namespace
}  // namespace heatsink::proxy

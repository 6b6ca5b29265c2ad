// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/near_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/session/near_table.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class ClientThatKeeps final : public NearTable::Holder {
 public:
  std::uint64_t id() const override { return 1; }
  void end_name(NameHash /*name*/, std::string_view /*wire*/, NearTable::EndedBy /*by*/) override {}
};

class NearFiguresTest : public testing::Test {
 protected:
  void join(std::size_t clients) {
    for (std::size_t i = 0; i < clients; ++i) numbers_.push_back(table.join(holder_));
  }
  // The first `clients` keep the name.
  void keep(std::uint64_t name, std::size_t clients) {
    for (std::size_t i = 0; i < clients; ++i)
      ASSERT_TRUE(table.keep(numbers_[i], {name}, "k" + std::to_string(name), [] {
        NearBasis until_told;
        until_told.is_proven = false;
        until_told.ends_at = TimePoint::max();
        return std::optional(until_told);
      }));
  }
  // Walks to the end, from a second after the last walk; returns the number of slices.
  int walk() {
    now += NearFigures::kPause;
    const std::size_t steps = table.name_numbers() + table.client_numbers();
    const int slices = static_cast<int>(steps / NearFigures::kSlice) + 1;
    for (int i = 0; i < slices; ++i) figures.walk(table, now);
    return slices;
  }
  std::vector<std::pair<std::string, std::uint64_t>> listed() const {
    std::vector<std::pair<std::string, std::uint64_t>> out;
    for (const NearFigures::Listed& each : figures.listed())
      out.emplace_back(each.key, each.clients);
    return out;
  }

  TimePoint now{std::chrono::seconds(1000)};
  cache::KeptNames kept;
  NearTable table{kept, 100'000};
  NearFigures figures;

 private:
  ClientThatKeeps holder_;
  std::vector<NearTable::Number> numbers_;
};

TEST_F(NearFiguresTest, TheNameThatMostClientsKeepIsFirst) {
  join(5);
  keep(1, 1);
  keep(2, 4);
  keep(3, 1);
  walk();
  figures.note(table);
  EXPECT_THAT(listed(), ElementsAre(Pair("k2", 4), Pair("k1", 1), Pair("k3", 1)));
  EXPECT_EQ(figures.clients(), 5U);
  EXPECT_EQ(figures.keeping(), 4U);
  EXPECT_EQ(figures.kept(), 6U);
  EXPECT_EQ(figures.names(), 3U);
}

TEST_F(NearFiguresTest, OfManyNamesThoseThatMostClientsKeepAreListed) {
  join(3);
  for (std::uint64_t name = 0; name < 9000; ++name) keep(name, name % 50 == 7 ? 2 : 1);
  keep(8999, 3);
  EXPECT_EQ(walk(), 5) << "a slice looks at 2048 names";
  const auto found = listed();
  ASSERT_THAT(found, SizeIs(NearFigures::kListed));
  EXPECT_THAT(found.front(), Pair("k8999", 3));
  EXPECT_TRUE(
      std::all_of(found.begin(), found.end(), [](const auto& each) { return each.second >= 2; }));
}

TEST_F(NearFiguresTest, AWalkBeginsOnceASecond) {
  join(1);
  keep(1, 1);
  walk();
  keep(2, 1);
  figures.walk(table, now + NearFigures::kPause - Nanos(1));
  EXPECT_THAT(listed(), SizeIs(1));
  figures.walk(table, now + NearFigures::kPause);
  EXPECT_THAT(listed(), SizeIs(2));
}

// A number may be free, or another name's, when the walk is over.
TEST_F(NearFiguresTest, ANameThatEndsDuringTheWalkIsNotListed) {
  join(1);
  for (std::uint64_t name = 0; name < NearFigures::kSlice + 10; ++name) keep(name, 1);
  now += NearFigures::kPause;
  figures.walk(table, now);
  EXPECT_THAT(listed(), IsEmpty()) << "half of a walk says nothing";
  for (std::uint64_t name = 0; name < NearFigures::kSlice; ++name) table.changed({name});
  figures.walk(table, now);
  for (const auto& [key, clients] : listed()) {
    EXPECT_GE(std::stoul(key.substr(1)), NearFigures::kSlice);
    EXPECT_EQ(clients, 1U);
  }
}

TEST_F(NearFiguresTest, ATableThatHasBecomeEmptyListsNothing) {
  join(1);
  keep(1, 1);
  walk();
  table.all_changed();
  figures.note(table);
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_EQ(figures.keeping(), 0U);
  EXPECT_EQ(figures.names(), 0U);
}

}  // namespace
}  // namespace heatsink::proxy

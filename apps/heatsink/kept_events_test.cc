// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/kept_events.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "heatsink/history/history.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;
using std::chrono::seconds;

constexpr std::int64_t kStart = 1'795'867'200;  // 2026-11-28 12:00 UTC
WallTime at_second(std::int64_t second) { return WallTime(seconds(second)); }

constexpr TimePoint kBegan{seconds(1000)};
const httpd::Now kAsked{TimePoint(seconds(1100)), at_second(kStart + 100)};

// The event number `number`, `second` seconds after kBegan and kStart.
report::Event event_at(std::uint64_t number, int second) {
  report::Event event;
  event.number = number;
  event.at = kBegan + seconds(second);
  event.key = "k" + std::to_string(number);
  event.temperature = detect::Temperature::kHot;
  event.reason = "busy";
  return event;
}

TEST(KeptEvents, MemoryIsCompleteSinceItsLastGap) {
  EXPECT_EQ(complete_since({}, kBegan), kBegan);
  EXPECT_EQ(complete_since({event_at(1, 5), event_at(2, 9)}, kBegan), kBegan);
  EXPECT_EQ(complete_since({event_at(1, 5), event_at(3, 9), event_at(4, 11)}, kBegan),
            kBegan + seconds(9));
}

class KeptEventsOfAFile : public testing::Test {
 protected:
  KeptEventsOfAFile() {
    std::filesystem::create_directory(folder_);
    history::Failure why;
    auto file = history::HistoryFile::open({.path = path_}, why).value();
    std::vector<history::Record> records;
    for (const int i : {1, 2, 3}) {
      const report::Event event = event_at(static_cast<std::uint64_t>(i), 10 * i);
      records.emplace_back(history::kept(event, at_second(kStart + 10 * i)));
    }
    EXPECT_FALSE(file->append(records, at_second(kStart + 40)));
  }
  ~KeptEventsOfAFile() override { std::filesystem::remove_all(folder_); }
  // The names of the events from a second to another, with their numbers in memory.
  std::string asked(int from, int to, const std::vector<report::Event>& memory) {
    const auto text = kept_events_json(path_, memory, kBegan, at_second(kStart + from),
                                       at_second(kStart + to), kAsked);
    if (!text) return "memory";
    const json::object answer = json::parse(*text).as_object();
    EXPECT_EQ(answer.at("source"), "file");
    std::string out;
    for (const json::value& event : answer.at("events").as_array()) {
      out += event.at("name").as_string();
      out += event.at("number").is_null() ? " " : "! ";
    }
    return out;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("heatsink-kept-events-" + std::to_string(getpid()));
  const std::string path_ = folder_ / "h.db";
};

TEST_F(KeptEventsOfAFile, TheFileHasWhatTheMemoryForgot) {
  const std::vector<report::Event> memory{event_at(3, 30), event_at(4, 40)};
  EXPECT_EQ(asked(5, 25, memory), "k1 k2 ");
  EXPECT_EQ(asked(0, 99, memory), "k1 k2 k3 k4! ") << "the last one is not written yet";
  EXPECT_EQ(asked(0, 35, memory), "k1 k2 k3 ");
}

TEST_F(KeptEventsOfAFile, WhatTheMemoryHasIsNotRead) {
  EXPECT_EQ(asked(31, 99, {event_at(3, 30), event_at(4, 40)}), "memory");
  EXPECT_EQ(asked(0, 99, {event_at(1, 5), event_at(2, 9)}), "memory");
  EXPECT_EQ(asked(-50, 99, {event_at(1, 5), event_at(2, 9)}), "k1 k2 k3 ") << "before this process";
}

TEST_F(KeptEventsOfAFile, WithoutTheFileTheMemoryAnswers) {
  EXPECT_EQ(kept_events_json(folder_ / "none.db", {}, kBegan, at_second(kStart - 50),
                             at_second(kStart), kAsked),
            std::nullopt);
}

}  // namespace
}  // namespace heatsink::app

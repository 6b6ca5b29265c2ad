// SPDX-License-Identifier: Apache-2.0
// Counts the commands of one stretch of MONITOR: which keys, how often, by which clients.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/observe/own_traffic.h"
#include "heatsink/resp/resp.h"

namespace heatsink::observe {

// Numbers the names of commands and of clients (addresses without the port). At most kNamesMax of
// each; later names get no number. One thread.
class MonitorNames final : public detect::TallyNames {
 public:
  static constexpr std::size_t kNamesMax = 60'000;

  std::uint16_t command_number(const resp::Command* command);
  std::uint32_t client_number(std::string_view address);

  std::string command(std::uint16_t number) const override;
  std::string client(std::uint32_t number) const override;

 private:
  boost::unordered_flat_map<const resp::Command*, std::uint16_t> command_numbers_;
  std::vector<const resp::Command*> commands_;
  boost::unordered_flat_map<std::string, std::uint32_t> client_numbers_;
  std::vector<std::string> clients_;
};

// Takes lines and counts their accesses, in fixed memory. The calls of a script count; its EVAL,
// which names the same keys again, does not, and neither do heatsink's own commands. One thread.
class MonitorWindow {
 public:
  static constexpr std::size_t kRecorderBytes = 1'000'000;  // about 4000 keys
  static constexpr std::size_t kTemplateBytes = 100'000;    // about 400 templates
  static constexpr std::size_t kKeysMax = 500;              // kept per window

  MonitorWindow(const resp::CommandTable& commands, MonitorNames& names, OwnTraffic& own,
                std::uint64_t seed);

  // `line`: without '+' and line end; with `cut`, only its beginning.
  void take(std::string_view line, bool cut);

  // The ECHO with this text is not counted; it sets the server's clock at the mark.
  void expect_mark(std::string text) { mark_ = std::move(text); }
  bool mark_seen() const { return mark_seen_; }
  std::int64_t mark_ns() const { return mark_ns_; }

  std::uint64_t lines() const { return lines_; }
  std::uint64_t unreadable() const { return unreadable_; }  // lines that MONITOR does not produce
  std::int64_t first_ns() const { return first_ns_; }       // the server's clock; 0: no line yet
  std::int64_t last_ns() const { return last_ns_; }

  detect::Summary summarize();

 private:
  static constexpr TimePoint kNow{std::chrono::seconds(1)};  // puts everything in one slot

  bool take_mark(const resp::MonitorHead& head);
  void record(const resp::MonitorHead& head);

  const resp::CommandTable& commands_;
  MonitorNames& names_;
  OwnTraffic& own_;
  std::uint64_t seed_;
  detect::Recorder recorder_;
  std::string mark_;
  bool mark_seen_ = false;
  std::int64_t mark_ns_ = 0;
  std::uint64_t recorded_ = 0;
  std::uint64_t look_at_ = 4;  // after this many accesses the busiest keys are chosen again
  std::uint64_t lines_ = 0;
  std::uint64_t unreadable_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::string text_;
  std::vector<std::string_view> args_;
  std::vector<resp::KeyRef> keys_;
};

}  // namespace heatsink::observe

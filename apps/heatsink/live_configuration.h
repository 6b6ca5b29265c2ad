// SPDX-License-Identifier: Apache-2.0
// Changes the configuration of a running proxy: on SIGHUP, and on orders of the admin API.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/proxy_flags.h"
#include "heatsink/base/metric.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/policy/difference.h"
#include "heatsink/report/config_order.h"
#include "heatsink/report/event.h"

namespace heatsink::app {

// The parts of the running proxy that a change reaches.
struct LiveTarget {
  // Makes these options hold, and returns the number of the configuration. They differ from those
  // before in nothing that needs a restart. An error changes nothing.
  std::function<Result<std::uint64_t>(const policy::ProxyOptions& before,
                                      const policy::ProxyOptions& next)>
      apply;
  // Reads again what the options only name: certificates, and the admin token.
  std::function<Status(const policy::ProxyOptions& now)> reload_files;
  std::function<void(report::Event::Config, std::string reason)> add_event;
  policy::ShownName shown;   // of a key; may be empty
  bool hides_names = false;  // privacy.redact-keys: faults may have names of keys
  std::function<WallTime()> now;
};

// One rule in the form of --rule; an error for a rule with faults.
Result<policy::RuleOptions> parse_rule(const std::string& text);

enum class ConfigOutcome { kApplied, kNothing, kChecked, kRefused };
// The outcome of a change.
struct ConfigAnswer {
  ConfigOutcome outcome = ConfigOutcome::kNothing;
  std::uint64_t generation = 0;                    // of the configuration that holds now
  std::vector<policy::OptionChange> changes = {};  // applied; with kChecked: would be
  // Not applied: the next start has them.
  std::vector<policy::OptionChange> needs_restart = {};
  ConfigFaults faults = {};  // of kRefused
  std::string note = {};     // what else the operator should know; "": nothing
};

// Thread-safe; one change at a time. A change is checked as a whole, against everything that will
// hold together, before any part of it is applied.
class LiveConfiguration {
 public:
  static constexpr std::size_t kEventsPerChange = 50;  // the others are one more event

  // `started`: what runs, built from the same flags, file and `live`, without faults.
  LiveConfiguration(ProxyFlags flags, ConfigText file, LiveRules live,
                    const BuiltConfiguration& started, LiveTarget target);

  // Reads the file of --config again, and the certificates. Without a regular file, or if nothing
  // in it has changed, only the certificates.
  ConfigAnswer reload();
  ConfigAnswer apply(const report::ConfigOrder& order, std::string_view who);
  ConfigAnswer change_rules(const report::RuleOrder& order, std::string_view who);

  // The options in force, and where they come from.
  struct Effective {
    std::uint64_t generation = 0;
    WallTime applied_at{};
    std::string file;  // "": none
    policy::ProxyOptions options;
    std::vector<BuiltConfiguration::Rule> rules, left_out;
    std::vector<policy::OptionChange> needs_restart;  // differences that wait for the next start
  };
  Effective effective() const;
  LiveRules live_rules() const;
  const policy::ShownName& shown() const { return target_.shown; }

  MetricSamples samples() const;
  static MetricRows metric_rows();

 private:
  struct Wanted {
    ConfigText file;
    LiveRules live;
    bool dry_run = false;
    bool strict = false;
  };
  ConfigAnswer change(Wanted wanted, const std::string& who);
  void set_applied(std::uint64_t generation);
  ConfigAnswer refuse(ConfigFaults faults, const std::string& who, bool dry_run);
  void keep(Wanted wanted, BuiltConfiguration built, policy::ProxyOptions next);
  void report_changes(const ConfigAnswer& answer, const std::string& who) const;
  bool is_known(const std::string& match) const;
  ConfigAnswer add_rule(const std::string& text, const std::string& who, bool dry_run);
  ConfigAnswer remove_rule(const std::string& match, const std::string& who, bool dry_run);

  const ProxyFlags flags_;
  const LiveTarget target_;
  mutable std::mutex mutex_;  // guards the members below
  ConfigText file_;
  LiveRules live_;
  std::vector<std::string> deprecated_;  // sentences that the log has
  Effective now_;

  // Read without the mutex: metrics do not wait for a change.
  std::atomic<std::uint64_t> applied_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> generation_{1};
  std::atomic<double> applied_at_{0};  // in seconds since 1970
};

}  // namespace heatsink::app

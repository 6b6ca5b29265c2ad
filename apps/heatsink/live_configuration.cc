// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/live_configuration.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "apps/heatsink/configuration.h"
#include "heatsink/base/log.h"
#include "heatsink/base/option_list.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

using Config = report::Event::Config;
using policy::OptionChange;

constexpr MetricRow kChanges{
    "heatsink_config_changes_total", MetricKind::kCounter,
    "Changes of the configuration by SIGHUP and the admin API. outcome is applied or refused.",
    "outcome"};
constexpr MetricRow kGeneration{
    "heatsink_config_generation", MetricKind::kGauge,
    "Number of the configuration that holds now. 1: the one of the start."};
constexpr MetricRow kAppliedAt{"heatsink_config_applied_timestamp_seconds", MetricKind::kGauge,
                               "When it was applied, in seconds since 1970."};

constexpr std::string_view kByHand = "SIGHUP";
constexpr std::size_t kMatchBytes = 64;

bool is_regular_file(const std::string& path) {
  struct stat facts {};
  return !path.empty() && stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

bool uses_certificates(const policy::ProxyOptions& options) {
  return !options.tls_cert.empty() || !options.upstream_tls_cert.empty() ||
         !options.upstream_tls_ca.empty();
}

}  // namespace

Result<policy::RuleOptions> parse_rule(const std::string& text) {
  policy::ProxyOptions options;
  OptionSet rows;
  options.describe(rows);
  const std::vector<Error> faults = rows.find_list("rules")->add_item(text, "rule add");
  if (!faults.empty()) return faults.front();
  if (options.rules.front().match.empty())
    return invalid_argument(
        "match is missing: write match= with a key, a prefix as in user:*, or a glob");
  return options.rules.front();
}

LiveConfiguration::LiveConfiguration(ProxyFlags flags, ConfigText file, LiveRules live,
                                     const BuiltConfiguration& started, LiveTarget target)
    : flags_(std::move(flags)),
      target_(std::move(target)),
      file_(std::move(file)),
      live_(std::move(live)),
      deprecated_(started.deprecated) {
  set_applied(1);
  now_.file = file_.name;
  now_.options = started.options;
  now_.rules = started.rules;
  now_.left_out = started.left_out;
}

void LiveConfiguration::set_applied(std::uint64_t generation) {
  now_.generation = generation;
  now_.applied_at = target_.now();
  generation_.store(generation);
  applied_at_.store(std::chrono::duration<double>(now_.applied_at.time_since_epoch()).count());
}

MetricRows LiveConfiguration::metric_rows() { return {&kChanges, &kGeneration, &kAppliedAt}; }

MetricSamples LiveConfiguration::samples() const {
  const auto number = [](const auto& value) { return static_cast<double>(value.load()); };
  return {{&kChanges, number(applied_), {{"outcome", "applied"}}},
          {&kChanges, number(refused_), {{"outcome", "refused"}}},
          {&kGeneration, number(generation_)},
          {&kAppliedAt, applied_at_.load()}};
}

LiveConfiguration::Effective LiveConfiguration::effective() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

LiveRules LiveConfiguration::live_rules() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

ConfigAnswer LiveConfiguration::reload() {
  const std::lock_guard lock(mutex_);
  Wanted wanted{file_, live_, false, false};
  const std::string who(kByHand);
  // A pipe has been read once and for all.
  if (is_regular_file(flags_.configuration.file)) {
    Result<ConfigText> file = read_config_text(flags_);
    if (!file.ok()) return refuse({file.error()}, who, false);
    wanted.file = *std::move(file);
  } else if (!flags_.configuration.file.empty()) {
    return refuse({invalid_argument("cannot read the configuration file '" +
                                    printable(flags_.configuration.file) +
                                    "' again: it is not a regular file (any more)")},
                  who, false);
  }
  ConfigAnswer answer = change(std::move(wanted), who);
  if (answer.outcome != ConfigOutcome::kNothing) return answer;
  const Status read = target_.reload_files(now_.options);
  log(read.ok() ? LogLevel::kInfo : LogLevel::kError,
      read.ok() ? uses_certificates(now_.options)
                      ? "SIGHUP: certificates reloaded; the configuration has not changed"
                      : "SIGHUP: the configuration has not changed"
                : "SIGHUP: cannot reload the certificates, so the old ones are still in use: " +
                      read.error().message + ": mend that, and send SIGHUP again");
  return answer;
}

ConfigAnswer LiveConfiguration::apply(const report::ConfigOrder& order, std::string_view who) {
  const std::lock_guard lock(mutex_);
  ConfigAnswer answer = change({{order.text, order.name}, live_, order.dry_run, order.strict},
                               "the admin API, " + std::string(who));
  if (answer.outcome == ConfigOutcome::kApplied || answer.outcome == ConfigOutcome::kNothing) {
    if (!flags_.configuration.file.empty() && order.name != flags_.configuration.file) {
      answer.note = "it holds until SIGHUP or a restart: the proxy was started with --config " +
                    printable(flags_.configuration.file);
    } else if (flags_.configuration.file.empty()) {
      answer.note = "it holds until a restart: the proxy was started without --config";
    }
  }
  return answer;
}

ConfigAnswer LiveConfiguration::change_rules(const report::RuleOrder& order, std::string_view who) {
  const std::lock_guard lock(mutex_);
  const std::string by = "the admin API, " + std::string(who);
  return order.add.empty() ? remove_rule(order.remove, by, order.dry_run)
                           : add_rule(order.add, by, order.dry_run);
}

ConfigAnswer LiveConfiguration::add_rule(const std::string& text, const std::string& who,
                                         bool dry_run) {
  const Result<policy::RuleOptions> rule = parse_rule(text);
  if (!rule.ok()) return refuse({invalid_argument("rule: " + rule.error().message)}, who, dry_run);
  Wanted wanted{file_, live_, dry_run, false};
  std::erase_if(wanted.live.added,
                [&](const AddedRule& added) { return added.match == rule->match; });
  wanted.live.added.push_back(
      {text, rule->match, "added live " + iso_time(target_.now()) + " by " + who});
  ConfigAnswer answer = change(std::move(wanted), who);
  if (answer.outcome == ConfigOutcome::kApplied || answer.outcome == ConfigOutcome::kChecked)
    answer.note = "it ends with a restart; to keep it, put this into rules: of the file: - " +
                  policy::rule_line(*rule);
  return answer;
}

bool LiveConfiguration::is_known(const std::string& match) const {
  return std::any_of(now_.rules.begin(), now_.rules.end(),
                     [&](const auto& rule) { return rule.options.match == match; });
}

ConfigAnswer LiveConfiguration::remove_rule(const std::string& match, const std::string& who,
                                            bool dry_run) {
  if (!is_known(match))
    return refuse(
        {{ErrorCode::kNotFound, "no rule has the match '" + printable(match, kMatchBytes) +
                                    "': heatsink rule list shows them"}},
        who, dry_run);
  Wanted wanted{file_, live_, dry_run, false};
  std::erase_if(wanted.live.added, [&](const AddedRule& added) { return added.match == match; });
  std::string origin;
  for (const BuiltConfiguration::Rule& rule : now_.rules) {
    if (rule.is_live || rule.options.match != match) continue;
    origin = rule.origin;
    wanted.live.removed.insert(match);
  }
  ConfigAnswer answer = change(std::move(wanted), who);
  const bool changes =
      answer.outcome == ConfigOutcome::kApplied || answer.outcome == ConfigOutcome::kChecked;
  if (changes && !origin.empty())
    answer.note = "a restart brings it back: remove it from " + origin + ", too";
  return answer;
}

ConfigAnswer LiveConfiguration::change(Wanted wanted, const std::string& who) {
  BuiltConfiguration built = build_configuration(flags_, wanted.file, wanted.live);
  if (!built.faults.empty()) return refuse(std::move(built.faults), who, wanted.dry_run);
  policy::ProxyOptions next = policy::without_restarts(now_.options, built.options);
  ConfigAnswer answer{.generation = now_.generation};
  for (OptionChange& each : policy::difference(now_.options, built.options, target_.shown))
    (each.needs_restart ? answer.needs_restart : answer.changes).push_back(std::move(each));
  // Options that wait for a restart may not fit to what is applied now.
  if (!answer.needs_restart.empty()) {
    if (ConfigFaults faults = contradictions_of(next); !faults.empty())
      return refuse(std::move(faults), who, wanted.dry_run);
  }
  if (wanted.strict && !answer.needs_restart.empty()) {
    ConfigFaults faults;
    for (const OptionChange& each : answer.needs_restart)
      faults.push_back(
          invalid_argument(change_text(each) + ": restart the proxy, or leave out --strict"));
    return refuse(std::move(faults), who, wanted.dry_run);
  }
  answer.outcome = wanted.dry_run ? ConfigOutcome::kChecked : ConfigOutcome::kNothing;
  if (wanted.dry_run) return answer;
  if (!answer.changes.empty()) {
    const Result<std::uint64_t> applied = target_.apply(now_.options, next);
    if (!applied.ok()) return refuse({applied.error()}, who, false);
    answer.outcome = ConfigOutcome::kApplied;
    answer.generation = *applied;
    set_applied(*applied);
    ++applied_;
  }
  now_.needs_restart = answer.needs_restart;
  report_changes(answer, who);
  keep(std::move(wanted), std::move(built), std::move(next));
  return answer;
}

ConfigAnswer LiveConfiguration::refuse(ConfigFaults faults, const std::string& who, bool dry_run) {
  ConfigAnswer answer{.outcome = ConfigOutcome::kRefused,
                      .generation = now_.generation,
                      .faults = std::move(faults)};
  if (dry_run) return answer;
  ++refused_;
  const std::string by = " (by " + who + "; nothing was changed)";
  if (target_.hides_names) {
    target_.add_event(Config::kRefused, std::to_string(answer.faults.size()) +
                                            " faults, whose text may have names of keys: " +
                                            "heatsink config check FILE shows them" + by);
    return answer;
  }
  for (const Error& each : answer.faults) target_.add_event(Config::kRefused, each.message + by);
  return answer;
}

void LiveConfiguration::keep(Wanted wanted, BuiltConfiguration built, policy::ProxyOptions next) {
  built.log_deprecated(deprecated_);
  deprecated_ = std::move(built.deprecated);
  file_ = std::move(wanted.file);
  live_ = std::move(wanted.live);
  now_.file = file_.name;
  now_.options = std::move(next);
  now_.rules = std::move(built.rules);
  now_.left_out = std::move(built.left_out);
}

// One event for each difference: a change of many rules is not cut off.
void LiveConfiguration::report_changes(const ConfigAnswer& answer, const std::string& who) const {
  const std::string by = " (by " + who + ")";
  std::size_t told = 0;
  for (const OptionChange& each : answer.changes) {
    if (++told > kEventsPerChange) continue;
    target_.add_event(Config::kChanged, change_text(each) + by);
  }
  if (told > kEventsPerChange)
    target_.add_event(Config::kChanged, "and " + std::to_string(told - kEventsPerChange) +
                                            " more differences" + by +
                                            "; GET /api/config has what holds now");
  for (const OptionChange& each : answer.needs_restart)
    log(LogLevel::kWarning,
        "configuration: " + change_text(each) + by + ": it holds from the next start on");
}

}  // namespace heatsink::app

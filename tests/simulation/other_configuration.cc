// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/other_configuration.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

namespace heatsink::simulation {
namespace {

template <class T, std::size_t kCount>
T one_of(const std::array<T, kCount>& values, Scheduler& random) {
  return values[random.below(kCount)];
}

policy::RuleOptions random_rule(const std::string& match, Nanos staleness_max, bool has_copies,
                                Scheduler& random) {
  policy::RuleOptions rule;
  rule.match = match;
  using Level = cache::Level;
  using RuleLevel = decltype(rule.level);
  rule.level = one_of(
      std::array<RuleLevel, 4>{Level::kOff, Level::kKey, Level::kSession, RuleLevel()}, random);
  if (rule.level == RuleLevel(Level::kKey) || rule.level == RuleLevel(Level::kSession))
    rule.max_staleness =
        std::max<Nanos>(staleness_max / static_cast<int>(1 + random.below(4)), Millis(250));
  if (has_copies && rule.level == RuleLevel(Level::kKey) && random.chance(0.2)) {
    rule.limit_rate = "1000000/s";
    rule.limit_over = policy::LimitOver::kStale;
  }
  if (random.chance(0.3)) rule.coalesce = Millis(1);
  if (random.chance(0.3))
    rule.dimension =
        one_of(std::array{detect::Dimension::kWrites, detect::Dimension::kMisses}, random);
  if (random.chance(0.5)) rule.hot_qps = 1 + static_cast<double>(random.below(200));
  using Admission = policy::Admission;
  using RuleAdmission = decltype(rule.admission);
  rule.admission = one_of(std::array<RuleAdmission, 4>{Admission::kPays, Admission::kHot,
                                                       Admission::kOff, RuleAdmission()},
                          random);
  if (random.chance(0.3)) rule.refresh = policy::Refresh::kOff;
  return rule;
}

}  // namespace

policy::ProxyOptions other_configuration(const policy::ProxyOptions& base, Scheduler& random) {
  policy::ProxyOptions options = base;
  options.cache_enabled = random.chance(0.85);
  options.maximum_bytes = kibibytes(one_of(std::array<std::uint64_t, 3>{64, 256, 65'536}, random));
  options.maximum_value_bytes = std::min(options.maximum_value_bytes, options.maximum_bytes);
  options.maximum_size = one_of(std::array<std::int64_t, 3>{2, 8, 1000}, random);
  options.tick = Millis(10 + static_cast<std::int64_t>(random.below(90)));
  options.refresh_interval = Millis(5 + static_cast<std::int64_t>(random.below(95)));
  options.audit_rate = Share{random.chance(0.5) ? 0.5 : 0.0};
  if (random.chance(0.3)) options.expire_after_write = Millis(200);
  if (random.chance(0.3)) options.top_n = 1 + static_cast<std::int64_t>(random.below(8));
  for (const char* match : {"k*", "k?", "k1*", "k0:1", "*1", "*"}) {
    if (random.chance(0.5))
      options.rules.push_back(
          random_rule(match, base.max_staleness, options.cache_enabled, random));
  }
  return options;
}

}  // namespace heatsink::simulation

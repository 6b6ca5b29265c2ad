// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/cross_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "heatsink/base/printable.h"
#include "heatsink/report/report.h"

namespace heatsink::observe {
namespace {

using detect::Verdict;
using report::KeyReport;

constexpr std::size_t kNameBytesShown = 60;

const Verdict* find(const Observation& seen, const Verdict& key) {
  for (const KeyReport& other : seen.report.keys) {
    if (other.verdict.count.key == key.count.key && other.verdict.count.db == key.count.db)
      return &other.verdict;
  }
  return nullptr;
}

std::string told(const Observation& seen, const Verdict& key) {
  return fmt::format("{} {:.0f}/s ({:.0f} .. {:.0f})", seen.facts.name, key.rate, key.rate_low,
                     key.rate_high);
}

bool is_hot(const Verdict& key) {
  return key.temperature == detect::Temperature::kHot ||
         key.temperature == detect::Temperature::kWriteHot;
}

// With `both`, compares the bounds too; without, reports only keys that `other` does not list.
void compare(const Observation& one, const Observation& other, bool both,
             std::vector<std::string>& out) {
  const std::size_t keys = std::min(one.report.keys.size(), kCheckedKeys);
  for (std::size_t i = 0; i < keys; ++i) {
    const Verdict& key = one.report.keys[i].verdict;
    const Verdict* match = find(other, key);
    const std::string name = printable(key.count.key, kNameBytesShown);
    if (match == nullptr) {
      if (is_hot(key))
        out.push_back(fmt::format("{}: hot by {}, but not listed by {}", name, told(one, key),
                                  other.facts.name));
    } else if (both && (match->rate_low > key.rate_high || match->rate_high < key.rate_low)) {
      out.push_back(fmt::format("{}: {}, {}", name, told(one, key), told(other, *match)));
    }
  }
}

}  // namespace

std::vector<std::string> cross_check(std::span<const Observation> seen) {
  std::vector<std::string> out;
  std::vector<const Observation*> with_rows;
  for (const Observation& each : seen) {
    if (!each.report.keys.empty()) with_rows.push_back(&each);
  }
  if (with_rows.size() < 2) return out;
  for (std::size_t i = 1; i < with_rows.size(); ++i) {
    compare(*with_rows[0], *with_rows[i], true, out);
    compare(*with_rows[i], *with_rows[0], false, out);
  }
  if (out.empty()) {
    out.push_back(fmt::format("{} sources agree on the {} busiest keys, within their bounds",
                              with_rows.size(), kCheckedKeys));
  }
  return out;
}

}  // namespace heatsink::observe

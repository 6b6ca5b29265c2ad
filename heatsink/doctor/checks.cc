// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/checks.h"

#include <algorithm>
#include <vector>

#include "heatsink/base/reference_table.h"
#include "heatsink/doctor/access_checks.h"
#include "heatsink/doctor/contact_checks.h"
#include "heatsink/doctor/machine_checks.h"
#include "heatsink/doctor/role_checks.h"
#include "heatsink/doctor/setting_checks.h"
#include "heatsink/doctor/tracking_checks.h"

namespace heatsink::doctor {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::string_view kIndent = "                      ";

bool is_met(Needs needs, const Facts& facts) {
  switch (needs) {
    case Needs::kNothing:
      return true;
    case Needs::kAnswer:
      return facts.server.is_answering();
    case Needs::kLogin:
      return facts.server.is_logged_in();
    case Needs::kData:
      return facts.server.is_logged_in() && !is_sentinel(facts.server);
  }
  return false;
}

std::string_view text_of(Needs needs) {
  switch (needs) {
    case Needs::kNothing:
      return "no server";
    case Needs::kAnswer:
      return "an answer";
    case Needs::kLogin:
      return "a login";
    case Needs::kData:
      return "a server with keys";
  }
  return "";
}

std::string_view text_of(When when) { return when == When::kStart ? "start" : "start, connect"; }

}  // namespace

std::span<const Check> checks() {
  static const std::vector<Check> all = [] {
    std::vector<Check> rows;
    for (const std::span<const Check> some : {contact_checks(), role_checks(), tracking_checks(),
                                              access_checks(), setting_checks(), machine_checks()})
      rows.insert(rows.end(), some.begin(), some.end());
    return rows;
  }();
  return all;
}

Examination examine(const Facts& facts, When when) {
  Examination out;
  for (const Check& check : checks()) {
    if (when == When::kConnect && check.when == When::kStart) continue;
    if (!is_met(check.needs, facts)) {
      ++out.left_out;
      continue;
    }
    const std::size_t before = out.findings.size();
    check.run(facts, out.findings);
    for (std::size_t i = before; i < out.findings.size(); ++i)
      out.findings[i].code = std::string(check.code);
  }
  return out;
}

const Check* find_check(std::string_view code) {
  const auto found = std::ranges::find(checks(), code, &Check::code);
  return found == checks().end() ? nullptr : &*found;
}

std::string checks_page() {
  ReferenceTable table({"code", "needs", "when a proxy checks it", "what it checks"});
  for (const Check& check : checks())
    table.add(check.code, {std::string(text_of(check.needs)), std::string(text_of(check.when))},
              check.help);
  return "# Checks of heatsink doctor\n\n"
         "`heatsink doctor --list --markdown` writes this page. [The "
         "guide](../guides/doctor.md) explains levels, exit\ncodes and where a running proxy shows "
         "its findings. A code never changes its meaning.\n\n" +
         table.text();
}

std::string checks_list() {
  std::string out;
  for (const Check& check : checks()) {
    std::string first(check.code);
    first.resize(std::max(kIndent.size(), first.size() + 1), ' ');
    append_wrapped(out, first, kIndent, check.help, kColumns);
  }
  return out;
}

}  // namespace heatsink::doctor

// SPDX-License-Identifier: Apache-2.0
// heatsink rule add | remove | match | list: the rules of a running proxy, for the incident at
// hand.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "apps/heatsink/ask_admin.h"
#include "apps/heatsink/dry_run_lines.h"
#include "apps/heatsink/flags.h"
#include "apps/heatsink/live_configuration.h"
#include "apps/heatsink/live_json.h"
#include "apps/heatsink/process/exit_code.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/printable.h"
#include "heatsink/report/config_order.h"

namespace heatsink::app {
namespace {

constexpr Nanos kMatchesOf = std::chrono::hours(1);

int fail(const AdminFlags& flags, const char* program, const Error& error) {
  std::cerr << program << ": the proxy at " << flags.admin.text()
            << " cannot be asked: " << one_line(error.message)
            << " (--admin names its admin address, admin.listen)\n";
  return kFailed;
}

int list_rules(const AdminFlags& flags, const char* program) {
  const Result<std::string> answer = ask_admin(flags, {"GET", "/api/rules", ""});
  const Result<std::vector<std::string>> lines =
      answer.ok() ? rule_lines(*answer) : Result<std::vector<std::string>>(answer.error());
  if (!lines.ok()) return fail(flags, program, lines.error());
  if (flags.json) {
    std::cout << *answer;
  } else if (lines->empty()) {
    std::cout << "no rules: all keys are as under detection and cache\n";
  } else {
    for (const std::string& line : *lines) std::cout << line << "\n";
  }
  return std::cout.flush().good() ? kDone : kFailed;
}

std::string percent_encoded(const std::string& text) {
  std::string out;
  for (const char byte : text) out += fmt::format("%{:02x}", static_cast<unsigned char>(byte));
  return out;
}

// Which keys a rule with this match would have had.
int show_matches(const AdminFlags& flags, const std::string& match, Nanos within,
                 const char* program) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto from = std::chrono::duration_cast<std::chrono::seconds>(now - within).count();
  const Result<std::string> answer =
      ask_admin(flags, {"GET",
                        "/api/rules/dry-run?match=" + percent_encoded(match) +
                            "&from=" + std::to_string(std::max<std::int64_t>(from, 0)),
                        ""});
  const Result<std::vector<std::string>> lines =
      answer.ok() ? dry_run_lines(*answer) : Result<std::vector<std::string>>(answer.error());
  if (!lines.ok()) return fail(flags, program, lines.error());
  if (flags.json) {
    std::cout << *answer;
  } else {
    for (const std::string& line : *lines) std::cout << line << "\n";
  }
  return std::cout.flush().good() ? kDone : kFailed;
}

// Shows the change as it would be, and for an added rule also the keys that it would have had.
int change_rules(const AdminFlags& flags, const report::RuleOrder& order, const char* program) {
  const int code =
      ask_for_change(flags, {"POST", "/api/rules", report::rule_order_json(order)}, program);
  if (code != kDone || !order.dry_run || order.add.empty()) return code;
  const Result<policy::RuleOptions> rule = parse_rule(order.add);
  return rule.ok() ? show_matches(flags, rule->match, kMatchesOf, program) : kMisused;
}

}  // namespace

int run_rule(int argc, char** argv) {
  CLI::App app(
      "Adds, removes, tries and lists the rules of a running proxy. "
      "Added rules survive SIGHUP and end with a restart.",
      argv[0]);
  app.require_subcommand(1);
  AdminFlags flags;
  report::RuleOrder order;
  CLI::App* const add = app.add_subcommand(
      "add", "Add a rule, or replace the added one with the same match: 'match=cart:*,level=off'");
  add->add_option("RULE", order.add, "The rule, in the form of --rule")->required();
  CLI::App* const remove = app.add_subcommand("remove", "Remove the rules with this match");
  remove->add_option("MATCH", order.remove, "The match of the rule, such as 'cart:*'")->required();
  for (CLI::App* const verb : {add, remove})
    verb->add_flag("--dry-run", order.dry_run, "Only show what would change, and for which keys");
  CLI::App* const match = app.add_subcommand(
      "match", "Show the keys that a rule with this match would have had, and their requests");
  std::string pattern;
  match->add_option("MATCH", pattern, "The match of the rule, such as 'cart:*'")->required();
  Nanos within = kMatchesOf;
  add_duration_flag(*match, "--for", within, "How long back to look, until now");
  CLI::App* const list = app.add_subcommand("list", "Show all rules, and where each comes from");
  for (CLI::App* const verb : {add, remove, match, list}) add_admin_flags(*verb, flags);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  if (list->parsed()) return list_rules(flags, argv[0]);
  if (match->parsed()) return show_matches(flags, pattern, within, argv[0]);
  return change_rules(flags, order, argv[0]);
}

}  // namespace heatsink::app

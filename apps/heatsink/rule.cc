// SPDX-License-Identifier: Apache-2.0
// heatsink rule add | remove | list: the rules of a running proxy, for the incident at hand.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "apps/heatsink/ask_admin.h"
#include "apps/heatsink/flags.h"
#include "apps/heatsink/live_json.h"
#include "apps/heatsink/process/exit_code.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/report/config_order.h"

namespace heatsink::app {
namespace {

int list_rules(const AdminFlags& flags, const char* program) {
  const Result<std::string> answer = ask_admin(flags, {"GET", "/api/rules", ""});
  const Result<std::vector<std::string>> lines =
      answer.ok() ? rule_lines(*answer) : Result<std::vector<std::string>>(answer.error());
  if (!lines.ok()) {
    std::cerr << program << ": the proxy at " << flags.admin.text()
              << " cannot be asked: " << lines.error().message
              << " (--admin names its admin address, admin.listen)\n";
    return kFailed;
  }
  if (flags.json) {
    std::cout << *answer;
  } else if (lines->empty()) {
    std::cout << "no rules: all keys are as under detection and cache\n";
  } else {
    for (const std::string& line : *lines) std::cout << line << "\n";
  }
  return std::cout.flush().good() ? kDone : kFailed;
}

}  // namespace

int run_rule(int argc, char** argv) {
  CLI::App app(
      "Adds, removes and lists the rules of a running proxy. Added rules survive SIGHUP and end "
      "with a restart.",
      argv[0]);
  app.require_subcommand(1);
  AdminFlags flags;
  report::RuleOrder order;
  CLI::App* const add = app.add_subcommand(
      "add", "Add a rule, or replace the added one with the same match: 'match=cart:*,level=off'");
  add->add_option("RULE", order.add, "The rule, in the form of --rule")->required();
  CLI::App* const remove = app.add_subcommand("remove", "Remove the rules with this match");
  remove->add_option("MATCH", order.remove, "The match of the rule, such as 'cart:*'")->required();
  CLI::App* const list = app.add_subcommand("list", "Show all rules, and where each comes from");
  for (CLI::App* const verb : {add, remove, list}) add_admin_flags(*verb, flags);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  if (list->parsed()) return list_rules(flags, argv[0]);
  return ask_for_change(flags, {"POST", "/api/rules", report::rule_order_json(order)}, argv[0]);
}

}  // namespace heatsink::app

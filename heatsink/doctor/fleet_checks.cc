// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/fleet_checks.h"

#include <fmt/format.h>

#include <array>

#include "heatsink/base/printable.h"
#include "heatsink/fleet/names.h"
#include "heatsink/policy/needed_rights.h"
#include "heatsink/redis/redis.h"

namespace heatsink::doctor {
namespace {

struct Right {
  std::string_view command, rule;  // as in NeededRight
};
// In the order of the guide (docs/guides/fleet.md).
constexpr std::array<Right, 6> kRights = {{{"SET", "+set"},
                                           {"GETRANGE", "+getrange"},
                                           {"SADD", "+sadd"},
                                           {"SREM", "+srem"},
                                           {"SRANDMEMBER", "+srandmember"},
                                           {"PEXPIRE", "+pexpire"}}};

std::string missing_sentence(const std::string& user, const std::string& commands,
                             bool refuses_keys) {
  std::string what = "the server's user '" + user + "' may not ";
  if (!commands.empty()) what += "run " + commands;
  if (refuses_keys)
    what += fmt::format("{}use the keys {}*", commands.empty() ? "" : ", ", fleet::kKeyPrefix);
  return what;
}

void check_fleet(const Facts& facts, Findings& out) {
  if (!facts.options.fleet_enabled) return;
  const std::string user = printable(redis::Credentials{facts.upstream.user, ""}.acl_user());
  std::string commands, rules;
  bool refuses_keys = false;
  std::size_t answered = 0;
  for (const Right& right : kRights) {
    const std::string_view error = facts.server.error(fleet_reply(right.command));
    if (policy::refuses_command(error)) {
      commands += (commands.empty() ? "" : ", ") + std::string(right.command);
      rules += " " + std::string(right.rule);
    } else {
      refuses_keys |= error.starts_with("NOPERM");
    }
    if (facts.server.replies.contains(fleet_reply(right.command))) ++answered;
  }
  if (refuses_keys) rules += fmt::format(" ~{}*", fleet::kKeyPrefix);
  if (!rules.empty()) {
    out.push_back({Level::kWarning, missing_sentence(user, commands, refuses_keys),
                   "this proxy counts alone, or its counts reach no other member of the fleet",
                   "grant it", "ACL SETUSER " + user + rules});
    return;
  }
  if (answered == 0) return;
  const resp::Value* const members = facts.server.reply(fleet_reply("SCARD"));
  const std::string known =
      members != nullptr && members->type == resp::Value::Type::kInteger
          ? fmt::format("; {} members have reported lately, of its first shard", members->integer)
          : "";
  out.push_back(
      {Level::kOk,
       fmt::format("the server's user '{}' has all rights to the keys of the fleet '{}'{}", user,
                   facts.options.fleet_name, known)});
}

}  // namespace

std::vector<std::vector<std::string>> fleet_commands(const std::string& fleet) {
  const fleet::Names names(fleet);
  const std::string key = names.report(0, "doctor");
  return {
      {"SET", key, "0", "XX", "PX", "1"}, {"GETRANGE", key, "0", "0"}, {"SREM", key, "doctor"},
      {"SRANDMEMBER", key, "1"},          {"PEXPIRE", key, "1"},       {"SCARD", names.members(0)}};
}

std::vector<std::string> fleet_sadd(const std::string& fleet) {
  return {"SADD", fleet::Names(fleet).report(0, "doctor"), "doctor"};
}

std::string fleet_reply(std::string_view command) { return "fleet: " + std::string(command); }

std::span<const Check> fleet_checks() {
  static constexpr std::array<Check, 1> kRows = {{
      {"fleet",
       "With fleet.enabled: the rights to the fleet's keys, and how many members have reported.",
       Needs::kData, When::kConnect, check_fleet, true},
  }};
  return kRows;
}

}  // namespace heatsink::doctor

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/fleet_checks.h"

#include <fmt/format.h>

#include <array>

#include "heatsink/base/printable.h"
#include "heatsink/fleet/names.h"
#include "heatsink/redis/redis.h"

namespace heatsink::doctor {
namespace {

// In the order of the guide (docs/guides/fleet.md).
constexpr std::array<std::string_view, 6> kCommands = {"SET",  "GETRANGE",    "SADD",
                                                       "SREM", "SRANDMEMBER", "PEXPIRE"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// "NOPERM ... to run the 'set' command". Any other NOPERM is about the key.
bool refuses_command(std::string_view error) {
  return error.find("to run the ") != std::string_view::npos;
}

void check_fleet(const Facts& facts, Findings& out) {
  if (!facts.options.fleet_enabled) return;
  const std::string user = printable(redis::Credentials{facts.upstream.user, ""}.acl_user());
  std::string names, rules;
  bool is_refused = false, refuses_keys = false;
  std::size_t answered = 0;
  for (const std::string_view command : kCommands) {
    const std::string_view error = facts.server.error(fleet_reply(command));
    if (error.starts_with("NOPERM")) {
      is_refused = true;
      if (refuses_command(error)) {
        names += names.empty() ? std::string(command) : ", " + std::string(command);
        rules += " +" + lower(command);
      } else {
        refuses_keys = true;
      }
    }
    if (facts.server.replies.contains(fleet_reply(command))) ++answered;
  }
  if (refuses_keys) {
    names += names.empty() ? "" : ", ";
    names += fmt::format("use the keys {}*", fleet::kKeyPrefix);
    rules += fmt::format(" ~{}*", fleet::kKeyPrefix);
  }
  if (is_refused) {
    out.push_back({Level::kWarning,
                   fmt::format("the server's user '{}' may not {}{}", user,
                               names.starts_with("use") ? "" : "run ", names),
                   "this proxy counts alone, or its counts reach no other member of the fleet",
                   "grant it", "ACL SETUSER " + user + rules});
    return;
  }
  if (answered == 0) return;
  const resp::Value* const members = facts.server.reply(fleet_reply("SCARD"));
  const std::string known = members != nullptr && members->type == resp::Value::Type::kInteger
                                ? fmt::format(
                                      "; {} members have reported lately, of its first "
                                      "shard",
                                      members->integer)
                                : "";
  out.push_back({Level::kOk, fmt::format("the server's user '{}' has all rights to the keys of the "
                                         "fleet '{}'{}",
                                         user, facts.options.fleet_name, known)});
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

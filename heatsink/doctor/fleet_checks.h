// SPDX-License-Identifier: Apache-2.0
// Checks what the counts of a fleet need: the rights to its keys, and who has reported.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/doctor/check.h"

namespace heatsink::doctor {

// The commands that a member of the fleet sends, except SADD, in a form that changes nothing: the
// key does not exist. SCARD counts the members.
std::vector<std::vector<std::string>> fleet_commands(const std::string& fleet);
// SADD has no such form: for between MULTI and DISCARD.
std::vector<std::string> fleet_sadd(const std::string& fleet);
// Names the replies in ServerFacts::replies.
std::string fleet_reply(std::string_view command);

std::span<const Check> fleet_checks();

}  // namespace heatsink::doctor

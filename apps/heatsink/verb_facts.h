// SPDX-License-Identifier: Apache-2.0
// Collects what the verbs' command lines offer: for manual pages and completions.
#pragma once

#include <span>
#include <vector>

#include "apps/heatsink/manual/command_facts.h"
#include "apps/heatsink/verbs.h"

namespace heatsink::app {

// Asks each verb for its flags (FlagsReader): none of them runs.
std::vector<CommandFacts> facts_of(std::span<const Verb> verbs);

}  // namespace heatsink::app

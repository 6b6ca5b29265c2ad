// SPDX-License-Identifier: Apache-2.0
// Inside resp: decides once per command how its keys are found, so that find_keys() need not.
#pragma once

#include "heatsink/resp/command.h"

namespace heatsink::resp {

// Sets `key_rule`, and makes the legacy triple and the specs agree: a command without specs gets
// one from its triple, and a command with a kOne... rule gets the key's position as first_key.
// REQUIRES name, flags, triple, key_specs and is_container to be final.
void settle_key_rule(Command& command);

}  // namespace heatsink::resp

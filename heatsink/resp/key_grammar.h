// SPDX-License-Identifier: Apache-2.0
// Inside resp: handles calls whose keys no key specification can describe, with a function per
// grammar.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "heatsink/resp/key_finder.h"

namespace heatsink::resp {

using Args = std::span<const std::string_view>;

// Each implements find_keys() for the KeyRule of its name, and appends to an empty `refs`.
Keys sort_keys(const Command& command, Args args, std::vector<KeyRef>& refs);
Keys migrate_keys(Args args, std::vector<KeyRef>& refs);
Keys geo_radius_keys(Args args, std::vector<KeyRef>& refs);
Keys bit_field_keys(Args args, std::vector<KeyRef>& refs);
Keys stream_keys(const Command& command, Args args, std::vector<KeyRef>& refs);

}  // namespace heatsink::resp

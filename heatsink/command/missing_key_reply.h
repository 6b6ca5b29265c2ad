// SPDX-License-Identifier: Apache-2.0
// Recognises the replies that a server may give to a read of a key that does not exist.
#pragma once

#include <string_view>

namespace heatsink::proxy {

// A whole reply, RESP2 or RESP3. True if all that it says is nil, zero, negative, empty, false or
// the type "none": a key with such a value has the same reply. O(bytes before the first other one).
bool may_be_of_missing_key(std::string_view reply);

}  // namespace heatsink::proxy

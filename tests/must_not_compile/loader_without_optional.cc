// SPDX-License-Identifier: Apache-2.0
// A loader says whether the key exists: what it gives is an optional of the client's own type.
// EXPECT: no matching .*call to .*get
#include <optional>
#include <string>

#include "heatsink/client/client.h"

#ifdef MISUSE
int load(const std::string&) { return 1; }
#else
std::optional<std::string> load(const std::string&) { return "1"; }
#endif

void use(const heatsink::client::Client<std::string>& client) { (void)client.get("key", load); }

// SPDX-License-Identifier: Apache-2.0
// A look at a local copy stays where it was taken; what may be kept is its value().
// EXPECT: use of deleted function|call to deleted constructor
#include <optional>
#include <string>

#include "heatsink/client/client.h"

std::optional<std::string> use(const heatsink::client::Client<std::string>& client) {
  const heatsink::client::Local<std::string> local = client.peek("key");
#ifdef MISUSE
  const heatsink::client::Local<std::string> kept = local;
  return kept.value();
#else
  return local.value();
#endif
}

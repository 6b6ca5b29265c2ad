// SPDX-License-Identifier: Apache-2.0
// Lists the options of the admin API.
#include <utility>

#include "heatsink/policy/options.h"

namespace heatsink::policy {

void ProxyOptions::describe_admin(OptionSet& set) {
  OptionRow address{"admin.listen", &admin,
                    "Address of the admin API, host:port; off: no admin API. "
                    "Beyond loopback it requires a token."};
  address.needs_restart = true;
  set.add(std::move(address));
  set.add({"admin.token", &admin_token,
           "Token that each admin API request must carry (Authorization: Bearer ...). "
           "Prefer admin.token-file: other users can see command lines."});
  set.add({"admin.token-file", &admin_token_file,
           "File with the admin token on one line, or with several, a line for each. "
           "Such a line is viewer NAME TOKEN (may look) or operator NAME TOKEN "
           "(may also change things)."});

  set.add({"admin.metrics-keys", &metrics_keys,
           "Number of hot keys that have separate metrics in GET /metrics, busiest first. 0: none. "
           "Key names are shown as privacy.redact-keys says.",
           0, 1000});
}

}  // namespace heatsink::policy

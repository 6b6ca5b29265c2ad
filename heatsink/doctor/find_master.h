// SPDX-License-Identifier: Apache-2.0
// Asks Sentinels, or a master and its replicas, once which server is the master. Blocks meanwhile.
#pragma once

#include <atomic>

#include "heatsink/base/result.h"
#include "heatsink/doctor/facts.h"

namespace heatsink::doctor {

struct FoundMaster {
  Result<net::RedisUrl> master;  // or why it is not known
  MasterSearch search;
};

// REQUIRES a URL of Sentinels, or of a master and its replicas. Asks one after the other, and never
// for longer than `limit` in all. Any thread.
FoundMaster find_master(const policy::ProxyOptions& options, const net::RedisUrl& configured,
                        Nanos limit);

}  // namespace heatsink::doctor

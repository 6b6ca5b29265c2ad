// SPDX-License-Identifier: Apache-2.0
// Sources by the names that a person knows them by.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/observe/greeting.h"
#include "heatsink/observe/source.h"

namespace heatsink::observe {

struct SourceOptions {
  Login login;
  std::string server;               // as shown, without a password
  std::uint32_t db = 0;             // 0: all databases, where a source looks at one at a time
  Nanos latency_max = Millis(100);  // of a PING while we are a burden: above, it is ended
  double scan_keys_per_second = 0;  // of lfu; 0: its default
  // Of lfu: where a scan goes on, and who keeps where it is (lfu_source.h).
  std::string resume_from;
  std::function<void(const std::string&)> keep;
  std::uint64_t seed = 0;
};

// "auto", "monitor", ...; in the order of --help.
std::vector<std::string> source_names();

// kInvalidArgument for another name, with those that there are.
Result<std::unique_ptr<Source>> make_source(std::string_view name, const SourceOptions& options);

}  // namespace heatsink::observe

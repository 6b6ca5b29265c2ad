// SPDX-License-Identifier: Apache-2.0
// Makes a source by its name, such as "monitor".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/observe/capture_target.h"
#include "heatsink/observe/greeting.h"
#include "heatsink/observe/source.h"

namespace heatsink::observe {

struct SourceOptions {
  Login login;
  std::string server;    // as displayed, without a password
  std::uint32_t db = 0;  // 0: all databases, for sources that read one at a time
  // a PING slower than this while heatsink burdens the server ends the burden
  Nanos latency_max = Millis(100);
  double scan_keys_per_second = 0;  // for lfu; 0: its default
  // For lfu: the key that is asked for first (lfu_source.h).
  std::optional<std::string> first_key{};
  std::optional<std::uint32_t> first_db{};
  // For lfu: where the scan resumes, and the function that saves its position (lfu_source.h).
  std::string resume_from;
  std::function<void(const std::string&)> keep;
  // Returns the capture that open_capture() made before any thread was started; call it once.
  // Empty: there is none, and auto does not try it.
  std::function<std::unique_ptr<Source>()> capture;
  std::uint64_t seed = 0;
};

// "auto", "monitor", ...; in the order of --help.
std::vector<std::string> source_names();

// kInvalidArgument for an unknown name; the message lists the names.
Status check_source_name(std::string_view name);
// Errors: those of check_source_name().
Result<std::unique_ptr<Source>> make_source(std::string_view name, const SourceOptions& options);

// Opens a capture, then gives up the privileges of the process (capture/feed.h). Call it before
// starting threads and after opening files that need privileges. A capture that cannot be opened
// becomes a source that has failed and says why. With `for_auto`, a capture also fails if it would
// see only part of the traffic, or sees no command for a few seconds.
std::unique_ptr<Source> open_capture(const CaptureTarget& target, const std::string& server,
                                     bool for_auto);

// Whether all masters of a cluster are observed by default. False for a source that burdens its
// server (MONITOR) or that may choose such a source, and for an unknown name.
bool is_for_each_node(std::string_view name);

}  // namespace heatsink::observe

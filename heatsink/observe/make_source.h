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
  std::string server;               // as shown, without a password
  std::uint32_t db = 0;             // 0: all databases, where a source looks at one at a time
  Nanos latency_max = Millis(100);  // of a PING while we are a burden: above, it is ended
  double scan_keys_per_second = 0;  // of lfu; 0: its default
  // Of lfu: where a scan goes on, and who keeps where it is (lfu_source.h).
  std::string resume_from;
  std::function<void(const std::string&)> keep;
  // The capture that was opened before any thread was started (open_capture), once; empty: there is
  // none, and auto does not try it.
  std::function<std::unique_ptr<Source>()> capture;
  std::uint64_t seed = 0;
};

// "auto", "monitor", ...; in the order of --help.
std::vector<std::string> source_names();

// kInvalidArgument for a name that is none of them, with those that there are.
Status check_source_name(std::string_view name);
// And its error.
Result<std::unique_ptr<Source>> make_source(std::string_view name, const SourceOptions& options);

// Opens a capture, and then the process gives up its rights (capture/feed.h): to be called before
// threads are started, and after files that need rights are open. What cannot be opened is a source
// that has failed, and says why. `for_auto`: it fails as well where it would see but a part of the
// traffic, or when it sees no command for a few seconds.
std::unique_ptr<Source> open_capture(const CaptureTarget& target, const std::string& server,
                                     bool for_auto);

// Whether of a cluster each node is looked at unless a person says otherwise: not by a source that
// is a burden (MONITOR), or that may choose one. False for a name that there is not.
bool is_for_each_node(std::string_view name);

}  // namespace heatsink::observe

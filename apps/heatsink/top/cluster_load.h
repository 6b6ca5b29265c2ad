// SPDX-License-Identifier: Apache-2.0
// Reads what a proxy sends to the nodes of a cluster, and judges whether moving slots would help.
#pragma once

#include <boost/json/object.hpp>
#include <optional>

#include "apps/heatsink/top/hotkeys_view.h"
#include "heatsink/base/result.h"
#include "heatsink/report/json_members.h"

namespace heatsink::app {

using report::Members;
using report::not_hotkeys;
using report::read_list;

// From an answer of /api/hotkeys. Older proxies, and those of one server, have nothing to read.
// REQUIRES the keys of `view`.
void read_cluster_load(const boost::json::object& document, HotkeysView& view,
                       std::optional<Error>& error);

}  // namespace heatsink::app

// SPDX-License-Identifier: Apache-2.0
// Writes the report as JSON: the answer of GET /api/hotkeys (docs/reference/http-api.md).
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <functional>
#include <string>

#include "heatsink/report/json_values.h"
#include "heatsink/report/key_view.h"
#include "heatsink/report/node_report.h"

namespace heatsink::report {

// `wall_at` is the wall clock at report.at: times of the boot clock are written as UTC relative to
// it, so that a stepped wall clock never changes an age. Always valid UTF-8: names are escaped, and
// also given in base64. Numbers that are not finite become null. O(keys).
std::string hotkeys_json(const Report& report, WallTime wall_at);
// The most important fact in a sentence: "2 keys are hot; hot means ...".
std::string headline(const Report& report);
// `add` is called with each key and its place in the report: it adds what is known beside it.
using AddToKey = std::function<void(std::size_t place, KeyView& key)>;
boost::json::object hotkeys_object(const Report& report, WallTime wall_at,
                                   const AddToKey& add = nullptr);
// Its member `cluster_load`.
boost::json::object slots_object(const SlotsReport& report);

}  // namespace heatsink::report

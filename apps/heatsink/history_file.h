// SPDX-License-Identifier: Apache-2.0
// Connects a proxy to the file that keeps its history (history.file).
#pragma once

#include <memory>

#include "heatsink/admin/admin.h"
#include "heatsink/doctor/findings_json.h"
#include "heatsink/history/history.h"
#include "heatsink/policy/options.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// Null: there is no such file.
std::unique_ptr<history::Writer> history_writer(const policy::ProxyOptions& options);

// `writer` may be null, and must outlive the proxy that records.
copies::Recording recording_to(history::Writer* writer);

// Sets /api/heatmap: of the memory of the proxy as far as it reaches back, and of the file beyond.
void add_heatmap(admin::Sources& sources, const proxy::Proxy& proxy, const std::string& file);

// Sets what /api/rules/dry-run adds up, of the same two.
void add_sums(admin::Sources& sources, const proxy::Proxy& proxy, const std::string& file);

// Sets /api/events: from the memory of the proxy, and from the file what that has forgotten.
void add_events(admin::Sources& sources, const proxy::Proxy& proxy, const std::string& file);

// Adds what is wrong with the file.
void add_finding(const history::Writer* writer, doctor::Diagnosis& diagnosis);

}  // namespace heatsink::app

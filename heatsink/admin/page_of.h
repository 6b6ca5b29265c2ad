// SPDX-License-Identifier: Apache-2.0
// Makes the pages of the admin API of functions of the sources. Internal to the room.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/admin/sources.h"
#include "heatsink/httpd/httpd.h"

namespace heatsink::admin {

using SharedSources = std::shared_ptr<const Sources>;
using PageOf = httpd::Answer (*)(const Sources&, const httpd::Question&);

// `takes`: the parameters of the page. Another one is a mistake, and would be without effect.
httpd::Route::Page page_of(SharedSources sources, PageOf of, std::vector<std::string> takes = {});

// The whole text is this number.
std::optional<std::uint64_t> whole_number_in(const std::string& text);
// Seconds since 1970. Nothing: no such number, or one that no clock of a person shows.
std::optional<WallTime> day_time_in(const std::string& text);

}  // namespace heatsink::admin

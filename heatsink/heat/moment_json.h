// SPDX-License-Identifier: Apache-2.0
// Writes and reads the counts of one moment as JSON: the answer of GET /api/counts, from which
// `heatsink watch` adds up many processes (docs/reference/http-api.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/heat/moment.h"

namespace heatsink::heat {

// `age`: of the counts. Always valid UTF-8: names are escaped, and also given in base64. Unlike the
// codes of a column, the rates are exact, and have bounds. About 50 us for 160 rows.
std::string moment_json(const Moment& moment, Nanos age);

inline constexpr std::size_t kMomentBytesMax = 256U << 10U;  // of the text; ours have about 28 KB

// Reads what moment_json() has written, from any process: beyond kMomentBytesMax or kPerMoment
// rows of a kind, without a member, or with a mistyped one it is kProtocol, and the message names
// the member. Rows of kinds that are not known here are skipped. Rates are finite and at least 0,
// rate_high is at least the rate. Rows of the same identity are added up. `now`: of the answer.
Result<Moment> parse_moment(std::string_view json, TimePoint now);

}  // namespace heatsink::heat

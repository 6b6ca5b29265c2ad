// SPDX-License-Identifier: Apache-2.0
// What may stand behind the value of SET, and behind the key of GETEX, for the model server.
#pragma once

#include <optional>
#include <string_view>

#include "tests/simulation/model_state.h"

namespace heatsink::simulation {

struct ModelSetOptions {
  enum class Of { kSet, kGetex };

  bool parse(ModelArgs words, Of command);  // false: a syntax error
  // False, and the error is given, if there is no such time.
  bool read_time(const ModelCall& call, std::optional<TimePoint>& ends) const;

  bool only_new = false, only_old = false, get = false, keeps_ttl = false, persists = false;
  std::optional<std::string_view> time;
  bool in_seconds = false;
  bool is_moment = false;  // EXAT, PXAT
};

// `base` + amount; none if that is more than the server can count, which are milliseconds in 63
// bits. What is past the end of this program's clock (in 292 years) is its end.
std::optional<TimePoint> model_moment(std::int64_t amount, bool in_seconds, TimePoint base);

}  // namespace heatsink::simulation

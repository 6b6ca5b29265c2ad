// SPDX-License-Identifier: Apache-2.0
// What get() throws besides what the loader throws.
#pragma once

#include <stdexcept>
#include <string>

namespace heatsink::client {

// Others wait for the same load of a hot key: too many already, or this caller for too long. The
// source is busy with that one load; asking it again would only add to it.
class LoadRefused : public std::runtime_error {
 public:
  explicit LoadRefused(const std::string& why) : std::runtime_error(why) {}
};

}  // namespace heatsink::client

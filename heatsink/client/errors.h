// SPDX-License-Identifier: Apache-2.0
// What a Client throws besides what the caller's functions throw.
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

// The server of server.url has answered with an error: its own words.
class ServerError : public std::runtime_error {
 public:
  explicit ServerError(const std::string& said) : std::runtime_error(said) {}
};

// The server cannot be reached, or has not answered in time. After a write nobody knows whether it
// was executed, or will be.
class ServerUnavailable : public std::runtime_error {
 public:
  explicit ServerUnavailable(const std::string& why) : std::runtime_error(why) {}
};

}  // namespace heatsink::client

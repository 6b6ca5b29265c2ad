// SPDX-License-Identifier: Apache-2.0
// The exceptions that a Client throws besides those of the caller's functions.
#pragma once

#include <stdexcept>
#include <string>

namespace heatsink::client {

// Too many callers wait for the one load of a hot key (cache.maximum-waiters), or this caller has
// waited too long for it (cache.wait-timeout). The source is busy with that load, and asking it
// again would only make it slower.
class LoadRefused : public std::runtime_error {
 public:
  explicit LoadRefused(const std::string& why) : std::runtime_error(why) {}
};

// The server of server.url has replied with an error; what() is the server's error text.
class ServerError : public std::runtime_error {
 public:
  explicit ServerError(const std::string& said) : std::runtime_error(said) {}
};

// The server cannot be reached, or has not answered in time. After a write it is unknown whether
// the server has executed it, or will.
class ServerUnavailable : public std::runtime_error {
 public:
  explicit ServerUnavailable(const std::string& why) : std::runtime_error(why) {}
};

}  // namespace heatsink::client

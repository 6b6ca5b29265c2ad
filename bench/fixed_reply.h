// SPDX-License-Identifier: Apache-2.0
// What a local hit costs at the least: requests counted in a stream of bytes, each answered by
// bytes made before.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

namespace heatsink::bench {

// The replies of a responder that knows no keys: GET gives `value_bytes` of 'x', SET gives OK, all
// else an error.
class FixedReply {
 public:
  explicit FixedReply(std::size_t value_bytes)
      : get_("$" + std::to_string(value_bytes) + "\r\n" + std::string(value_bytes, 'x') + "\r\n") {}

  // Appends a reply for each whole request at the front of `input`; returns how many bytes they
  // took. Trusts its input (redis-benchmark): lengths are not checked, inline commands not known.
  std::size_t answer(std::string_view input, std::string& output) const {
    std::size_t done = 0;
    while (const std::size_t size = request_size(input.substr(done))) {
      output += reply_to(input.substr(done, size));
      done += size;
    }
    return done;
  }

 private:
  // "*2\r\n$3\r\nGET\r\n...": 0 while it is not whole.
  static std::size_t request_size(std::string_view input) {
    std::size_t at = 0;
    long arguments = 0;
    if (!take_number(input, at, arguments)) return 0;
    for (long length = 0; arguments > 0; --arguments) {
      if (!take_number(input, at, length)) return 0;
      at += static_cast<std::size_t>(length) + 2;
    }
    return at <= input.size() ? at : 0;
  }

  static bool take_number(std::string_view input, std::size_t& at, long& number) {
    number = 0;
    for (std::size_t i = at + 1; i < input.size(); ++i) {
      if (input[i] == '\n') {
        at = i + 1;
        return true;
      }
      if (input[i] != '\r') number = number * 10 + (input[i] - '0');
    }
    return false;
  }

  std::string_view reply_to(std::string_view request) const {
    const std::size_t name = request.find('\n', request.find('\n') + 1) + 1;
    switch (request[name]) {
      case 'G':
        return get_;
      case 'S':
        return "+OK\r\n";
      default:
        return "-ERR not known here\r\n";
    }
  }

  std::string get_;
};

// "PROGRAM PORT [VALUE_BYTES]", for the responders of this folder.
struct ResponderArguments {
  ResponderArguments(int argc, char** argv)
      : port(static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0)),
        value_bytes(argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 64) {}
  unsigned short port;
  std::size_t value_bytes;
};

constexpr std::size_t kReadBytes = 16384;

}  // namespace heatsink::bench

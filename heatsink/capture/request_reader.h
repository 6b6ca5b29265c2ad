// SPDX-License-Identifier: Apache-2.0
// Inside capture: finds the requests in the bytes of one client, also from the middle of a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/capture/request_head.h"
#include "heatsink/resp/resp.h"

namespace heatsink::capture {

// Not thread-safe. The protocol is `(push next* keep_rest)*`: call next() until it returns kNone.
// Requests that are complete in the bytes are read in place. The beginning of an incomplete request
// is kept, at most about kRequestBytesMax. A longer request is reported with the arguments that
// fit; its end is found without keeping it.
//
// A boundary between requests is certain at the beginning of the connection and after each request.
// After missing or unreadable bytes, and on a connection older than the capture, the reader
// searches for one: a complete multi-bulk request of a known command with an accepted number of
// arguments, at most kProbeArgsMax, followed by a pause or by another request. A value that
// contains such bytes can deceive it; then the bytes that follow are not a request, and the search
// begins again.
class RequestReader {
 public:
  static constexpr std::size_t kRequestBytesMax = 64 * 1024;
  static constexpr std::int64_t kProbeArgsMax = 64;

  // `table` must outlive it. `at_boundary`: a request begins with the first byte.
  RequestReader(const resp::CommandTable& table, bool at_boundary);

  enum class Event {
    kNone,      // no further request in the bytes
    kRequest,   // args(), command(), at_start(), rest()
    kBadBytes,  // not a request; a search has begun
  };

  // The reader keeps views of `bytes` until keep_rest().
  void push(std::string_view bytes);
  Event next();
  void keep_rest();

  // Bytes are missing at this point.
  void lose();

  // About the last request:
  std::span<const std::string_view> args() const { return is_whole_ ? parser_.args() : big_args_; }
  const resp::Command* command() const { return command_; }  // null: unknown
  bool is_whole() const { return is_whole_; }   // false: args() has only the first arguments
  std::uint64_t size() const { return size_; }  // bytes as sent
  bool at_start() const { return at_start_; }   // it began with the first byte of the last push()
  // Bytes of the last push() after it.
  std::size_t rest() const { return input_.size() - at_; }

  // The next byte is taken for the first one of a request.
  bool at_boundary() const { return state_ == State::kReading && kept_.empty(); }
  std::uint64_t skipped() const { return skipped_; }  // passed over by searches, in total
  std::size_t kept_bytes() const;                     // memory in use

 private:
  enum class State { kReading, kStreaming, kSearching };

  std::string_view left() const { return input_.substr(at_); }
  Event read();
  Event read_on();
  Event refuse();
  void begin_big();
  bool search();
  Head probe() const;
  void skip(std::size_t bytes);

  const resp::CommandTable& table_;
  resp::RequestParser parser_;
  State state_;
  bool is_whole_ = true;
  bool at_start_ = false;
  const resp::Command* command_ = nullptr;
  std::string_view input_;  // what next() reads
  std::size_t at_ = 0;      // position in it; everything before is done
  std::size_t old_ = 0;     // prefix kept from earlier pushes
  std::uint64_t size_ = 0;
  std::uint64_t skipped_ = 0;
  ByteBuffer kept_;
  std::string big_text_;  // copies of the arguments of an incomplete request
  std::vector<std::string_view> big_args_;
};

}  // namespace heatsink::capture

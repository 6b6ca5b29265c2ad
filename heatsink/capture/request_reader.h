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

// Not thread-safe. The protocol: `(push next* settle)*`: next() until it says kNone. Requests that
// are whole in the bytes are read in place; the beginning of one that is not is kept, at most
// about kRequestBytesMax. Longer ones are told by the arguments that fit, and their ends are found
// without keeping them.
//
// A boundary between requests is known where the connection begins, and behind each request. After
// bytes that are missing or cannot be read, and on a connection that is older than the capture, one
// is searched for: a multi-bulk request of a known command with as many arguments as it takes, at
// most kProbeArgsMax, all there, behind which the stream pauses or the next one begins. A value
// that contains such bytes in such a place can deceive this; what follows it is then no request,
// and the search begins again.
class RequestReader {
 public:
  static constexpr std::size_t kRequestBytesMax = 64 * 1024;
  static constexpr std::int64_t kProbeArgsMax = 64;

  // `table` must outlive it. `at_boundary`: the first byte is the first one of a request.
  RequestReader(const resp::CommandTable& table, bool at_boundary);

  enum class Event {
    kNone,      // nothing more in the bytes
    kRequest,   // args(), command(), at_start(), rest()
    kBadBytes,  // what came is no request; the search for one has begun
  };

  // Views of `bytes` are kept until settle().
  void push(std::string_view bytes);
  Event next();
  void settle();

  // Bytes are missing here.
  void lose();

  // Of the request last told:
  std::span<const std::string_view> args() const { return is_whole_ ? parser_.args() : big_args_; }
  const resp::Command* command() const { return command_; }  // null: unknown
  bool is_whole() const { return is_whole_; }                // else args() are only the first ones
  std::uint64_t size() const { return size_; }               // bytes as sent
  bool at_start() const { return at_start_; }  // it began with the first byte of the last push()
  // Bytes of the last push() behind it.
  std::size_t rest() const { return input_.size() - at_; }

  bool is_searching() const { return state_ == State::kSearching; }
  // The next byte begins a request, for all that is known.
  bool at_boundary() const { return state_ == State::kReading && kept_.empty(); }
  std::uint64_t skipped() const { return skipped_; }  // bytes passed over in searches, in all
  std::size_t kept_bytes() const;                     // of memory

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
  std::size_t at_ = 0;      // of it, before this all is told
  std::size_t old_ = 0;     // of it, what was kept from earlier pushes
  std::uint64_t size_ = 0;
  std::uint64_t skipped_ = 0;
  ByteBuffer kept_;
  std::string big_text_;  // the arguments of a request that is not whole, and where they are
  std::vector<std::string_view> big_args_;
};

}  // namespace heatsink::capture

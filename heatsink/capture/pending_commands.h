// SPDX-License-Identifier: Apache-2.0
// Inside capture: holds the requests of a connection that wait for their replies, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/capture/captured_command.h"

namespace heatsink::capture {

// One per connection; not thread-safe. Copies key names, no other arguments. Allocates only to
// grow.
class PendingCommands {
 public:
  static constexpr std::size_t kCommandsMax = 16'384;
  static constexpr std::size_t kNameBytesMax = 1024 * 1024;

  struct Row {
    const resp::Command* command = nullptr;
    std::int64_t at_ns = 0;
    std::uint64_t argument_bytes = 0;
    std::uint32_t end_seq = 0;  // sequence number after its last byte
    std::uint32_t db = 0;
    std::uint32_t keys = 0;
    bool db_known = false;
    bool keys_known = true;
  };

  bool empty() const { return first_ == rows_.size(); }
  std::size_t size() const { return rows_.size() - first_; }
  std::size_t bytes() const { return names_.capacity() + rows_.capacity() * sizeof(Row); }

  // False if a limit is reached; then nothing is kept. Sets `row.keys`.
  bool push(Row row, std::span<const CapturedKey> keys);

  // REQUIRES !empty().
  const Row& front() const { return rows_[first_]; }
  // The keys of the front; views that are valid until pop() or push().
  void front_keys(std::vector<CapturedKey>& keys) const;
  void pop();

 private:
  void tidy_up();

  std::vector<Row> rows_;
  std::size_t first_ = 0;
  ByteBuffer names_;  // for each key its length and whether it is written, then its bytes
};

}  // namespace heatsink::capture

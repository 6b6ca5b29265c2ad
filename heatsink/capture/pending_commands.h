// SPDX-License-Identifier: Apache-2.0
// Inside capture: requests that wait for their replies, first come, first served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/capture/captured_command.h"

namespace heatsink::capture {

// Of one connection; not thread-safe. Keeps names, no other argument. Allocates only to grow.
class PendingCommands {
 public:
  static constexpr std::size_t kCommandsMax = 16'384;
  static constexpr std::size_t kNameBytesMax = 1024 * 1024;

  struct Row {
    const resp::Command* command = nullptr;
    std::int64_t at_ns = 0;
    std::uint64_t argument_bytes = 0;
    std::uint32_t end_seq = 0;  // behind its last byte
    std::uint32_t db = 0;
    std::uint32_t keys = 0;
    bool db_known = false;
    bool keys_known = true;
  };

  bool empty() const { return first_ == rows_.size(); }
  std::size_t size() const { return rows_.size() - first_; }
  std::size_t bytes() const { return names_.capacity() + rows_.capacity() * sizeof(Row); }

  // False, and nothing is kept, when a limit is reached. `row.keys` is set here.
  bool push(Row row, std::span<const CapturedKey> keys);

  // REQUIRES !empty().
  const Row& front() const { return rows_[first_]; }
  // Of the front; views that live until pop() or push().
  void front_keys(std::vector<CapturedKey>& keys) const;
  void pop();

 private:
  void tidy_up();

  std::vector<Row> rows_;
  std::size_t first_ = 0;
  ByteBuffer names_;  // per key its length and whether it is written, then its bytes
};

}  // namespace heatsink::capture

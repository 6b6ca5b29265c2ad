// SPDX-License-Identifier: Apache-2.0
// Holds what the writer has still to write, up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/history/record.h"

namespace heatsink::history {

// Not thread-safe. While the disk cannot be written, records wait here; one that does not fit is
// lost and counted. 4 MiB are about ten minutes of 96 names of 30 bytes.
class Mailbox {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{4} * 1024 * 1024;
  explicit Mailbox(std::size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  struct Counts {
    std::uint64_t seconds = 0, events = 0;
  };

  // False: it is lost, because too much waits.
  bool add(Record record);
  // All that wait. The caller calls written() or put_back() with them.
  std::vector<Record> take();
  // Puts what take() gave back before what came meanwhile: it could not be written.
  void put_back(std::vector<Record> batch);
  // The batch was written, and its memory is free.
  void written(const std::vector<Record>& batch);

  bool empty() const { return waiting_.empty(); }
  std::size_t bytes() const { return bytes_; }  // also of the batch that was taken
  const Counts& lost() const { return lost_; }
  const Counts& done() const { return done_; }
  // The waiting records are lost: the process ends.
  void give_up();

 private:
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::vector<Record> waiting_;
  Counts lost_, done_;
};

}  // namespace heatsink::history

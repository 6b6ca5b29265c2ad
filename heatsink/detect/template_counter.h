// SPDX-License-Identifier: Apache-2.0
// Counts all accesses by the template of their key ("user:*"), tracked key or not, in fixed memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "heatsink/detect/access_log.h"
#include "heatsink/detect/key_table.h"
#include "heatsink/detect/key_template.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

inline constexpr std::size_t kTemplateBytesMin = 24'576;  // a smaller size is raised to this

// A KeyTable whose keys are templates (key_template.h) with their database; it counts requests.
// Folding a name costs more than all the rest of an access, so a small cache keeps the template of
// each shape of names: a name with its digits blanked. Ids of digits share a few shapes, by length.
// The accesses of a log are summed by shape, so that the table is asked once for each shape. Not
// thread-safe; nothing is allocated after construction, except by summarize().
class TemplateCounter {
 public:
  // Recorders whose summaries are joined need the same seed: it hashes the templates.
  TemplateCounter(std::size_t memory_bytes, std::uint64_t seed);

  // Counts the accesses of a log, or one with a name of any length.
  void count(const AccessLog& log) noexcept;
  void count(const AccessLog::Entry& entry, std::string_view name) noexcept;

  void move(const SlotClock::Move& move, const Position& position) {
    table_.move(move, position, 0);
  }

  // The busiest templates. `all` has the totals of the window. O(table).
  TemplateCounts summarize(const Summary& all);

  // Total, without the object itself: about 4 templates per 1000 bytes.
  std::size_t memory_bytes() const;

 private:
  static constexpr std::size_t kShapes = 512;
  static constexpr std::size_t kSecrets = 2 + kTemplateKeyBytes / 8;

  struct Shape {
    std::uint64_t shape = 0;   // with the database
    std::uint64_t tag = 0;     // of its template
    AccessLog::Amount amount;  // of its accesses in the current log
    std::uint32_t requests = 0;
    std::uint32_t last = 0;  // the last one's index in the log
  };
  struct Chains;

  std::uint64_t shape_of(std::string_view name, std::uint32_t db) const noexcept;
  std::uint64_t tag_of(std::string_view name, std::uint32_t db) const noexcept;
  void count_shape(Shape& shape, const AccessLog& log, const Chains& chains) noexcept;

  std::uint64_t seed_;
  std::uint64_t secrets_[kSecrets];
  std::unique_ptr<Shape[]> shapes_;  // by the low bits of the shape
  KeyTable table_;
};

}  // namespace heatsink::detect

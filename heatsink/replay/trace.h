// SPDX-License-Identifier: Apache-2.0
// Stores a trace in memory, small enough for millions of accesses and fast to go through often.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink::replay {

inline constexpr double kNanosPerSecond = 1e9;

// kGet is what a simulated copy answers (kCopiedRead in operation.h); other reads make a key hot,
// but go to the server.
enum class Operation : std::uint8_t { kGet, kRead, kWrite };

// One access as a reader found it. `at_ns` is on the trace's own clock.
struct RawAccess {
  std::string_view key;
  std::uint32_t db = 0;
  std::optional<std::int64_t> at_ns = {};
  Operation operation = Operation::kGet;
  std::optional<std::uint64_t> value_bytes = {};
};

// One access of a trace that is ready to be replayed.
class TraceAccess {
 public:
  static constexpr std::uint32_t kBytesUnknown = (1U << 30) - 1;

  TraceAccess(std::int64_t access_at_ns, std::uint32_t key_id, Operation operation,
              std::uint32_t value_bytes)
      : at_ns(access_at_ns),
        key(key_id),
        packed_(static_cast<std::uint32_t>(operation) << 30 | value_bytes) {}

  Operation operation() const { return static_cast<Operation>(packed_ >> 30); }
  bool bytes_known() const { return value_bytes() != kBytesUnknown; }
  std::uint32_t value_bytes() const { return packed_ & kBytesUnknown; }  // 0 .. 2^30 - 2

  std::int64_t at_ns;  // since the first access; never falls
  std::uint32_t key;   // 0 .. distinct keys - 1, in the order of their first access

 private:
  std::uint32_t packed_;
};
static_assert(sizeof(TraceAccess) == 16);

// The names of the keys by number. Each name once, its first kNameBytesMax bytes.
class KeyNames {
 public:
  static constexpr std::size_t kNameBytesMax = 1024;

  std::size_t size() const { return ends_.size(); }
  std::string_view name(std::uint32_t key) const {
    const std::size_t begin = key == 0 ? 0 : ends_[key - 1].at;
    return std::string_view(text_).substr(begin, ends_[key].at - begin);
  }
  std::uint32_t db(std::uint32_t key) const { return ends_[key].db; }

  void add(std::string_view name, std::uint32_t db) {
    text_ += name.substr(0, kNameBytesMax);
    ends_.push_back({text_.size(), db});
  }

 private:
  struct End {
    std::uint64_t at;
    std::uint32_t db;
  };
  std::string text_;
  std::vector<End> ends_;
};

struct BadLine {
  std::uint64_t number;  // from 1
  std::string why;       // never a part of the line: it may hold a password
};

// What reading it was like.
struct ReadingFacts {
  static constexpr std::size_t kBadLinesNamed = 5;

  // "CSV", "MONITOR output", "a recording of heatsink top", "a packet capture"
  std::string format;
  std::uint64_t lines = 0;  // the header included
  std::uint64_t bad_lines = 0;
  std::vector<BadLine> first_bad_lines;   // at most kBadLinesNamed
  std::uint64_t keyless = 0;              // commands without a key, and those of scripts
  std::uint64_t times_back = 0;           // timestamps before the one before: taken as equal to it
  bool full = false;                      // the memory limit ended the reading
  bool timed = false;                     // by the trace's own timestamps, not at a stated rate
  bool behind_proxy = false;              // a heatsink's heartbeats are in it: hits are not
  bool is_recording = false;              // accesses are reconstructed from rates
  std::vector<std::string> caveats = {};  // sentences about what its source did not tell
};

struct Trace {
  std::vector<TraceAccess> accesses;
  KeyNames keys;
  double unlisted = 0;  // further accesses of keys that the source does not name
  ReadingFacts facts;

  Nanos duration() const { return accesses.empty() ? Nanos(0) : Nanos(accesses.back().at_ns); }
  double requests() const { return static_cast<double>(accesses.size()) + unlisted; }
};

// How the trace's clock becomes that of the replay.
struct Timing {
  double rate = 0;   // accesses per second, evenly; 0: by the timestamps
  double speed = 1;  // the timestamps' clock runs so much faster
};

// Gathers accesses. Not thread-safe. Keys are told apart by a 64-bit hash of name and database.
// Memory: 16 bytes per access, about 50 and the name per distinct key; while it grows, for a moment
// twice that.
class TraceBuilder {
 public:
  explicit TraceBuilder(Bytes memory_max) : memory_max_(memory_max) {}

  // False: the limit is reached and the access was not taken; nor will any later one be.
  bool add(const RawAccess& access);
  void add_unlisted(double accesses) { trace_.unlisted += accesses; }
  ReadingFacts& facts() { return trace_.facts; }
  std::size_t size() const { return trace_.accesses.size(); }

  // The trace with its times from 0 on. An error when there is no access at all, or when nothing
  // says how fast it was. The builder is used up.
  Result<Trace> finish(const Timing& timing) &&;

 private:
  std::uint32_t number_of(const RawAccess& access);
  std::int64_t time_of(const RawAccess& access);
  void time_evenly(double rate);
  void scale_times(double speed);

  Bytes memory_max_;
  std::uint64_t memory_used_ = 0;
  Trace trace_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> numbers_;
  std::int64_t last_ns_ = 0;
  std::int64_t first_ns_ = 0;
};

}  // namespace heatsink::replay

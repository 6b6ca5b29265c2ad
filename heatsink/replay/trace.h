// SPDX-License-Identifier: Apache-2.0
// Stores a trace in memory: compact enough for millions of accesses, and fast to read repeatedly.
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

// Simulated copies answer kGet (kCopiedRead). Other reads make a key hot, but go to
// the server.
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

  std::int64_t at_ns;  // since the first access; never decreases
  std::uint32_t key;   // 0 .. distinct keys - 1, in the order of their first access

 private:
  std::uint32_t packed_;
};
static_assert(sizeof(TraceAccess) == 16);

// The names of the keys, by number: the first kNameBytesMax bytes of each.
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
  std::string why;       // without any part of the line, which may be a password
};

// How the reading went.
struct ReadingFacts {
  static constexpr std::size_t kBadLinesNamed = 5;

  // "CSV", "MONITOR output", "a recording of heatsink top", "a packet capture"
  std::string format;
  std::uint64_t lines = 0;  // including the header
  std::uint64_t bad_lines = 0;
  std::vector<BadLine> first_bad_lines;  // at most kBadLinesNamed
  std::uint64_t keyless = 0;             // commands without a key, and those of scripts
  std::uint64_t times_back = 0;  // timestamps before the preceding one; taken as equal to it
  bool full = false;             // reading stopped at the memory limit
  bool timed = false;            // uses the trace's timestamps, not a given rate
  // it has a proxy's heartbeats: the traffic was recorded behind a proxy, so hits are missing
  bool behind_proxy = false;
  bool is_recording = false;              // accesses are reconstructed from rates
  std::vector<std::string> caveats = {};  // sentences about facts that the source did not give
};

struct Trace {
  std::vector<TraceAccess> accesses;
  KeyNames keys;
  double unlisted = 0;  // further accesses, of keys that the source does not name
  ReadingFacts facts;

  Nanos duration() const { return accesses.empty() ? Nanos(0) : Nanos(accesses.back().at_ns); }
  double requests() const { return static_cast<double>(accesses.size()) + unlisted; }
};

// How the trace's clock maps to the replay's.
struct Timing {
  double rate = 0;   // accesses per second, evenly; 0: by the timestamps
  double speed = 1;  // factor by which the replay runs faster than the timestamps
};

// Collects accesses. Not thread-safe. Keys are identified by a 64-bit hash of name and database.
// Memory: 16 bytes per access, and about 50 and the name per distinct key; temporarily twice that
// while it grows.
class TraceBuilder {
 public:
  explicit TraceBuilder(Bytes memory_max) : memory_max_(memory_max) {}

  // False: the limit is reached; this access and all later ones are not taken.
  bool add(const RawAccess& access);
  void add_unlisted(double accesses) { trace_.unlisted += accesses; }
  ReadingFacts& facts() { return trace_.facts; }
  std::size_t size() const { return trace_.accesses.size(); }

  // The trace, with times from 0 on. An error if there are no accesses, or neither timestamps nor a
  // rate. Consumes the builder.
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

// The one command that simulated copies answer. A proxy's copy of another read answers only
// identical arguments, which a trace does not contain: such hits come on top of the reported
// savings.
inline constexpr std::string_view kCopiedRead = "GET";
bool is_copied_read(std::string_view command);  // ignores case

// The meaning of a Redis command by its flags, ignoring case, or of a word in other caches' traces:
// read, gets, write, put, update, remove, add, replace, cas, prepend, delete. Nothing: unknown.
std::optional<Operation> operation_named(std::string_view word);

}  // namespace heatsink::replay

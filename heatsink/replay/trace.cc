// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/trace.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <utility>

#include "heatsink/base/hash.h"
#include "heatsink/resp/resp.h"

namespace heatsink::replay {
namespace {

// any fixed number: the author of a trace gains nothing by collisions
constexpr std::uint64_t kSeed = 0x6865617473696e6b;
constexpr std::size_t kKeyOverheadBytes = 50;  // entry of the hash map, and end of the name

}  // namespace

bool TraceBuilder::add(const RawAccess& access) {
  if (trace_.facts.full) return false;
  if (memory_used_ + sizeof(TraceAccess) + kKeyOverheadBytes + KeyNames::kNameBytesMax >
      memory_max_.count) {
    trace_.facts.full = true;
    return false;
  }
  const std::uint32_t bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      access.value_bytes.value_or(TraceAccess::kBytesUnknown),
      access.value_bytes ? TraceAccess::kBytesUnknown - 1 : TraceAccess::kBytesUnknown));
  trace_.accesses.emplace_back(time_of(access), number_of(access), access.operation, bytes);
  memory_used_ += sizeof(TraceAccess);
  return true;
}

std::uint32_t TraceBuilder::number_of(const RawAccess& access) {
  const std::uint64_t hash = in_db(hash_name(access.key, kSeed), access.db).value;
  const auto [found, is_new] =
      numbers_.try_emplace(hash, static_cast<std::uint32_t>(trace_.keys.size()));
  if (is_new) {
    trace_.keys.add(access.key, access.db);
    memory_used_ += kKeyOverheadBytes + std::min(access.key.size(), KeyNames::kNameBytesMax);
  }
  return found->second;
}

// Times start at 0 and never decrease. An access without a time gets that of the one before.
std::int64_t TraceBuilder::time_of(const RawAccess& access) {
  if (!access.at_ns) return last_ns_;
  if (!trace_.facts.timed) {
    trace_.facts.timed = true;
    first_ns_ = *access.at_ns;
  }
  const std::int64_t at = *access.at_ns - first_ns_;
  if (at < last_ns_) ++trace_.facts.times_back;
  return last_ns_ = std::max(last_ns_, at);
}

void TraceBuilder::time_evenly(double rate) {
  double number = 0;
  for (TraceAccess& access : trace_.accesses) {
    access.at_ns = static_cast<std::int64_t>(number / rate * kNanosPerSecond);
    number += 1;
  }
}

void TraceBuilder::scale_times(double speed) {
  for (TraceAccess& access : trace_.accesses)
    access.at_ns = static_cast<std::int64_t>(static_cast<double>(access.at_ns) / speed);
}

Result<Trace> TraceBuilder::finish(const Timing& timing) && {
  if (trace_.accesses.empty()) {
    return invalid_argument("it has no accesses" +
                            (trace_.facts.first_bad_lines.empty()
                                 ? std::string()
                                 : "; line " +
                                       std::to_string(trace_.facts.first_bad_lines[0].number) +
                                       ": " + trace_.facts.first_bad_lines[0].why));
  }
  if (timing.rate <= 0 && !trace_.facts.timed) {
    return invalid_argument(
        "it has no timestamps: add the number of accesses per second, as in --rate 10000");
  }
  if (timing.rate > 0) {
    time_evenly(timing.rate);
    trace_.facts.timed = false;
  } else if (timing.speed != 1) {
    scale_times(timing.speed);
  }
  return std::move(trace_);
}

namespace {

constexpr std::size_t kWordBytesMax = 64;
constexpr std::array<std::string_view, 9> kOtherWrites{"write",   "put", "update",  "remove", "add",
                                                       "replace", "cas", "prepend", "delete"};

char lower_case(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

bool is_copied_read(std::string_view command) {
  return std::equal(command.begin(), command.end(), kCopiedRead.begin(), kCopiedRead.end(),
                    [](char a, char b) { return lower_case(a) == lower_case(b); });
}

std::optional<Operation> operation_named(std::string_view word) {
  if (is_copied_read(word)) return Operation::kGet;  // in nearly all lines
  if (word.size() > kWordBytesMax) return std::nullopt;
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(), lower_case);
  if (lower == "read" || lower == "gets") return Operation::kGet;
  if (std::find(kOtherWrites.begin(), kOtherWrites.end(), lower) != kOtherWrites.end())
    return Operation::kWrite;
  const resp::Command* command = resp::CommandTable::built_in().find_name(lower);
  if (command == nullptr) return std::nullopt;
  if (command->has(resp::kWrite)) return Operation::kWrite;
  return Operation::kRead;
}

}  // namespace heatsink::replay

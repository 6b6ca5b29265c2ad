// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/statistic_form.h"

#include <algorithm>
#include <array>
#include <optional>

namespace heatsink::distributed {
namespace {

using stats::Histogram;
using stats::kBucketsEachSign;
using stats::Sum;
using stats::Summary;

constexpr std::int64_t kDigit = std::int64_t{1} << 32;
constexpr std::size_t kSumDigits = 4;
constexpr std::size_t kHeadNumbers = kSumDigits + 4;
constexpr std::int64_t kPlaces = 2 * kBucketsEachSign;  // of the row of buckets
constexpr std::size_t kNumbersMax = kHeadNumbers + 2 * static_cast<std::size_t>(kPlaces);
constexpr std::int64_t kExactMax = std::int64_t{1} << 53;  // limit of integers in a double
constexpr std::uint64_t kCountMax = kExactMax;
// The sum of 2^53 numbers of 63 bits has no larger top digit.
constexpr std::int64_t kTopDigitMax = std::int64_t{1} << 20;

// ---- MessagePack: integers and arrays, as far as cmsgpack writes them

void put_big_endian(std::string& out, std::uint64_t bits, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) out += static_cast<char>(bits >> (8 * i));
}

void put_typed(std::string& out, unsigned type, std::uint64_t bits, unsigned bytes) {
  out += static_cast<char>(type);
  put_big_endian(out, bits, bytes);
}

void put(std::string& out, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= -32 && value <= 127)
    out += static_cast<char>(value);
  else if (value < 0)
    put_typed(out, 0xD3, bits, 8);
  else if (value <= 0xFF)
    put_typed(out, 0xCC, bits, 1);
  else if (value <= 0xFFFF)
    put_typed(out, 0xCD, bits, 2);
  else if (value < kDigit)
    put_typed(out, 0xCE, bits, 4);
  else
    put_typed(out, 0xCF, bits, 8);
}

void put_array(std::string& out, std::size_t size) {
  if (size < 16)
    out += static_cast<char>(0x90 | size);
  else
    put_typed(out, 0xDC, size, 2);
}

// Extends a two's complement number of `size` bytes.
std::int64_t extended(std::uint64_t bits, unsigned size) {
  switch (size) {
    case 1:
      return static_cast<std::int8_t>(bits);
    case 2:
      return static_cast<std::int16_t>(bits);
    case 4:
      return static_cast<std::int32_t>(bits);
    default:
      return static_cast<std::int64_t>(bits);
  }
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }

  std::optional<std::int64_t> integer() {
    const std::optional<unsigned> type = byte();
    if (!type) return std::nullopt;
    if (*type < 0x80) return *type;
    if (*type >= 0xE0) return static_cast<std::int8_t>(*type);
    if (*type < 0xCC || *type > 0xD3) return std::nullopt;
    const unsigned size = 1U << ((*type - 0xCC) % 4);
    const std::optional<std::uint64_t> bits = big_endian(size);
    if (!bits) return std::nullopt;
    if (*type >= 0xD0) return extended(*bits, size);
    if (*bits > INT64_MAX) return std::nullopt;
    return static_cast<std::int64_t>(*bits);
  }

  std::optional<std::size_t> array() {
    const std::optional<unsigned> type = byte();
    if (!type) return std::nullopt;
    if ((*type & 0xF0U) == 0x90) return *type & 0x0FU;
    if (*type != 0xDC && *type != 0xDD) return std::nullopt;
    return big_endian(*type == 0xDC ? 2 : 4);
  }

 private:
  std::optional<unsigned> byte() {
    if (bytes_.empty()) return std::nullopt;
    const auto value = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  std::optional<std::uint64_t> big_endian(unsigned size) {
    if (bytes_.size() < size) return std::nullopt;
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < size; ++i) bits = bits << 8U | *byte();
    return bits;
  }

  std::string_view bytes_;
};

// ---- a part

std::int64_t index_of(const Histogram::Bucket& bucket) {
  return bucket.is_negative ? kBucketsEachSign - 1 - std::int64_t{bucket.bucket}
                            : kBucketsEachSign + std::int64_t{bucket.bucket};
}

std::optional<std::int64_t> joined(std::int64_t high, std::int64_t low) {
  if (low < 0 || low >= kDigit || high < -(kDigit / 2) || high >= kDigit / 2) return std::nullopt;
  return high * kDigit + low;
}

bool add_buckets(const std::vector<std::int64_t>& numbers, Summary& summary) {
  std::int64_t place = 0;
  for (std::size_t i = kHeadNumbers; i < numbers.size(); i += 2) {
    const std::int64_t distance = numbers[i], count = numbers[i + 1];
    if (distance < 0 || distance >= kPlaces || count <= 0 || count > kExactMax) return false;
    if (distance == 0 && i != kHeadNumbers) return false;
    place += distance;
    if (place >= kPlaces) return false;
    const bool is_negative = place < kBucketsEachSign;
    const std::int64_t bucket =
        is_negative ? kBucketsEachSign - 1 - place : place - kBucketsEachSign;
    summary.histogram.add_bucket(is_negative, static_cast<std::uint32_t>(bucket),
                                 static_cast<std::uint64_t>(count));
    summary.count += static_cast<std::uint64_t>(count);
    if (summary.count > kCountMax) return false;
  }
  return true;
}

// Accepts only a sum that `count` numbers can have; then sums of slots fit into their type.
bool is_possible(const Summary& part) {
  const auto count = static_cast<Sum>(part.count);
  return part.sum >= count * part.min && part.sum <= count * part.max;
}

bool add_part(const std::vector<std::int64_t>& numbers, Summary& all) {
  if (numbers.size() < kHeadNumbers + 2 || numbers.size() % 2 != 0) return false;
  Summary part;
  for (std::size_t i = kSumDigits; i-- > 0;) {
    const std::int64_t largest = i + 1 == kSumDigits ? kTopDigitMax : kExactMax;
    if (numbers[i] > largest || numbers[i] < -largest) return false;
    part.sum = part.sum * kDigit + numbers[i];
  }
  const auto min = joined(numbers[kSumDigits], numbers[kSumDigits + 1]);
  const auto max = joined(numbers[kSumDigits + 2], numbers[kSumDigits + 3]);
  if (!min || !max || *min > *max || !add_buckets(numbers, part)) return false;
  part.min = *min;
  part.max = *max;
  if (!is_possible(part) || part.count + all.count > kCountMax) return false;
  all.merge(part);
  return true;
}

std::optional<std::vector<std::int64_t>> read_array(Reader& reader) {
  const std::optional<std::size_t> size = reader.array();
  if (!size || *size > kNumbersMax) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < *size; ++i) {
    const std::optional<std::int64_t> number = reader.integer();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::string encode_part(const Summary& summary) {
  const std::vector<Histogram::Bucket> buckets = summary.histogram.buckets();
  std::string out;
  put_array(out, kHeadNumbers + 2 * buckets.size());
  Sum rest = summary.sum;
  for (std::size_t i = 0; i + 1 < kSumDigits; ++i, rest >>= 32)
    put(out, static_cast<std::int64_t>(rest & (kDigit - 1)));
  put(out, static_cast<std::int64_t>(rest));
  for (const std::int64_t value : {summary.min, summary.max}) {
    put(out, value >> 32);
    put(out, value & (kDigit - 1));
  }
  std::int64_t before = 0;
  for (const Histogram::Bucket& bucket : buckets) {
    put(out, index_of(bucket) - before);
    put(out, static_cast<std::int64_t>(bucket.count));
    before = index_of(bucket);
  }
  return out;
}

Error malformed_statistic(const char* what) {
  return {ErrorCode::kProtocol, std::string("malformed window statistic: ") + what};
}

Result<Slot> decode_slot(std::string_view bytes) {
  Reader reader(bytes);
  const std::optional<std::int64_t> number = reader.integer();
  if (!number || *number < 0) return malformed_statistic("a slot has no number");
  Slot slot{*number, {}};
  while (!reader.at_end()) {
    const auto numbers = read_array(reader);
    if (!numbers || !add_part(*numbers, slot.summary))
      return malformed_statistic("a slot's numbers");
  }
  return slot;
}

Result<std::vector<std::int64_t>> decode_integers(std::string_view bytes, std::size_t count) {
  Reader reader(bytes);
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::int64_t> number = reader.integer();
    if (!number) return malformed_statistic("it is cut off");
    numbers.push_back(*number);
  }
  if (!reader.at_end()) return malformed_statistic("it has extra bytes at its end");
  return numbers;
}

}  // namespace heatsink::distributed

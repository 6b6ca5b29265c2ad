// SPDX-License-Identifier: Apache-2.0
#include "heatsink/stats/summary.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace heatsink::stats {

void Summary::merge(const Summary& other) {
  count += other.count;
  sum += other.sum;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  histogram.merge(other.histogram);
}

void Summary::clear() {
  count = 0;
  sum = 0;
  min = INT64_MAX;
  max = INT64_MIN;
  histogram.clear();
}

double Summary::mean() const {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

std::int64_t Summary::quantile(double q) const {
  if (count == 0) return 0;
  if (q <= 0) return min;
  if (q >= 1) return max;
  return std::clamp(histogram.quantile(q), min, max);
}

namespace {

constexpr char kVersion = 1;
__extension__ using Wide = unsigned __int128;
constexpr Wide kLargest64 = UINT64_MAX;

// Buckets of both signs in one row, ascending by value: 0 is the most negative one.
constexpr std::uint32_t kRow = 2 * kBucketsEachSign;
std::uint32_t place_in_row(const Histogram::Bucket& bucket) {
  return bucket.is_negative ? kBucketsEachSign - 1 - bucket.bucket
                            : kBucketsEachSign + bucket.bucket;
}

void put(std::string& out, Wide value) {
  for (; value >= 0x80; value >>= 7U)
    out += static_cast<char>(static_cast<unsigned>(value) | 0x80U);
  out += static_cast<char>(value);
}
void put_signed(std::string& out, Sum value) {
  put(out, (static_cast<Wide>(value) << 1U) ^ static_cast<Wide>(value >> 127));
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  std::optional<Wide> number(Wide largest) {
    Wide value = 0;
    for (unsigned shift = 0; shift < 128 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      const Wide part = byte & 0x7FU;
      if (part << shift >> shift != part) return std::nullopt;
      value |= part << shift;
      if (byte < 0x80) {
        const bool is_short = byte != 0 || shift == 0;  // each number has one form
        return is_short && value <= largest ? std::optional(value) : std::nullopt;
      }
    }
    return std::nullopt;
  }
  std::optional<Sum> signed_number(Wide largest_zigzag) {
    const auto zigzag = number(largest_zigzag);
    if (!zigzag) return std::nullopt;
    return static_cast<Sum>(*zigzag >> 1U) ^ -static_cast<Sum>(*zigzag & 1U);
  }

 private:
  std::string_view bytes_;
};

Error malformed(const char* what) {
  return {ErrorCode::kProtocol, std::string("malformed summary of a statistic: ") + what};
}

bool read_buckets(Reader& reader, Histogram& histogram, Wide& total) {
  std::uint64_t place = 0;
  for (bool is_first = true; !reader.at_end(); is_first = false) {
    const auto distance = reader.number(kRow), count = reader.number(kLargest64);
    if (!distance || !count || *count == 0 || (*distance == 0 && !is_first)) return false;
    place += static_cast<std::uint64_t>(*distance);
    if (place >= kRow) return false;
    const bool is_negative = place < kBucketsEachSign;
    const auto bucket = static_cast<std::uint32_t>(is_negative ? kBucketsEachSign - 1 - place
                                                               : place - kBucketsEachSign);
    if (is_negative && bucket == 0) return false;  // there is no -0
    histogram.add_bucket(is_negative, bucket, static_cast<std::uint64_t>(*count));
    total += *count;
  }
  return true;
}

std::uint32_t row_of(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return place_in_row({value < 0, bucket_of(value < 0 ? 0 - bits : bits), 0});
}

// Checks that the extremes lie in the outermost buckets, and that `count` numbers can have this
// sum.
bool is_plausible(const Summary& summary) {
  const std::vector<Histogram::Bucket> buckets = summary.histogram.buckets();
  if (buckets.empty()) return summary == Summary{};
  return summary.min <= summary.max && place_in_row(buckets.front()) == row_of(summary.min) &&
         place_in_row(buckets.back()) == row_of(summary.max) &&
         summary.sum >= static_cast<Sum>(summary.min) * static_cast<Sum>(summary.count) &&
         summary.sum <= static_cast<Sum>(summary.max) * static_cast<Sum>(summary.count);
}

}  // namespace

std::string encode(const Summary& summary) {
  std::string out(1, kVersion);
  put(out, summary.count);
  put_signed(out, summary.sum);
  put_signed(out, summary.min);
  put_signed(out, summary.max);
  std::uint32_t before = 0;
  for (const Histogram::Bucket& bucket : summary.histogram.buckets()) {
    put(out, place_in_row(bucket) - before);
    put(out, bucket.count);
    before = place_in_row(bucket);
  }
  return out;
}

Result<Summary> decode(std::string_view bytes) {
  if (bytes.size() > kWireBytesMax) return malformed("it is too long");
  if (bytes.empty() || bytes.front() != kVersion)
    return malformed("it does not begin with the known version (1)");
  Reader reader(bytes.substr(1));
  const auto count = reader.number(kLargest64);
  const auto sum = reader.signed_number(~Wide{0});
  const auto min = reader.signed_number(kLargest64), max = reader.signed_number(kLargest64);
  if (!count || !sum || !min || !max) return malformed("it is cut off");
  Summary summary;
  summary.count = static_cast<std::uint64_t>(*count);
  summary.sum = *sum;
  summary.min = static_cast<std::int64_t>(*min);
  summary.max = static_cast<std::int64_t>(*max);
  Wide total = 0;
  if (!read_buckets(reader, summary.histogram, total))
    return malformed("its buckets are malformed");
  if (total != summary.count || !is_plausible(summary))
    return malformed("its numbers contradict each other");
  return summary;
}

}  // namespace heatsink::stats

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/units.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace heatsink {
namespace {

struct UnitRow {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<UnitRow, 9> kByteUnits{{{"gb", 1ULL << 30},
                                             {"gib", 1ULL << 30},
                                             {"mb", 1ULL << 20},
                                             {"mib", 1ULL << 20},
                                             {"kb", 1ULL << 10},
                                             {"kib", 1ULL << 10},
                                             {"b", 1},
                                             {"", 1},
                                             {"bytes", 1}}};
constexpr std::array<UnitRow, 6> kTimeUnits{{{"h", 3'600'000'000'000ULL},
                                             {"m", 60'000'000'000ULL},
                                             {"s", 1'000'000'000ULL},
                                             {"ms", 1'000'000ULL},
                                             {"us", 1'000ULL},
                                             {"ns", 1ULL}}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// number * unit, or a nullopt-like false on anything else, including overflow.
template <std::size_t N>
bool parse_scaled(std::string_view text, const std::array<UnitRow, N>& units, std::uint64_t limit,
                  std::uint64_t& out) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  const std::string unit =
      lower({rest, static_cast<std::size_t>(text.data() + text.size() - rest)});
  for (const UnitRow& row : units) {
    if (row.name != unit) continue;
    if (number > limit / row.factor) return false;
    out = number * row.factor;
    return true;
  }
  return false;
}

template <std::size_t N>
std::string format_scaled(std::uint64_t count, const std::array<UnitRow, N>& units) {
  for (const UnitRow& row : units) {
    if (count != 0 && count % row.factor == 0)
      return std::to_string(count / row.factor) + std::string(row.name);
  }
  return "0";
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
  std::uint64_t count = 0;
  if (!parse_scaled(text, kByteUnits, std::numeric_limits<std::int64_t>::max(), count)) {
    return invalid_argument("'" + std::string(text) +
                            "' is not a size: " + std::string(kBytesForm));
  }
  return Bytes{count};
}

std::string format_bytes(Bytes bytes) { return format_scaled(bytes.count, kByteUnits); }

Result<Share> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = text.substr(0, text.size() - (percent ? 1 : 0));
  double number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || rest != digits.data() + digits.size() || !std::isfinite(number)) {
    return invalid_argument("'" + std::string(text) +
                            "' is not a percentage: " + std::string(kShareForm));
  }
  return Share{percent ? number / 100 : number};
}

std::string format_share(Share share) {
  // A percentage is rounded to the digits that a double can keep. If it would read back as another
  // number, writes the part itself.
  std::array<char, 400> digits{};
  char* const begin = digits.data();
  char* const limit = begin + digits.size();
  const auto percent =
      std::to_chars(begin, limit, share.part * 100, std::chars_format::general, 15);
  std::string text = std::string(begin, percent.ptr) + "%";
  const Result<Share> again = parse_share(text);
  if (again.ok() && *again == share) return text;
  return {begin, std::to_chars(begin, limit, share.part).ptr};
}

Result<Nanos> parse_duration(std::string_view text) {
  std::uint64_t count = 0;
  if (text != "0" &&
      !parse_scaled(text, kTimeUnits, std::numeric_limits<std::int64_t>::max(), count)) {
    return invalid_argument("'" + std::string(text) +
                            "' is not a duration: " + std::string(kDurationForm));
  }
  return Nanos(static_cast<std::int64_t>(count));
}

std::string format_duration(Nanos duration) {
  return format_scaled(static_cast<std::uint64_t>(duration.count()), kTimeUnits);
}

}  // namespace heatsink

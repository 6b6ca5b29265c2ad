// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/option_value.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace heatsink {
namespace {

Error malformed_value(std::string_view fix) { return invalid_argument(std::string(fix)); }

template <class T>
Result<T> parse_number(std::string_view text, std::string_view fix) {
  T value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return malformed_value(fix);
  return value;
}

// One parse() and one format() per target type; the pointer only selects the overload.
Result<bool> parse(std::string_view text, const bool*) {
  std::string word(text);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return malformed_value("write true or false");
}
Result<std::int64_t> parse(std::string_view text, const std::int64_t*) {
  return parse_number<std::int64_t>(text, "write a whole number");
}
Result<double> parse(std::string_view text, const double*) {
  constexpr std::string_view kFix = "write a number, as in 0.5";
  Result<double> number = parse_number<double>(text, kFix);
  if (number.ok() && !std::isfinite(*number)) return malformed_value(kFix);
  return number;
}
Result<std::string> parse(std::string_view text, const std::string*) {
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (control) return malformed_value("write it without control characters");
  return std::string(text);
}
Result<Nanos> parse(std::string_view text, const Nanos*) {
  Result<Nanos> duration = parse_duration(text);
  return duration.ok() ? duration : malformed_value(kDurationForm);
}
Result<Bytes> parse(std::string_view text, const Bytes*) {
  Result<Bytes> bytes = parse_bytes(text);
  return bytes.ok() ? bytes : malformed_value(kBytesForm);
}
Result<Share> parse(std::string_view text, const Share*) {
  Result<Share> share = parse_share(text);
  return share.ok() ? share : malformed_value(kShareForm);
}

std::string format(bool value) { return value ? "true" : "false"; }
std::string format(std::int64_t value) { return std::to_string(value); }
std::string format(double value) {
  // The shortest form that reads back the same; without an exponent for sizes that people write
  // without.
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-6 && size < 1e15);
  std::array<char, 48> digits{};  // the longest: "-0.", 5 zeros and 17 digits
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::general)
                       .ptr;
  return {digits.data(), end};
}
std::string format(const std::string& value) { return value; }
std::string format(Nanos value) { return format_duration(value); }
std::string format(Bytes value) { return format_bytes(value); }
std::string format(Share value) { return format_share(value); }

std::int64_t to_integer(
    double value) {  // the nearest in range: a cast alone is undefined beyond the limits
  constexpr double kEnd = 9223372036854775808.0;
  if (value >= kEnd) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::max(value, -kEnd));
}

// Formats a bound, which rows hold as a double, as the target's type.
std::string format_bound(double bound, const std::int64_t*) { return format(to_integer(bound)); }
std::string format_bound(double bound, const double*) { return format(bound); }
std::string format_bound(double bound, const Nanos*) { return format(Nanos(to_integer(bound))); }
std::string format_bound(double bound, const Bytes*) {
  return format(Bytes{static_cast<std::uint64_t>(to_integer(bound))});
}
std::string format_bound(double bound, const Share*) { return format(Share{bound}); }

double magnitude(std::int64_t value) { return static_cast<double>(value); }
double magnitude(double value) { return value; }
double magnitude(Nanos value) { return static_cast<double>(value.count()); }
double magnitude(Bytes value) { return static_cast<double>(value.count); }
double magnitude(Share value) { return value.part; }

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
constexpr bool kHasBounds =
    !std::is_same_v<T, bool> && !std::is_same_v<T, std::string> && !std::is_same_v<T, ChoicePlace>;

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += separator;
    out += word;
  }
  return out;
}

// The bound or choice that `value` violates, as the fix; "" if none.
template <class T>
std::string broken_bound(const OptionRow& row, const T& value) {
  if constexpr (kIsOptional<T>) {
    return value ? broken_bound(row, *value) : "";
  } else if constexpr (kHasBounds<T>) {
    const T* tag = nullptr;
    if (magnitude(value) < row.min) return "write " + format_bound(row.min, tag) + " or more";
    if (magnitude(value) > row.max) return "write " + format_bound(row.max, tag) + " or less";
  } else if constexpr (std::is_same_v<T, std::string>) {
    const auto& choices = row.choices;
    const bool known = std::find(choices.begin(), choices.end(), value) != choices.end();
    if (!choices.empty() && !known) return "write one of " + join(choices, ", ");
  }
  return "";
}

template <class T>
Result<T> parse_for(const OptionRow&, std::string_view text, const T* target) {
  return parse(text, target);
}
Result<ChoicePlace> parse_for(const OptionRow& row, std::string_view text, const ChoicePlace*) {
  const auto word = std::ranges::find(row.choices, text);
  if (word != row.choices.end()) return static_cast<ChoicePlace>(word - row.choices.begin());
  return Error{ErrorCode::kOutOfRange, "write one of " + join(row.choices, ", ")};
}
template <class T>
Result<std::optional<T>> parse_for(const OptionRow& row, std::string_view text,
                                   const std::optional<T>*) {
  if (text == row.unset) return std::optional<T>();
  Result<T> value = parse(text, static_cast<const T*>(nullptr));
  if (!value.ok()) return malformed_value(value.error().message + ", or " + std::string(row.unset));
  return std::optional<T>(std::move(*value));
}

template <class T>
std::string format_for(const OptionRow&, const T& value) {
  return format(value);
}
std::string format_for(const OptionRow& row, const ChoicePlace& value) {
  return row.choices.at(value);
}
template <class T>
std::string format_for(const OptionRow& row, const std::optional<T>& value) {
  return value ? format(*value) : std::string(row.unset);
}

template <class T>
Status assign(const OptionRow& row, T* target, std::string_view text) {
  Result<T> value = parse_for(row, text, target);
  if (!value.ok()) return value.error();
  const std::string fix = broken_bound(row, *value);
  if (!fix.empty()) return Error{ErrorCode::kOutOfRange, fix};
  *target = std::move(*value);
  return Unit{};
}

template <class T>
std::string bounds(const OptionRow& row, const T* target) {
  if constexpr (kHasBounds<T>) {
    return format_bound(row.min, target) + " .. " + format_bound(row.max, target);
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true | false";
  } else {
    return join(row.choices, " | ");
  }
}
template <class T>
std::string bounds(const OptionRow& row, const std::optional<T>*) {
  return bounds(row, static_cast<const T*>(nullptr)) + " | " + std::string(row.unset);
}

}  // namespace

Status assign_option(const OptionRow& row, std::string_view text) {
  return std::visit([&](auto* target) { return assign(row, target, text); }, row.target);
}

std::string option_text(const OptionRow& row) {
  return std::visit([&](const auto* value) { return format_for(row, *value); }, row.target);
}

std::string option_bounds_text(const OptionRow& row) {
  return std::visit([&](const auto* target) { return bounds(row, target); }, row.target);
}

bool option_is_text(const OptionTarget& target) {
  return std::holds_alternative<std::string*>(target) ||
         std::holds_alternative<ChoicePlace*>(target);
}

bool option_within_bounds(const OptionRow& row) {
  return std::visit([&](const auto* target) { return broken_bound(row, *target).empty(); },
                    row.target);
}

}  // namespace heatsink

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/spread/copy_text.h"

#include <algorithm>

namespace heatsink::spread {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kTokenDigits = 16;

bool is_token(std::string_view text) {
  return text.size() == kTokenDigits && std::ranges::all_of(text, [](char c) {
           return kDigits.find(c) != std::string_view::npos;
         });
}

}  // namespace

CopyText parse_copy(std::string_view text) {
  if (text == kNoneText) return {CopyKind::kNone, {}};
  if (text == kTombstoneText) return {CopyKind::kTombstone, {}};
  if (text.starts_with('v')) return {CopyKind::kValue, text.substr(1)};
  if (text.starts_with('l') && is_token(text.substr(1))) return {CopyKind::kLease, {}};
  return {};
}

std::string value_text(std::string_view value) {
  std::string text = "v";
  text += value;
  return text;
}

std::string lease_text(std::uint64_t token) {
  std::string text = "l";
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(token >> shift) & 15U];
  return text;
}

AfterCopy after_copy(CopyKind kind) {
  switch (kind) {
    case CopyKind::kValue:
      return AfterCopy::kServe;
    case CopyKind::kNone:
      return AfterCopy::kServeNone;
    case CopyKind::kLease:
    case CopyKind::kTombstone:
    case CopyKind::kUnknown:
      break;
  }
  return AfterCopy::kAskKey;
}

Nanos jittered(Nanos ttl, std::uint64_t random) {
  const auto whole = ttl.count();
  const std::int64_t most = whole / 4;
  if (most <= 0) return ttl;
  return Nanos(whole - static_cast<std::int64_t>(random % static_cast<std::uint64_t>(most + 1)));
}

}  // namespace heatsink::spread

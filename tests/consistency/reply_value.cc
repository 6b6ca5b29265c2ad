// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/reply_value.h"

#include <charconv>
#include <vector>

#include "tests/consistency/op.h"

namespace heatsink::consistency {
namespace {

// kField's value is the only other element.
std::uint64_t value_in_hash(const std::vector<resp::Value>& elements) {
  for (const resp::Value& each : elements) {
    const bool is_other =
        each.text == kField || each.text == kOtherField || each.text == kOtherValue;
    if (each.type != resp::Value::Type::kNull && !is_other) return value_of(each);
  }
  return kNil;
}

}  // namespace

std::uint64_t value_of(const resp::Value& reply) {
  if (reply.type == resp::Value::Type::kArray) return value_in_hash(reply.items);
  if (reply.type == resp::Value::Type::kNull || reply.text.empty()) return kNil;
  std::uint64_t value = 0;
  std::from_chars(reply.text.data(), reply.text.data() + reply.text.size(), value);
  return value == kNil ? UINT64_MAX : value;
}

}  // namespace heatsink::consistency

// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/violation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace heatsink::consistency {
namespace {

double ms(Nanos time) { return std::chrono::duration<double, std::milli>(time).count(); }

std::string name_of(std::uint64_t value) {
  return value == kNil ? "nil" : fmt::format("#{}.{}", value >> 32, value & 0xFFFFFFFF);
}

std::string_view of_wall(const Op& op) { return op.is_moment ? " by its wall clock" : ""; }

std::string what(const Op& op) {
  switch (op.kind) {
    case Kind::kRead:
      return fmt::format("read {}{}", name_of(op.value), op.cached ? "" : " (from the server)");
    case Kind::kWrite:
      return op.ttl.count() == 0 ? "wrote " + name_of(op.value)
                                 : fmt::format("wrote {} for {} ms{}", name_of(op.value),
                                               op.ttl.count(), of_wall(op));
    case Kind::kErase:
      return "erased it";
    case Kind::kExpire:
      return fmt::format("let it live for {} ms{}", op.ttl.count(), of_wall(op));
    case Kind::kBarrier:
      return "asked for a barrier";
    case Kind::kAdd:
      return fmt::format("added {}", op.value);
    case Kind::kSum:
      return fmt::format("read the sum {}", op.value);
  }
  return "";
}

}  // namespace

std::string to_string(Promise promise) {
  switch (promise) {
    case Promise::kWritten:
      return "written";
    case Promise::kRegister:
      return "register";
    case Promise::kRemoval:
      return "removal";
    case Promise::kExpiry:
      return "expiry";
    case Promise::kSession:
      return "session";
    case Promise::kNoWayBack:
      return "no way back";
    case Promise::kSessionOrder:
      return "session order";
    case Promise::kBarrier:
      return "barrier";
    case Promise::kSum:
      return "sum";
  }
  return "";
}

std::string to_text(const Violation& violation) {
  std::vector<Op> ops = violation.excerpt;
  std::stable_sort(ops.begin(), ops.end(),
                   [](const Op& a, const Op& b) { return a.invoked < b.invoked; });
  std::string text = to_string(violation.promise) + ": " + violation.sentence + "\n";
  for (const Op& op : ops) {
    const TimePoint start = ops.front().invoked;
    const std::string end = op.known() ? fmt::format("{:.3f}", ms(op.responded - start)) : "?";
    const std::string path =
        op.via == 0 ? "past the proxies" : fmt::format("through proxy {}", op.via);
    const std::string key = op.key == kNoKey ? "no key" : fmt::format("key {}", op.key);
    text += fmt::format("  [{:.3f}, {} ms] {}: session {} ({}), operation {}: {}\n",
                        ms(op.invoked - start), end, key, op.session, path, op.order, what(op));
  }
  return text;
}

}  // namespace heatsink::consistency

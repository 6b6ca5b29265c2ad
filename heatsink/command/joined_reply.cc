// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/joined_reply.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_set>

#include "heatsink/spread/spread.h"

namespace heatsink::proxy {
namespace {

constexpr std::string_view kOtherForm =
    "-ERR heatsink: a node of the cluster has answered in a form "
    "that cannot be joined with the replies of the others\r\n";

bool is_error_reply(std::string_view wire) {
  return wire.starts_with('-') || wire.starts_with('!');
}

bool is_null_reply(std::string_view wire) {
  return wire == "$-1\r\n" || wire == "*-1\r\n" || wire == "_\r\n";
}

std::optional<std::int64_t> integer_of(std::string_view wire) {
  if (!wire.starts_with(':') || !wire.ends_with("\r\n")) return std::nullopt;
  std::int64_t value = 0;
  const char* const last = wire.data() + wire.size() - 2;
  const auto [end, error] = std::from_chars(wire.data() + 1, last, value);
  if (error != std::errc{} || end != last) return std::nullopt;
  return value;
}

std::string array_header(std::size_t count) { return "*" + std::to_string(count) + "\r\n"; }

bool is_array(std::string_view wire) { return wire.starts_with('*') || wire.starts_with('~'); }

std::string sum_of(std::span<const PartReply> parts) {
  std::int64_t sum = 0;
  for (const PartReply& part : parts) {
    const std::optional<std::int64_t> value = integer_of(part.wire);
    if (!value) return std::string(kOtherForm);
    sum += *value;
  }
  return ":" + std::to_string(sum) + "\r\n";
}

std::string any_one(std::span<const PartReply> parts) {
  const std::string sum = sum_of(parts);
  return sum == kOtherForm || sum == ":0\r\n" ? sum : ":1\r\n";
}

// A part that is no integer, and a sum that is none, get the error that INCR would get.
std::string counter_of(std::span<const PartReply> parts) {
  spread::PartSum sum;
  for (const PartReply& part : parts) {
    resp::Value value;
    std::size_t used = 0;
    const bool is_read = resp::parse_value(part.wire, value, used) == resp::ValueStatus::kValue;
    if (is_null_reply(part.wire)) continue;
    if (!is_read || value.type != resp::Value::Type::kString) return std::string(kOtherForm);
    sum.add(value.text);
  }
  ByteBuffer out;
  switch (sum.state()) {
    case spread::PartSum::State::kNone:
      return std::string(parts.front().wire);
    case spread::PartSum::State::kSum:
      resp::append_bulk(out, std::to_string(sum.value()));
      break;
    case spread::PartSum::State::kNotInteger:
      return "-ERR value is not an integer or out of range\r\n";
    case spread::PartSum::State::kTooLarge:
      return "-ERR heatsink: the sum of the counter's parts is out of range\r\n";
  }
  return std::string(out.view());
}

std::string in_positions(std::span<const PartReply> parts) {
  std::size_t count = 0;
  for (const PartReply& part : parts) count += part.positions.size();
  std::vector<std::string_view> all(count);
  std::size_t bytes = 0;
  constexpr std::string_view kOne = "*1\r\n";  // most parts have one key
  for (const PartReply& part : parts) {
    bytes += part.wire.size();
    if (part.positions.size() == 1 && part.wire.starts_with(kOne)) {
      all[part.positions.front()] = part.wire.substr(kOne.size());
      continue;
    }
    const std::vector<std::string_view> elements = elements_of(part.wire);
    if (elements.size() != part.positions.size()) return std::string(kOtherForm);
    for (std::size_t i = 0; i < elements.size(); ++i) all[part.positions[i]] = elements[i];
  }
  std::string out = array_header(count);
  out.reserve(out.size() + bytes);
  for (const std::string_view element : all) out += element;
  return out;
}

std::string concatenated(std::span<const PartReply> parts) {
  std::string body;
  std::size_t count = 0;
  for (const PartReply& part : parts) {
    if (!is_array(part.wire)) return std::string(kOtherForm);
    const std::vector<std::string_view> elements = elements_of(part.wire);
    count += elements.size();
    for (const std::string_view element : elements) body += element;
  }
  return array_header(count) + body;
}

std::string union_of(std::span<const PartReply> parts) {
  std::string body;
  std::unordered_set<std::string_view> found;
  for (const PartReply& part : parts) {
    if (!is_array(part.wire)) return std::string(kOtherForm);
    for (const std::string_view element : elements_of(part.wire))
      if (found.insert(element).second) body += element;
  }
  return array_header(found.size()) + body;
}

// All have the same names in the same order: those of the request.
std::string named_sums(std::span<const PartReply> parts) {
  std::vector<std::string_view> names;
  std::vector<std::int64_t> sums;
  for (const PartReply& part : parts) {
    const std::vector<std::string_view> elements = elements_of(part.wire);
    if (!is_array(part.wire) || elements.size() % 2 != 0) return std::string(kOtherForm);
    if (&part == &parts.front()) sums.assign(elements.size() / 2, 0);
    if (elements.size() != 2 * sums.size()) return std::string(kOtherForm);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::optional<std::int64_t> value = integer_of(elements[2 * i + 1]);
      if (&part == &parts.front()) names.push_back(elements[2 * i]);
      if (!value || names[i] != elements[2 * i]) return std::string(kOtherForm);
      sums[i] += *value;
    }
  }
  std::string out = array_header(2 * sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    out.append(names[i]).append(":" + std::to_string(sums[i]) + "\r\n");
  return out;
}

std::string most_of(std::span<const PartReply> parts) {
  std::int64_t most = 0;
  for (const PartReply& part : parts) {
    const std::optional<std::int64_t> value = integer_of(part.wire);
    if (!value) return std::string(kOtherForm);
    most = std::max(most, *value);
  }
  return ":" + std::to_string(most) + "\r\n";
}

// FUNCTION STATS begins with the script that runs, or null.
std::string running_one(std::span<const PartReply> parts) {
  constexpr std::string_view kName = "$14\r\nrunning_script\r\n";
  for (const PartReply& part : parts) {
    const std::size_t at = part.wire.find(kName);
    if (at == std::string_view::npos) continue;
    const std::string_view script = part.wire.substr(at + kName.size());
    const bool is_null =
        script.starts_with("$-1") || script.starts_with("*-1") || script.starts_with('_');
    if (!is_null) return std::string(part.wire);
  }
  return std::string(parts.front().wire);
}

std::string all_of_arrays(std::span<const PartReply> parts) {
  std::vector<std::int64_t> result;
  for (const PartReply& part : parts) {
    const std::vector<std::string_view> elements = elements_of(part.wire);
    if (result.empty()) result.assign(elements.size(), 1);
    if (elements.size() != result.size()) return std::string(kOtherForm);
    for (std::size_t i = 0; i < elements.size(); ++i)
      result[i] = result[i] != 0 && integer_of(elements[i]).value_or(0) != 0 ? 1 : 0;
  }
  std::string out = array_header(result.size());
  for (const std::int64_t value : result) out += ":" + std::to_string(value) + "\r\n";
  return out;
}

std::string any_ok(std::span<const PartReply> parts) {
  // "NOTBUSY No scripts in execution right now." says least; so does NOSCRIPT.
  std::string_view error;
  for (const PartReply& part : parts) {
    if (!is_error_reply(part.wire)) return std::string(part.wire);
    if (error.empty() || error.starts_with("-NOTBUSY") || error.starts_with("-NOSCRIPT"))
      error = part.wire;
  }
  return std::string(error);
}

std::string random_one(std::span<const PartReply> parts, std::uint64_t random) {
  std::vector<std::string_view> found;
  found.reserve(parts.size());
  for (const PartReply& part : parts)
    if (!is_null_reply(part.wire)) found.push_back(part.wire);
  return std::string(found.empty() ? parts.front().wire : found[random % found.size()]);
}

}  // namespace

std::vector<std::string_view> elements_of(std::string_view wire) {
  std::vector<std::string_view> out;
  if (!is_array(wire)) return out;
  const std::size_t line = wire.find('\n');
  if (line == std::string_view::npos) return out;
  std::string_view rest = wire.substr(line + 1);
  resp::ReplyScanner scanner;
  while (!rest.empty()) {
    const resp::ScanStep step = scanner.feed(rest);
    if (step.status != resp::ScanStatus::kReply) return {};
    out.push_back(rest.substr(0, step.consumed));
    rest.remove_prefix(step.consumed);
  }
  return out;
}

std::string join_replies(Join join, std::span<const PartReply> parts, std::uint64_t random) {
  if (join == Join::kAnyOk) return any_ok(parts);
  const auto failed =
      std::ranges::find_if(parts, [](const PartReply& part) { return is_error_reply(part.wire); });
  if (failed != parts.end()) return std::string(failed->wire);
  switch (join) {
    case Join::kSum:
      return sum_of(parts);
    case Join::kCounter:
      return counter_of(parts);
    case Join::kAnyOne:
      return any_one(parts);
    case Join::kPositions:
      return in_positions(parts);
    case Join::kConcat:
      return concatenated(parts);
    case Join::kUnion:
      return union_of(parts);
    case Join::kNamedSums:
      return named_sums(parts);
    case Join::kMost:
      return most_of(parts);
    case Join::kRunning:
      return running_one(parts);
    case Join::kAll:
      return all_of_arrays(parts);
    case Join::kRandomOne:
      return random_one(parts, random);
    case Join::kOk:
    case Join::kAnyOk:
      break;
  }
  return std::string(parts.front().wire);
}

}  // namespace heatsink::proxy

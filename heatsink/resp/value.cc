// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/value.h"

#include <optional>

#include "heatsink/resp/reply_header.h"

namespace heatsink::resp {
namespace {

// Reads elements from the front of `rest_`. The recursion is as deep as the open aggregates;
// depth_max limits it.
class ValueReader {
 public:
  ValueReader(std::string_view bytes, const ValueLimits& limits) : rest_(bytes), limits_(limits) {}

  ValueStatus read_element(Value& value) {
    do {
      const ValueStatus status = read_header();
      if (status != ValueStatus::kValue) return status;
      if (type_ != '|') return read_body(value);
      if (const ValueStatus dropped = drop_attribute(); dropped != ValueStatus::kValue)
        return dropped;
    } while (true);
  }

  std::size_t rest_bytes() const { return rest_.size(); }

 private:
  ValueStatus read_header();
  ValueStatus read_body(Value& value);
  ValueStatus read_bytes(Value& value);
  ValueStatus read_items(std::vector<Value>& items, std::uint64_t count);
  ValueStatus drop_attribute();

  std::string_view rest_;
  const ValueLimits& limits_;
  std::size_t depth_ = 0;
  std::size_t items_ = 0;
  char type_ = 0;            // of the last header,
  std::string_view line_;    // and the line after it,
  std::int64_t number_ = 0;  // and its number, if this form has one
};

Value::Type value_type(char type) {
  switch (type) {
    case '+':
      return Value::Type::kSimple;
    case '-':
    case '!':
      return Value::Type::kError;
    case ':':
      return Value::Type::kInteger;
    case '#':
      return Value::Type::kBoolean;
    case ',':
      return Value::Type::kDouble;
    case '(':
      return Value::Type::kBigNumber;
    case '$':
    case '=':
      return Value::Type::kString;
    case '*':
      return Value::Type::kArray;
    case '~':
      return Value::Type::kSet;
    case '%':
      return Value::Type::kMap;
    case '>':
      return Value::Type::kPush;
    default:
      return Value::Type::kNull;
  }
}

ValueStatus ValueReader::read_header() {
  if (rest_.empty()) return ValueStatus::kNeedMore;
  type_ = rest_[0];
  const Shape shape = shape_of(type_);
  if (shape == Shape::kInvalid) return ValueStatus::kError;
  const std::string_view after = rest_.substr(1);
  const std::size_t line_max = shape == Shape::kText ? after.size() : kHeaderBytesMax;
  const std::size_t end = after.substr(0, line_max + 1).find('\r');
  if (end == std::string_view::npos) {
    return after.size() > line_max ? ValueStatus::kError : ValueStatus::kNeedMore;
  }
  if (end + 1 == after.size()) return ValueStatus::kNeedMore;
  if (after[end + 1] != '\n') return ValueStatus::kError;
  line_ = after.substr(0, end);
  rest_ = after.substr(end + 2);
  if (shape == Shape::kText) return ValueStatus::kValue;
  const std::optional<std::int64_t> number = parse_decimal(line_);
  number_ = number.value_or(0);
  const bool valid =
      shape == Shape::kScalar ? is_scalar(type_, line_) : number && may_announce(type_, *number);
  return valid ? ValueStatus::kValue : ValueStatus::kError;
}

ValueStatus ValueReader::read_body(Value& value) {
  value.type = value_type(type_);
  const Shape shape = shape_of(type_);
  switch (shape) {
    case Shape::kText:
      value.text = line_;
      return ValueStatus::kValue;
    case Shape::kScalar:
      value.integer = type_ == '#' ? line_ == "t" : number_;
      return ValueStatus::kValue;
    default:
      break;
  }
  if (number_ == -1) {
    value.type = Value::Type::kNull;
    return ValueStatus::kValue;
  }
  if (shape == Shape::kBytes) return read_bytes(value);
  return read_items(value.items,
                    static_cast<std::uint64_t>(number_) * (shape == Shape::kPairs ? 2 : 1));
}

ValueStatus ValueReader::read_bytes(Value& value) {
  const auto size = static_cast<std::size_t>(number_);
  if (size > limits_.bytes_max) return ValueStatus::kError;
  if (rest_.size() > size && rest_[size] != '\r') return ValueStatus::kError;
  if (rest_.size() < size + 2) return ValueStatus::kNeedMore;
  if (rest_[size + 1] != '\n') return ValueStatus::kError;
  value.text = rest_.substr(0, size);
  if (type_ == '=') value.text.erase(0, kVerbatimPrefixBytes);
  rest_.remove_prefix(size + 2);
  return ValueStatus::kValue;
}

ValueStatus ValueReader::read_items(std::vector<Value>& items, std::uint64_t count) {
  if (count == 0) return ValueStatus::kValue;
  if (depth_ == limits_.depth_max || count > limits_.items_max - items_) return ValueStatus::kError;
  ++depth_;
  for (; count > 0; --count) {
    if (items_++ == limits_.items_max) return ValueStatus::kError;
    const ValueStatus status = read_element(items.emplace_back());
    if (status != ValueStatus::kValue) return status;
  }
  --depth_;
  return ValueStatus::kValue;
}

ValueStatus ValueReader::drop_attribute() {
  std::vector<Value> dropped;
  return read_items(dropped, static_cast<std::uint64_t>(number_) * 2);
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  if (type != Type::kMap && type != Type::kArray) return nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].is_text() && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

ValueStatus parse_value(std::string_view bytes, Value& value, std::size_t& consumed,
                        const ValueLimits& limits) {
  const std::string_view seen = bytes.substr(0, limits.bytes_max);
  ValueReader reader(seen, limits);
  value = Value{};
  const ValueStatus status = reader.read_element(value);
  if (status == ValueStatus::kValue) consumed = seen.size() - reader.rest_bytes();
  if (status == ValueStatus::kNeedMore && bytes.size() > limits.bytes_max)
    return ValueStatus::kError;
  return status;
}

bool is_unknown_command(std::string_view error) {
  return error.starts_with("ERR unknown command") || error.starts_with("ERR unknown subcommand") ||
         error.starts_with("ERR Unknown subcommand");
}

}  // namespace heatsink::resp

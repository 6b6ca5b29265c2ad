// SPDX-License-Identifier: Apache-2.0
// Reads CSV with a header: key, and optionally t_ms, op, size, db, in any order; other columns are
// ignored. Fields may be quoted as in RFC 4180, but must not contain line breaks.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "heatsink/replay/line_reader.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {
namespace {

constexpr std::size_t kColumnsMax = 64;
constexpr double kNanosPerMilli = 1e6;
constexpr double kMillisMax = 9e12;  // the year 2255, the limit of nanoseconds in 64 bits

enum class Field { kTime, kKey, kOperation, kSize, kDb, kOther };

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// Takes the fields of a line from left to right.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  bool any_left() const { return !done_; }

  // The next field; nothing if its quotes are wrong. A changed field is stored in `unquoted`.
  std::optional<std::string_view> next(std::string& unquoted) {
    if (rest_.starts_with('"')) return quoted(unquoted);
    const std::size_t comma = rest_.find(',');
    const std::string_view field = rest_.substr(0, comma);
    pass(field.size());
    return field;
  }

 private:
  std::optional<std::string_view> quoted(std::string& unquoted) {
    unquoted.clear();
    std::size_t at = 1;
    for (;; ++at) {
      if (at >= rest_.size()) return std::nullopt;
      if (rest_[at] == '"') {
        if (at + 1 == rest_.size() || rest_[at + 1] == ',') break;
        if (rest_[++at] != '"') return std::nullopt;
      }
      unquoted += rest_[at];
    }
    pass(at + 1);
    return unquoted;
  }

  void pass(std::size_t bytes) {
    done_ = bytes >= rest_.size();
    rest_.remove_prefix(std::min(bytes + 1, rest_.size()));
  }

  std::string_view rest_;
  bool done_ = false;
};

Field field_named(std::string_view name) {
  if (name == "t_ms") return Field::kTime;
  if (name == "key") return Field::kKey;
  if (name == "op") return Field::kOperation;
  if (name == "size") return Field::kSize;
  if (name == "db") return Field::kDb;
  return Field::kOther;
}

class CsvReader final : public LineReader {
 public:
  explicit CsvReader(std::vector<Field> columns) : columns_(std::move(columns)) {}

  std::string_view format() const override { return "CSV"; }

  std::string_view take(std::string_view line, TraceBuilder& out) override {
    if (!header_seen_) {
      header_seen_ = true;
      return "";
    }
    if (line.empty()) return "";
    RawAccess access;
    bool key_seen = false;
    Fields fields(line);
    std::size_t column = 0;
    for (; fields.any_left(); ++column) {
      if (column == columns_.size()) return "it has more fields than the header";
      const bool is_key = columns_[column] == Field::kKey;
      const std::optional<std::string_view> text = fields.next(is_key ? key_ : other_);
      if (!text) return "its quotes do not match";
      key_seen = key_seen || is_key;
      if (const std::string_view why = set(access, columns_[column], *text); !why.empty())
        return why;
    }
    if (!key_seen) return "it has no key";
    out.add(access);
    return "";
  }

 private:
  static std::string_view set(RawAccess& access, Field field, std::string_view text) {
    if (field == Field::kKey) access.key = text;
    if (text.empty()) return "";  // unknown
    switch (field) {
      case Field::kTime:
        return set_time(access, text);
      case Field::kOperation: {
        const std::optional<Operation> operation = operation_named(text);
        if (!operation) return "its op is not a command, read or write";
        access.operation = *operation;
        return "";
      }
      case Field::kSize: {
        std::uint64_t bytes = 0;
        if (!parse(text, bytes)) return "its size is not a number of bytes";
        access.value_bytes = bytes;
        return "";
      }
      case Field::kDb:
        return parse(text, access.db) ? "" : "its db is not a number";
      default:
        return "";
    }
  }

  static std::string_view set_time(RawAccess& access, std::string_view text) {
    double millis = 0;
    if (!parse(text, millis) || !(millis >= 0 && millis <= kMillisMax))
      return "its t_ms is not a number of milliseconds";
    access.at_ns = std::llround(millis * kNanosPerMilli);
    return "";
  }

  std::vector<Field> columns_;
  std::string key_, other_;
  bool header_seen_ = false;
};

}  // namespace

std::unique_ptr<LineReader> csv_reader(std::string_view first_line) {
  if (first_line.starts_with("\xEF\xBB\xBF")) first_line.remove_prefix(3);  // a byte order mark
  std::vector<Field> columns;
  std::string unquoted;
  for (Fields fields(first_line); fields.any_left();) {
    const std::optional<std::string_view> name = fields.next(unquoted);
    if (!name || columns.size() == kColumnsMax) return nullptr;
    columns.push_back(field_named(*name));
  }
  if (std::count(columns.begin(), columns.end(), Field::kKey) != 1) return nullptr;
  return std::make_unique<CsvReader>(std::move(columns));
}

}  // namespace heatsink::replay

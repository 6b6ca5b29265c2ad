// SPDX-License-Identifier: Apache-2.0
// Options as rows beside the code that owns them: the flag, the YAML key, the help and the bounds of each are one fact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink {

// Where a row's value lives; its type decides how it is written and checked.
using OptionTarget = std::variant<bool*, std::int64_t*, double*, std::string*, Nanos*, Bytes*>;

struct OptionRow {
  std::string name;     // "detection.hot-qps": group, dot, name in kebab-case
  OptionTarget target;  // holds the default when the row is made
  std::string help;     // a sentence, with the unit
  // Bounds, both included, in the target's own unit (nanoseconds, bytes); ignored for bool and string.
  double min = 0;
  double max = 0;
  std::vector<std::string> choices = {};  // for a string: if not empty, one of these
};

// The rows of one program. Not thread-safe. The targets are not owned and must outlive the set.
class OptionSet {
 public:
  // REQUIRES a name not there yet, and a default within the bounds.
  void add(OptionRow row);

  // Sets one option from text ("500", "10s", "64mb", "true"). The error names the option, what was
  // wrong, the bounds and the default; for an unknown name, the nearest known one.
  Status set(std::string_view name, std::string_view text);

  const std::vector<OptionRow>& rows() const { return rows_; }
  const OptionRow* find(std::string_view name) const;

  // The current value / the value when the row was added, as set() would take it.
  std::string value_text(const OptionRow& row) const;
  std::string default_text(const OptionRow& row) const;
  std::string bounds_text(const OptionRow& row) const;  // "1 .. 86400s" ; "off | ttl | key"

  // The whole set as a commented YAML file, grouped (`heatsink config print`).
  std::string to_yaml() const;

 private:
  std::vector<OptionRow> rows_;
  std::vector<std::string> defaults_;
};

}  // namespace heatsink

// SPDX-License-Identifier: Apache-2.0
// Options as rows beside the code that owns them: the flag, the YAML key, the help and the bounds
// of each are one fact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink {

class OptionList;

// Where a row's value lives; its type decides how it is written and checked. A value that is not
// there is written as kInherit: what counts instead is for the owner to know, and for the help to
// say.
using OptionTarget =
    std::variant<bool*, std::int64_t*, double*, std::string*, Nanos*, Bytes*, Share*,
                 std::optional<std::int64_t>*, std::optional<double>*, std::optional<Nanos>*,
                 std::optional<Bytes>*, std::optional<Share>*>;
inline constexpr std::string_view kInherit = "inherit";

struct OptionRow {
  std::string name;     // "detection.hot-qps": group, dot, name in kebab-case
  OptionTarget target;  // holds the default when the row is made
  std::string help;     // a sentence, with the unit
  // Bounds, both included, in the target's own unit (nanoseconds, bytes, parts of one); ignored for
  // bool and string.
  double min = 0;
  double max = 0;
  std::vector<std::string> choices = {};  // for a string: if not empty, one of these
};

// The rows of one program, or of one item in a list of its. Not thread-safe. The targets are not
// owned and must outlive the set.
class OptionSet {
 public:
  static constexpr std::size_t kTextBytesMax = 4096;  // of one value as text

  // `owner` stands before each error: "rule 2" for "rule 2: window is '5': ...".
  explicit OptionSet(std::string owner = "");
  ~OptionSet();
  OptionSet(OptionSet&&) noexcept;
  OptionSet& operator=(OptionSet&&) noexcept;

  // REQUIRES a name not there yet, and a default within the bounds.
  void add(OptionRow row);

  // A list of groups that have rows of their own (option_list.h). REQUIRES a name not there yet.
  void add(std::unique_ptr<OptionList> list);

  // Sets one option from text ("500", "10s", "64mb", "2%", "true"; booleans also as yes/no,
  // on/off). The error names the option, what was wrong, the bounds and the default, and leaves the
  // option as it was; for an unknown name it gives the nearest known one (kNotFound).
  Status set(std::string_view name, std::string_view text);

  // "name=value", as `--set` takes it.
  Status set_assignment(std::string_view assignment);

  const std::vector<OptionRow>& rows() const { return rows_; }
  const OptionRow* find(std::string_view name) const;  // O(rows); null: none of that name

  const std::vector<std::unique_ptr<OptionList>>& lists() const { return lists_; }
  OptionList* find_list(std::string_view name) const;  // null: none of that name

  // The current value / the value when the row was added, as set() would take it.
  // REQUIRES a row of this set, also below.
  std::string value_text(const OptionRow& row) const;
  std::string default_text(const OptionRow& row) const;
  // "1s .. 24h"; "1s .. 24h | inherit"; "off | ttl | key"; "true | false"; "" for a string without
  // choices.
  std::string bounds_text(const OptionRow& row) const;

  // The whole set as a commented YAML file, grouped (`heatsink config print`): read back by
  // load_config_file() it gives the same values.
  std::string to_yaml() const;
  // The same rows as a reference page: one table per group, values being the defaults.
  std::string to_markdown() const;

 private:
  Error unknown_name(std::string_view name) const;
  std::string told(std::string message) const;  // with the owner before it

  std::string owner_;
  std::vector<OptionRow> rows_;
  std::vector<std::string> defaults_;  // of the row at the same place
  std::vector<std::unique_ptr<OptionList>> lists_;
};

}  // namespace heatsink

// SPDX-License-Identifier: Apache-2.0
// Defines options as rows beside the code that owns them: each row has the flag, the YAML key, the
// help and the bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink {

class OptionList;

// The place of an enumeration's value among the row's choices: choice_of() makes it.
using ChoicePlace = unsigned char;

// Where a row's value is stored; its type decides the text form and the checks. An unset optional
// is written as the row's `unset`: its owner decides the effective value, and the help must say so.
using OptionTarget =
    std::variant<bool*, std::int64_t*, double*, std::string*, ChoicePlace*, Nanos*, Bytes*, Share*,
                 std::optional<std::int64_t>*, std::optional<double>*, std::optional<Nanos>*,
                 std::optional<Bytes>*, std::optional<Share>*>;
inline constexpr std::string_view kInherit = "inherit";
inline constexpr std::string_view kAuto = "auto";

struct OptionRow {
  std::string name;     // "detection.hot-qps": group, dot, name in kebab-case
  OptionTarget target;  // its value when the row is made is the default
  std::string help;     // a sentence, with the unit
  // Bounds, both included, in the target's own unit (nanoseconds, bytes, parts of one); ignored for
  // bool and string.
  double min = 0;
  double max = 0;
  // The allowed values of a string, if not empty. The words of an enumeration, in its order.
  std::vector<std::string> choices = {};
  std::string_view unset = kInherit;  // the word for an optional without a value; static
  // A running program takes a change of it only at its next start. Only of rows of a program that
  // can change options while it runs.
  bool needs_restart = false;
  // What to use instead, a sentence; static. The option still works, and a later version refuses
  // it. "": it is here to stay.
  std::string_view deprecated = {};
};

// The target for an enumeration of one byte, whose values count from 0 without a gap. (Any object
// may be read and written as unsigned char.)
template <class E>
ChoicePlace* choice_of(E& value) {
  static_assert(std::is_enum_v<E> && sizeof(E) == 1);
  return reinterpret_cast<ChoicePlace*>(&value);  // NOLINT(*-reinterpret-cast)
}

inline OptionRow deprecated(std::string_view instead, OptionRow row) {
  row.deprecated = instead;
  return row;
}

inline OptionRow at_start(OptionRow row) {
  row.needs_restart = true;
  return row;
}

// The sentence that a row with needs_restart has in the reference and the sample file.
inline constexpr std::string_view kNeedsRestart = "A change needs a restart.";

// The rows of a program, or of one list item. Not thread-safe. Does not own the targets, which must
// outlive the set.
class OptionSet {
 public:
  static constexpr std::size_t kTextBytesMax = 4096;  // of one value as text

  // `owner` precedes each error: "rule 2" for "rule 2: window is '5': ...".
  explicit OptionSet(std::string owner = "");
  ~OptionSet();
  OptionSet(OptionSet&&) noexcept;
  OptionSet& operator=(OptionSet&&) noexcept;

  // REQUIRES a new name, and a default within the bounds.
  void add(OptionRow row);

  // Adds a list of groups with rows of their own (option_list.h). REQUIRES a new name.
  void add(std::unique_ptr<OptionList> list);

  // Sets one option from text ("500", "10s", "64mb", "2%", "true"; booleans also as yes/no,
  // on/off). An error names the option, the fault, the bounds and the default, and changes nothing;
  // for an unknown name it suggests the nearest known one (kNotFound).
  Status set(std::string_view name, std::string_view text);

  // Sets "name=value", the form of `--set`.
  Status set_assignment(std::string_view assignment);

  const std::vector<OptionRow>& rows() const { return rows_; }
  const OptionRow* find(std::string_view name) const;  // O(rows); null: no such name

  const std::vector<std::unique_ptr<OptionList>>& lists() const { return lists_; }
  OptionList* find_list(std::string_view name) const;  // null: no such name

  // The current value, and the default, in the form that set() accepts. REQUIRES a row of this set,
  // also below.
  std::string value_text(const OptionRow& row) const;
  std::string default_text(const OptionRow& row) const;
  // A sentence for each deprecated option, also of list items, whose value is not its default.
  std::vector<std::string> deprecated_in_use() const;
  // "1s .. 24h"; "1s .. 24h | inherit"; "off | ttl | key"; "true | false"; "" for a string without
  // choices.
  std::string bounds_text(const OptionRow& row) const;

 private:
  Error unknown_name(std::string_view name) const;
  std::string told(std::string message) const;  // adds the owner in front

  std::string owner_;
  std::vector<OptionRow> rows_;
  std::vector<std::string> defaults_;  // by index of the row
  std::vector<std::unique_ptr<OptionList>> lists_;
};

}  // namespace heatsink

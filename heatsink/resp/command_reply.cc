// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/command_reply.h"

#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

namespace heatsink::resp {
namespace {

// The columns of a row. Redis before 7.0 ends after kStep, or after the ACL categories (6.0).
enum Column : std::size_t {
  kName,
  kArity,
  kFlags,
  kFirst,
  kLast,
  kStep,
  kAcl,
  kTips,
  kKeySpecs,
  kSubcommands
};
constexpr std::size_t kOldColumns = kStep + 1;
constexpr std::size_t kColumns = kSubcommands + 1;

const std::vector<Value>* list(const Value* value) {
  const bool is_list =
      value != nullptr && (value->type == Value::Type::kArray || value->type == Value::Type::kSet);
  return is_list ? &value->items : nullptr;
}

// Reads the fields of a map as 32-bit integers; `absent` for a missing field.
class Fields {
 public:
  explicit Fields(const Value* map) : map_(map) {}

  const Value* at(std::string_view key) const {
    return map_ == nullptr ? nullptr : map_->find(key);
  }

  std::string_view text(std::string_view key) const {
    const Value* value = at(key);
    return value != nullptr && value->is_text() ? std::string_view(value->text)
                                                : std::string_view();
  }

  // False if the field is missing or not such a number.
  bool read(std::string_view key, std::int32_t& number) const { return read(at(key), number); }

  static bool read(const Value* value, std::int32_t& number) {
    using Limits = std::numeric_limits<std::int32_t>;
    if (value == nullptr || value->type != Value::Type::kInteger) return false;
    if (value->integer < Limits::min() || value->integer > Limits::max()) return false;
    number = static_cast<std::int32_t>(value->integer);
    return true;
  }

 private:
  const Value* map_;
};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return lower;
}

void read_spec_flags(const std::vector<Value>& flags, KeySpec& spec) {
  for (const Value& flag : flags) {
    const std::string_view f = flag.text;
    spec.reads |= f == "RO" || f == "RW" || f == "access";
    spec.writes |=
        f == "RW" || f == "OW" || f == "RM" || f == "insert" || f == "update" || f == "delete";
    spec.not_key |= f == "not_key";
    spec.incomplete |= f == "incomplete";
  }
  const bool says_nothing = !spec.reads && !spec.writes;
  spec.writes |= says_nothing;
}

bool read_begin(const Fields& search, KeySpec& spec) {
  const Fields how(search.at("spec"));
  if (search.text("type") == "index") {
    spec.begin = KeySpec::Begin::kIndex;
    return how.read("index", spec.index);
  }
  if (search.text("type") == "keyword") {
    spec.begin = KeySpec::Begin::kKeyword;
    spec.keyword = in_lower_case(how.text("keyword"));
    return how.read("startfrom", spec.index) && !spec.keyword.empty() &&
           spec.keyword.size() <= kCommandNameBytesMax;
  }
  return true;
}

bool read_find(const Fields& search, KeySpec& spec) {
  const Fields how(search.at("spec"));
  if (search.text("type") == "range") {
    spec.find = KeySpec::Find::kRange;
    return how.read("lastkey", spec.last_key) && how.read("keystep", spec.key_step) &&
           how.read("limit", spec.limit);
  }
  if (search.text("type") == "keynum") {
    spec.find = KeySpec::Find::kKeynum;
    return how.read("keynumidx", spec.keynum_index) && how.read("firstkey", spec.first_key) &&
           how.read("keystep", spec.keynum_step);
  }
  return true;
}

std::optional<KeySpec> read_spec(const Value& value) {
  const Fields fields(&value);
  const std::vector<Value>* flags = list(fields.at("flags"));
  KeySpec spec;
  if (flags == nullptr) return std::nullopt;
  read_spec_flags(*flags, spec);
  if (!read_begin(Fields(fields.at("begin_search")), spec)) return std::nullopt;
  if (!read_find(Fields(fields.at("find_keys")), spec)) return std::nullopt;
  return spec;
}

bool read_specs(const Value& column, Command& command) {
  const std::vector<Value>* specs = list(&column);
  if (specs == nullptr || specs->size() > kKeySpecsMax) return false;
  for (const Value& value : *specs) {
    std::optional<KeySpec> spec = read_spec(value);
    if (!spec) return false;
    command.key_specs.push_back(*std::move(spec));
  }
  return true;
}

void read_flags(const std::vector<Value>& names, Command& command) {
  for (const Value& name : names) command.flags |= command_flag(name.text);
}

// Builds the list row by row, with subcommands after their container.
class CommandListReader {
 public:
  void add(const Value& row, const std::string& container) {
    std::optional<Command> command = read(row, container);
    if (!command || !names_.insert(command->name).second) return;
    const std::string name = command->name;
    result_.commands.push_back(*std::move(command));
    if (row.items.size() < kColumns) return;
    result_.has_key_specs = true;
    const std::vector<Value>* subcommands = list(&row.items[kSubcommands]);
    if (!container.empty() || subcommands == nullptr) return;
    const std::size_t before = result_.commands.size();
    for (const Value& sub : *subcommands) {
      if (!is_full()) add(sub, name);
    }
    result_.commands[before - 1].is_container = result_.commands.size() > before;
  }

  bool is_full() const { return result_.commands.size() > kCommandsMax; }
  CommandReply take() { return std::move(result_); }

 private:
  // A subcommand's name is "container|own name". No other name contains '|' (module.c forbids it).
  static bool is_name(std::string_view name, const std::string& container) {
    if (!container.empty()) {
      if (!name.starts_with(container) || name.substr(container.size(), 1) != "|") return false;
      name.remove_prefix(container.size() + 1);
    }
    return !name.empty() && name.size() <= kCommandNameBytesMax &&
           name.find('|') == std::string_view::npos;
  }

  static std::optional<Command> read(const Value& row, const std::string& container) {
    if (list(&row) == nullptr || row.items.size() < kOldColumns) return std::nullopt;
    const std::vector<Value>& columns = row.items;
    const std::vector<Value>* flags = list(&columns[kFlags]);
    Command command;
    if (!columns[kName].is_text() || flags == nullptr) return std::nullopt;
    command.name = in_lower_case(columns[kName].text);
    if (!is_name(command.name, container)) return std::nullopt;
    read_flags(*flags, command);
    if (!Fields::read(&columns[kArity], command.arity) ||
        !Fields::read(&columns[kFirst], command.first_key) ||
        !Fields::read(&columns[kLast], command.last_key) ||
        !Fields::read(&columns[kStep], command.key_step)) {
      return std::nullopt;
    }
    if (columns.size() < kColumns) return command;
    if (const std::vector<Value>* tips = list(&columns[kTips])) read_flags(*tips, command);
    if (!read_specs(columns[kKeySpecs], command)) return std::nullopt;
    return command;
  }

  CommandReply result_;
  std::unordered_set<std::string> names_;
};

}  // namespace

Result<CommandReply> read_command_reply(const Value& reply) {
  if (reply.is_error())
    return Error{ErrorCode::kPermission, "the server refuses COMMAND: " + reply.text};
  const std::vector<Value>* rows = list(&reply);
  if (rows == nullptr) return Error{ErrorCode::kProtocol, "the reply to COMMAND is not a list"};
  CommandListReader reader;
  for (const Value& row : *rows) {
    reader.add(row, "");
    if (reader.is_full()) {
      return Error{ErrorCode::kOutOfRange, "the reply to COMMAND has more than " +
                                               std::to_string(kCommandsMax) + " commands"};
    }
  }
  CommandReply result = reader.take();
  if (result.commands.empty())
    return Error{ErrorCode::kProtocol, "the reply to COMMAND has no commands"};
  return result;
}

}  // namespace heatsink::resp

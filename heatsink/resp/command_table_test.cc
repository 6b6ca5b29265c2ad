// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/command_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/resp/folded_name.h"

namespace heatsink::resp {
namespace {

const Command* find(const CommandTable& table, std::vector<std::string_view> args) {
  return table.find(args);
}

std::string name_of(const Command* command) {
  return command == nullptr ? "(null)" : command->name;
}

Value text(std::string_view bytes, Value::Type type = Value::Type::kString) {
  Value value;
  value.type = type;
  value.text = bytes;
  return value;
}

Value number(std::int64_t n) {
  Value value;
  value.type = Value::Type::kInteger;
  value.integer = n;
  return value;
}

Value list(std::vector<Value> items) {
  Value value;
  value.type = Value::Type::kArray;
  value.items = std::move(items);
  return value;
}

// A row as Redis before 6.0 gives it.
Value old_row(std::string_view name, std::string_view flag, int first, int last, int step) {
  return list(
      {text(name), number(-2), list({text(flag)}), number(first), number(last), number(step)});
}

Value new_row(std::string_view name, std::vector<Value> specs,
              std::vector<Value> subcommands = {}) {
  return list({text(name), number(-2), list({text("write")}), number(0), number(0), number(0),
               list({}), list({}), list(std::move(specs)), list(std::move(subcommands))});
}

Value spec(std::string_view flag, std::int64_t index, std::int64_t last_key) {
  return list(
      {text("flags"), list({text(flag)}), text("begin_search"),
       list({text("type"), text("index"), text("spec"), list({text("index"), number(index)})}),
       text("find_keys"),
       list({text("type"), text("range"), text("spec"),
             list({text("lastkey"), number(last_key), text("keystep"), number(1), text("limit"),
                   number(0)})})});
}

TEST(CommandTable, KnowsGet) {
  const Command* get = find(CommandTable::built_in(), {"GET", "k"});
  ASSERT_NE(get, nullptr);
  EXPECT_EQ(get->name, "get");
  EXPECT_EQ(get->arity, 2);
  EXPECT_EQ(get->flags, kReadonly | kFast);
  EXPECT_EQ(get->first_key, 1);
  ASSERT_EQ(get->key_specs.size(), 1u);
  EXPECT_TRUE(get->key_specs[0].reads);
  EXPECT_FALSE(get->key_specs[0].writes);
  EXPECT_FALSE(get->is_container);
}

TEST(CommandTable, FindsEveryNameInAnyCase) {
  const CommandTable& table = CommandTable::built_in();
  EXPECT_EQ(table.size(), 366u);
  for (const Command& command : table.commands()) {
    EXPECT_EQ(table.find_name(command.name), &command) << command.name;
    std::string upper = command.name, mixed = command.name;
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    for (std::size_t i = 0; i < mixed.size(); i += 2) mixed[i] = upper[i];
    EXPECT_EQ(table.find_name(upper), &command) << upper;
    EXPECT_EQ(table.find_name(mixed), &command) << mixed;
  }
}

TEST(CommandTable, TakesNoNeighbourForAName) {
  const CommandTable& table = CommandTable::built_in();
  for (const Command& command : table.commands()) {
    const std::string& name = command.name;
    EXPECT_NE(table.find_name(name + "x"), &command);
    EXPECT_EQ(table.find_name(name + '\0'), nullptr);
    for (std::size_t i = 0; i < name.size(); ++i) {
      for (const int change : {0x01, 0x40, 0x80}) {
        std::string other = name;
        other[i] = static_cast<char>(other[i] ^ change);
        const Command* found = table.find_name(other);
        EXPECT_NE(found, &command) << name << " and " << other;
      }
    }
  }
}

TEST(FoldedName, ChangesLettersOnly) {
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    const bool capital = c >= 'A' && c <= 'Z';
    const std::string as_is(5, byte), long_name(13, byte);
    const char lower = capital ? static_cast<char>(c + 32) : byte;
    EXPECT_EQ(FoldedName(as_is), FoldedName(std::string(5, lower))) << c;
    EXPECT_EQ(FoldedName(long_name), FoldedName(std::string(13, lower))) << c;
    const char flipped = static_cast<char>(c ^ 0x20);
    if (!std::isalpha(c)) {
      EXPECT_FALSE(FoldedName(as_is) == FoldedName(std::string(5, flipped))) << c;
    }
  }
}

TEST(FoldedName, HoldsEveryByteOfAShortName) {
  for (std::size_t size = 0; size <= FoldedName::kWholeMax; ++size) {
    const std::string name = std::string("abcdefghijklmnop").substr(0, size);
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = name;
      other[i] = '.';
      EXPECT_FALSE(FoldedName(name) == FoldedName(other)) << name << " " << other;
    }
  }
}

TEST(CommandTable, FindsSubcommands) {
  const CommandTable& table = CommandTable::built_in();
  EXPECT_EQ(name_of(find(table, {"CLIENT", "ID"})), "client|id");
  EXPECT_EQ(name_of(find(table, {"Config", "gEt", "*"})), "config|get");
  EXPECT_EQ(name_of(find(table, {"OBJECT", "ENCODING", "k"})), "object|encoding");
  EXPECT_EQ(name_of(find(table, {"XGROUP", "CREATECONSUMER"})), "xgroup|createconsumer");
  EXPECT_EQ(name_of(find(table, {"CLIENT", "NOSUCH"})), "client");
  EXPECT_EQ(name_of(find(table, {"CLIENT"})), "client");
  EXPECT_EQ(name_of(find(table, {"CLIENT", ""})), "client");
  EXPECT_EQ(name_of(find(table, {"client|id"})), "(null)");
  EXPECT_EQ(name_of(find(table, {"GET", "ID"})), "get");
  EXPECT_EQ(name_of(find(table, {"ID"})), "(null)");
  EXPECT_EQ(name_of(find(table, {""})), "(null)");
}

TEST(FromReply, ReadsSpecsAndSubcommands) {
  const Result<CommandTable> table = CommandTable::from_reply(
      list({new_row("Box", {}, {new_row("box|Put", {spec("OW", 2, -1)})})}));
  ASSERT_TRUE(table.ok()) << table.error().message;
  const Command* put = find(*table, {"BOX", "put"});
  ASSERT_EQ(name_of(put), "box|put");
  ASSERT_EQ(put->key_specs.size(), 1u);
  EXPECT_EQ(put->key_specs[0].index, 2);
  EXPECT_EQ(put->key_specs[0].last_key, -1);
  EXPECT_TRUE(put->key_specs[0].writes);
  EXPECT_TRUE(table->find_name("box")->is_container);
}

TEST(FromReply, ReadsMapsAndSetsOfResp3) {
  Value row = new_row("put", {spec("OW", 1, 0)});
  row.items[2].type = Value::Type::kSet;
  Value& key_spec = row.items[8].items[0];
  key_spec.type = Value::Type::kMap;
  key_spec.items[1].type = Value::Type::kSet;
  for (const int i : {3, 5}) {
    key_spec.items[static_cast<std::size_t>(i)].type = Value::Type::kMap;
    key_spec.items[static_cast<std::size_t>(i)].items[3].type = Value::Type::kMap;
  }
  const Result<CommandTable> table = CommandTable::from_reply(list({row}));
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->find_name("put")->key_positions, KeyPositions::kOneWrite);
  EXPECT_TRUE(table->find_name("put")->has(kWrite));
}

TEST(FromReply, CompletesAnOldServerFromTheBuiltInTable) {
  const Result<CommandTable> table = CommandTable::from_reply(
      list({old_row("get", "readonly", 1, 1, 1), old_row("blpop", "write", 1, -2, 1),
            old_row("object", "readonly", 2, 2, 1), old_row("zunionstore", "movablekeys", 0, 0, 0),
            old_row("my.cmd", "movablekeys", 1, 1, 1), old_row("my.other", "readonly", 1, -1, 2)}));
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->find_name("get")->key_specs.size(), 1u);
  EXPECT_TRUE(table->find_name("blpop")->has(kBlocking));
  EXPECT_EQ(name_of(find(*table, {"OBJECT", "FREQ", "k"})), "object|freq");
  EXPECT_TRUE(table->find_name("object")->key_specs.empty());
  EXPECT_EQ(table->find_name("zunionstore")->key_specs.size(), 2u);
  EXPECT_EQ(table->find_name("set"), nullptr) << "a server that does not list it does not have it";
  const Command* movable = table->find_name("my.cmd");
  ASSERT_EQ(movable->key_specs.size(), 1u);
  EXPECT_TRUE(movable->key_specs[0].writes && movable->key_specs[0].incomplete);
  const Command* ranged = table->find_name("my.other");
  EXPECT_EQ(ranged->key_specs[0].last_key, -1);
  EXPECT_EQ(ranged->key_specs[0].key_step, 2);
  EXPECT_FALSE(ranged->key_specs[0].writes);
}

TEST(FromReply, BelievesTheReadonlyFlagOfAModuleMoreThanItsMadeUpSpec) {
  Value row = new_row("json.get", {spec("RW", 1, 0)});
  row.items[2] = list({text("readonly"), text("module")});
  const Result<CommandTable> table = CommandTable::from_reply(list({row}));
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->find_name("json.get")->key_positions, KeyPositions::kOneRead);
}

TEST(FromReply, TakesASpecThatSaysNothingForAWrite) {
  const Result<CommandTable> table =
      CommandTable::from_reply(list({new_row("put", {spec("new_flag", 1, 0)})}));
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->find_name("put")->key_positions, KeyPositions::kOneWrite);
}

TEST(FromReply, SaysWhatIsWrong) {
  const Value refusal = text("NOPERM no", Value::Type::kError);
  EXPECT_EQ(CommandTable::from_reply(refusal).error().code, ErrorCode::kPermission);
  EXPECT_EQ(CommandTable::from_reply(text("x")).error().code, ErrorCode::kProtocol);
  EXPECT_EQ(CommandTable::from_reply(list({})).error().code, ErrorCode::kProtocol);
  std::vector<Value> rows;
  for (int i = 0; i <= 8192; ++i)
    rows.push_back(old_row("c" + std::to_string(i), "write", 1, 1, 1));
  EXPECT_EQ(CommandTable::from_reply(list(rows)).error().code, ErrorCode::kOutOfRange);
  rows.pop_back();
  EXPECT_TRUE(CommandTable::from_reply(list(rows)).ok());
  EXPECT_EQ(CommandTable::from_reply(list({new_row("c", {}, rows)}))->size(), 1u)
      << "the name of a subcommand begins with its container's";
}

// Each of these rows is broken in one way; the sound one beside it is kept.
TEST(FromReply, LeavesBrokenRowsOut) {
  const Value sound = new_row("sound", {spec("RO", 1, 0)});
  std::vector<Value> broken(12, new_row("broken", {spec("RO", 1, 0)}));
  broken[0] = text("broken");
  broken[1] = list({text("broken"), number(1)});
  broken[2].items[0] = number(1);
  broken[3].items[0] = text("");
  broken[4].items[0] = text(std::string(65, 'b'));
  broken[5].items[0] = text("broken|row");
  broken[6].items[1] = text("2");
  broken[7].items[2] = text("write");
  broken[8].items[3] = number(std::int64_t{1} << 31);
  broken[9].items[8] = list(std::vector<Value>(17, spec("RO", 1, 0)));
  broken[10].items[8] = list({spec("RO", -(std::int64_t{1} << 40), 0)});
  broken[11].items[8] = list({text("flags")});
  for (const Value& row : broken) {
    const Result<CommandTable> table = CommandTable::from_reply(list({row, sound, sound}));
    ASSERT_TRUE(table.ok()) << &row - broken.data();
    EXPECT_EQ(table->size(), 1u) << &row - broken.data();
    EXPECT_NE(table->find_name("sound"), nullptr);
  }
}

}  // namespace
}  // namespace heatsink::resp

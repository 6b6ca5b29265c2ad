// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/command_undo.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "heatsink/command/ascii.h"
#include "heatsink/resp/writer.h"

namespace heatsink::proxy {
namespace {

using resp::Value;

// KEYS: the destination, the source. ARGV: the end at which LREM starts, the element, and the push
// command that restores it.
constexpr std::string_view kMoveBack =
    "if redis.call('LREM', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end "
    "return redis.call(ARGV[3], KEYS[2], ARGV[2])";

// KEYS: the stream. ARGV: the group, the id before the first entry, the id of the last, all ids. If
// the group has delivered later entries, setting its id back would deliver those twice: then these
// entries stay pending, for another consumer to claim.
constexpr std::string_view kUndeliver =
    "for _, row in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do "
    "local g = {} "
    "for i = 1, #row, 2 do g[row[i]] = row[i + 1] end "
    "if g['name'] == ARGV[1] then "
    "if g['last-delivered-id'] ~= ARGV[3] then return 0 end "
    "for i = 4, #ARGV do redis.call('XACK', KEYS[1], ARGV[1], ARGV[i]) end "
    "local read = g['entries-read'] "
    "if type(read) == 'number' and read >= #ARGV - 3 then "
    "redis.call('XGROUP', 'SETID', KEYS[1], ARGV[1], ARGV[2], 'ENTRIESREAD', read - (#ARGV - 3)) "
    "else redis.call('XGROUP', 'SETID', KEYS[1], ARGV[1], ARGV[2]) end "
    "return #ARGV - 3 "
    "end end return 0";

bool parse_id_part(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// The greatest id below "ms-seq"; empty if `id` is invalid or the least one.
std::string id_before(std::string_view id) {
  const std::size_t dash = id.find('-');
  std::uint64_t ms = 0;
  std::uint64_t seq = 0;
  if (dash == std::string_view::npos || !parse_id_part(id.substr(0, dash), ms) ||
      !parse_id_part(id.substr(dash + 1), seq) || (ms == 0 && seq == 0))
    return {};
  if (seq == 0) return std::to_string(ms - 1) + "-" + std::to_string(UINT64_MAX);
  return std::to_string(ms) + "-" + std::to_string(seq - 1);
}

bool is_list(const Value& value) { return value.type == Value::Type::kArray; }

bool are_texts(std::span<const Value> values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_text(); });
}

// A score is text in RESP2 and a double in RESP3; the value keeps its text in both.
bool is_score(const Value& value) { return value.is_text() || value.type == Value::Type::kDouble; }

PutBack request_for(std::span<const std::string_view> args, std::vector<std::string> keys) {
  PutBack request;
  resp::append_request(request.wire, args);
  request.keys = std::move(keys);
  return request;
}

// Adds one "[member, score]" to ZADD's arguments, which want the score first. Replies are "[key,
// member, score]" or "[key, [[member, score], ...]]".
bool add_member(std::vector<std::string_view>& args, std::span<const Value> pair) {
  if (pair.size() != 2 || !pair[0].is_text() || !is_score(pair[1])) return false;
  args.insert(args.end(), {pair[1].text, pair[0].text});
  return true;
}

std::vector<PutBack> add_members(const Value& reply, bool many) {
  std::vector<std::string_view> args = {"ZADD", reply.items[0].text, "NX"};
  bool valid = true;
  if (many) {
    for (const Value& each : reply.items[1].items) valid = valid && add_member(args, each.items);
  } else {
    valid = add_member(args, std::span(reply.items).subspan(1));
  }
  std::vector<PutBack> requests;
  if (valid && args.size() > 3) requests.push_back(request_for(args, {reply.items[0].text}));
  return requests;
}

}  // namespace

CommandUndo::CommandUndo(std::span<const std::string_view> args) {
  if (args.size() < 3) return;
  const auto is = [&](std::string_view name) { return equals_ignoring_case(args[0], name); };
  if (is("blpop") || is("brpop")) {
    how_ = How::kPop;
    from_left_ = is("blpop");
  } else if (is("bzpopmin") || is("bzpopmax")) {
    how_ = How::kMembers;
  } else if (is("bzmpop")) {
    how_ = How::kMembersMany;
  } else if (is("blmpop")) {  // timeout count key [key ...] LEFT | RIGHT [COUNT n]
    std::uint64_t keys = 0;
    if (!parse_id_part(args[2], keys) || keys >= args.size() - 3) return;
    how_ = How::kPopMany;
    from_left_ = equals_ignoring_case(args[3 + keys], "left");
  } else if (is("blmove") || is("brpoplpush")) {
    read_move(args);
  } else if (is("xreadgroup")) {
    read_group(args);
  }
}

void CommandUndo::read_move(std::span<const std::string_view> args) {
  const bool chooses = args.size() == 6;  // BLMOVE source destination from to timeout
  if (!chooses && args.size() != 4) return;
  how_ = How::kMove;
  source_ = args[1];
  destination_ = args[2];
  from_left_ = chooses && equals_ignoring_case(args[3], "left");
  to_left_ = !chooses || equals_ignoring_case(args[4], "left");
}

// With CLAIM some entries belonged to other consumers before, and the reply does not mark them.
void CommandUndo::read_group(std::span<const std::string_view> args) {
  for (std::size_t i = 1; i < args.size() && !equals_ignoring_case(args[i], "streams"); ++i) {
    if (equals_ignoring_case(args[i], "claim")) {
      how_ = How::kNothing;
      return;
    }
    if (equals_ignoring_case(args[i], "group") && i + 2 < args.size()) {
      how_ = How::kEntries;
      group_ = args[i + 1];
      i += 2;
    }
  }
}

// The element that was taken last goes back first.
PutBack CommandUndo::push(std::string_view key, std::span<const Value> elements) const {
  std::vector<std::string_view> args = {from_left_ ? "LPUSH" : "RPUSH", key};
  for (auto it = elements.rbegin(); it != elements.rend(); ++it) args.emplace_back(it->text);
  return request_for(args, {std::string(key)});
}

PutBack CommandUndo::move_back(std::string_view element) const {
  const std::array<std::string_view, 8> args = {"EVAL",  kMoveBack,
                                                "2",     destination_,
                                                source_, to_left_ ? "1" : "-1",
                                                element, from_left_ ? "LPUSH" : "RPUSH"};
  return request_for(args, {destination_, source_});
}

PutBack CommandUndo::undeliver(std::string_view stream, std::span<const Value> entries) const {
  std::vector<std::string_view> ids;
  for (const Value& entry : entries) {  // [id, fields]
    if (!is_list(entry) || entry.items.size() != 2 || !entry.items[0].is_text()) return {};
    ids.emplace_back(entry.items[0].text);
  }
  if (ids.empty()) return {};
  const std::string before = id_before(ids.front());
  if (before.empty()) return {};
  std::vector<std::string_view> args = {"EVAL", kUndeliver, "1",       stream,
                                        group_, before,     ids.back()};
  args.insert(args.end(), ids.begin(), ids.end());
  return request_for(args, {std::string(stream)});
}

std::vector<PutBack> CommandUndo::requests(const Value& reply) const {
  std::vector<PutBack> requests;
  if (how_ == How::kMove) {
    if (reply.is_text()) requests.push_back(move_back(reply.text));
    return requests;
  }
  if (how_ == How::kEntries) {
    const bool pairs = reply.type == Value::Type::kMap;  // RESP3; in RESP2 each pair is an array
    const auto add = [&](const Value& stream, const Value& entries) {
      if (!stream.is_text() || !is_list(entries)) return;
      PutBack request = undeliver(stream.text, entries.items);
      if (!request.wire.empty()) requests.push_back(std::move(request));
    };
    for (std::size_t i = 0; i < reply.items.size(); i += pairs ? 2 : 1) {
      const Value& item = reply.items[i];
      if (pairs) {
        add(item, reply.items[i + 1]);
      } else if (is_list(item) && item.items.size() == 2) {
        add(item.items[0], item.items[1]);
      }
    }
    return requests;
  }
  if (how_ == How::kNothing || !is_list(reply) || reply.items.size() < 2 ||
      !reply.items[0].is_text())
    return requests;
  if (how_ == How::kMembers || how_ == How::kMembersMany)
    return add_members(reply, how_ == How::kMembersMany);
  const bool many = how_ == How::kPopMany;
  const std::span<const Value> elements =
      many ? std::span(reply.items[1].items) : std::span(reply.items).subspan(1, 1);
  if (!elements.empty() && are_texts(elements))
    requests.push_back(push(reply.items[0].text, elements));
  return requests;
}

}  // namespace heatsink::proxy

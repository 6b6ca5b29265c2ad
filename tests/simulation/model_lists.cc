// SPDX-License-Identifier: Apache-2.0
// Commands of the model server on lists: enough to have keys that are no strings.
#include <array>

#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

// False, and the error is given, if it is no list. Null: there is no such key.
bool find_list(const ModelCall& call, std::deque<std::string>*& list) {
  ModelEntry* entry = call.server.keys.find(call.db(), call.args[1]);
  list = entry == nullptr ? nullptr : entry->list();
  if (entry == nullptr || list != nullptr) return true;
  call.error(kModelWrongType);
  return false;
}

void push(const ModelCall& call, bool at_the_end) {
  std::deque<std::string>* list = nullptr;
  if (!find_list(call, list)) return;
  if (list == nullptr) {
    list = call.server.keys.put(call.db(), call.args[1], {std::deque<std::string>(), std::nullopt})
               .list();
  }
  for (const std::string_view value : call.args.subspan(2))
    at_the_end ? list->emplace_back(value) : list->emplace_front(value);
  call.integer(static_cast<std::int64_t>(list->size()));
  call.server.keys.changed(call.db(), call.args[1]);
}

void do_rpush(const ModelCall& call) { push(call, true); }
void do_lpush(const ModelCall& call) { push(call, false); }

void pop(const ModelCall& call, bool at_the_end) {
  if (call.args.size() > 2) return call.error("ERR the model pops one element at a time");
  std::deque<std::string>* list = nullptr;
  if (!find_list(call, list)) return;
  if (list == nullptr) return call.null();
  call.bulk(at_the_end ? list->back() : list->front());
  at_the_end ? list->pop_back() : list->pop_front();
  if (list->empty()) call.server.keys.drop(call.db(), call.args[1]);
  call.server.keys.changed(call.db(), call.args[1]);
}

void do_rpop(const ModelCall& call) { pop(call, true); }
void do_lpop(const ModelCall& call) { pop(call, false); }

void do_llen(const ModelCall& call) {
  std::deque<std::string>* list = nullptr;
  if (find_list(call, list))
    call.integer(list == nullptr ? 0 : static_cast<std::int64_t>(list->size()));
}

void do_lrange(const ModelCall& call) {
  const std::optional<std::int64_t> first = resp::parse_decimal(call.args[2]);
  const std::optional<std::int64_t> last = resp::parse_decimal(call.args[3]);
  if (!first || !last) return call.error(kModelNoInteger);
  std::deque<std::string>* list = nullptr;
  if (!find_list(call, list)) return;
  const ModelRange range =
      list == nullptr ? ModelRange() : model_range(*first, *last, list->size());
  resp::append_array_header(call.out, static_cast<std::int64_t>(range.count));
  for (std::size_t i = 0; i < range.count; ++i) call.bulk((*list)[range.first + i]);
}

constexpr std::array kListCommands = {
    ModelCommand{"rpush", do_rpush}, ModelCommand{"lpush", do_lpush},
    ModelCommand{"rpop", do_rpop},   ModelCommand{"lpop", do_lpop},
    ModelCommand{"llen", do_llen},   ModelCommand{"lrange", do_lrange}};

}  // namespace

std::span<const ModelCommand> model_list_commands() { return kListCommands; }

}  // namespace heatsink::simulation

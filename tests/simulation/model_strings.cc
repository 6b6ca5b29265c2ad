// SPDX-License-Identifier: Apache-2.0
// Commands of the model server on strings, but for those that count.
#include <algorithm>
#include <array>
#include <limits>

#include "tests/simulation/model_set_options.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

// False, and the error is given, if it is no string. Null text: there is no such key.
bool find_text(const ModelCall& call, std::string_view key, std::string*& text) {
  ModelEntry* entry = call.server.keys.find(call.db(), key);
  text = entry == nullptr ? nullptr : entry->text();
  if (entry == nullptr || text != nullptr) return true;
  call.error(kModelWrongType);
  return false;
}

void give_text(const ModelCall& call, const std::string* text) {
  text == nullptr ? call.null() : call.bulk(*text);
}

void put_text(const ModelCall& call, std::string_view key, std::string_view value,
              std::optional<TimePoint> ends = std::nullopt) {
  call.server.keys.put(call.db(), key, {std::string(value), ends});
  call.server.keys.changed(call.db(), key);
}

void do_get(const ModelCall& call) {
  std::string* text = nullptr;
  if (find_text(call, call.args[1], text)) give_text(call, text);
}

void do_mget(const ModelCall& call) {
  resp::append_array_header(call.out, static_cast<std::int64_t>(call.args.size()) - 1);
  for (const std::string_view key : call.args.subspan(1)) {
    ModelEntry* entry = call.server.keys.find(call.db(), key);
    give_text(call, entry == nullptr ? nullptr : entry->text());
  }
}

void do_strlen(const ModelCall& call) {
  std::string* text = nullptr;
  if (find_text(call, call.args[1], text))
    call.integer(text == nullptr ? 0 : static_cast<std::int64_t>(text->size()));
}

void do_getrange(const ModelCall& call) {
  const std::optional<std::int64_t> first = resp::parse_decimal(call.args[2]);
  const std::optional<std::int64_t> last = resp::parse_decimal(call.args[3]);
  if (!first || !last) return call.error(kModelNoInteger);
  std::string* text = nullptr;
  if (!find_text(call, call.args[1], text)) return;
  if (text == nullptr) return call.bulk("");
  // Both before the beginning, and in this order: nothing, although their cut range is not.
  if (*first < 0 && *last < 0 && *first > *last) return call.bulk("");
  const ModelRange range =
      model_range(*first, std::max<std::int64_t>(*last, -static_cast<std::int64_t>(text->size())),
                  text->size());
  call.bulk(std::string_view(*text).substr(range.first, range.count));
}

// As lcsCommand() of t_string.c goes about it: of several longest ones it must be the same.
std::string longest_common(std::string_view a, std::string_view b) {
  std::vector<std::uint32_t> lengths((a.size() + 1) * (b.size() + 1));
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return lengths[i * (b.size() + 1) + j];
  };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j)
      at(i, j) = a[i - 1] == b[j - 1] ? at(i - 1, j - 1) + 1 : std::max(at(i - 1, j), at(i, j - 1));
  }
  std::string out;
  for (std::size_t i = a.size(), j = b.size(); i > 0 && j > 0;) {
    if (a[i - 1] == b[j - 1]) {
      out += a[i - 1];
      --i, --j;
    } else {
      at(i - 1, j) > at(i, j - 1) ? --i : --j;
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

void do_lcs(const ModelCall& call) {
  ModelEntry* one = call.server.keys.find(call.db(), call.args[1]);
  ModelEntry* other = call.server.keys.find(call.db(), call.args[2]);
  if ((one != nullptr && one->text() == nullptr) || (other != nullptr && other->text() == nullptr))
    return call.error("ERR The specified keys must contain string values");
  const bool counts = call.args.size() == 4 && model_lower(call.args[3]) == "len";
  if (call.args.size() > 3 && !counts) return call.error(kModelSyntax);
  const std::string found =
      longest_common(one == nullptr ? "" : *one->text(), other == nullptr ? "" : *other->text());
  counts ? call.integer(static_cast<std::int64_t>(found.size())) : call.bulk(found);
}

// ---- writes

void set_with(const ModelCall& call, const ModelSetOptions& options, std::string_view key,
              std::string_view value) {
  ModelKeys& keys = call.server.keys;
  std::optional<TimePoint> ends;
  if (options.time && !options.read_time(call, ends)) return;
  std::string* before = nullptr;
  if (options.get) {
    if (!find_text(call, key, before)) return;
    give_text(call, before);
  }
  const ModelEntry* found = keys.find(call.db(), key);
  if ((options.only_new && found != nullptr) || (options.only_old && found == nullptr)) {
    if (!options.get) call.null();
    return;
  }
  if (options.keeps_ttl && found != nullptr) ends = found->ends;
  if (call.server.flavor.past_set_deletes && options.time && ends && *ends <= keys.now()) {
    keys.erase(call.db(), key);
  } else {
    put_text(call, key, value, ends);
  }
  if (!options.get) call.ok();
}

void do_set(const ModelCall& call) {
  ModelSetOptions options;
  if (!options.parse(call.args.subspan(3), ModelSetOptions::Of::kSet))
    return call.error(kModelSyntax);
  set_with(call, options, call.args[1], call.args[2]);
}

void do_setnx(const ModelCall& call) {
  if (call.server.keys.find(call.db(), call.args[1]) != nullptr) return call.integer(0);
  put_text(call, call.args[1], call.args[2]);
  call.integer(1);
}

void do_setex(const ModelCall& call) {
  ModelSetOptions options;
  options.time = call.args[2];
  options.in_seconds = model_lower(call.args[0]) == "setex";
  set_with(call, options, call.args[1], call.args[3]);
}

void do_getset(const ModelCall& call) {
  std::string* before = nullptr;
  if (!find_text(call, call.args[1], before)) return;
  give_text(call, before);
  put_text(call, call.args[1], call.args[2]);
}

void do_getdel(const ModelCall& call) {
  std::string* before = nullptr;
  if (!find_text(call, call.args[1], before)) return;
  give_text(call, before);
  call.server.keys.erase(call.db(), call.args[1]);
}

void do_getex(const ModelCall& call) {
  ModelKeys& keys = call.server.keys;
  ModelSetOptions options;
  if (!options.parse(call.args.subspan(2), ModelSetOptions::Of::kGetex))
    return call.error(kModelSyntax);
  std::optional<TimePoint> ends;
  const bool checks_first = call.server.flavor.getex_checks_time_first;
  if (checks_first && options.time && !options.read_time(call, ends)) return;
  ModelEntry* entry = keys.find(call.db(), call.args[1]);
  if (entry == nullptr) return call.null();
  if (entry->text() == nullptr) return call.error(kModelWrongType);
  if (!checks_first && options.time && !options.read_time(call, ends)) return;
  call.bulk(*entry->text());
  if (ends && *ends <= keys.now()) {
    keys.erase(call.db(), call.args[1]);
  } else if (ends || (options.persists && entry->ends)) {
    entry->ends = ends;
    keys.changed(call.db(), call.args[1]);
  }
}

bool has_pairs(const ModelCall& call) {
  if (call.args.size() % 2 == 1) return true;
  call.error("ERR wrong number of arguments for '" + model_lower(call.args[0]) + "' command");
  return false;
}

void put_pairs(const ModelCall& call) {
  for (std::size_t i = 1; i + 1 < call.args.size(); i += 2)
    put_text(call, call.args[i], call.args[i + 1]);
}

void do_mset(const ModelCall& call) {
  if (!has_pairs(call)) return;
  put_pairs(call);
  call.ok();
}

void do_msetnx(const ModelCall& call) {
  if (!has_pairs(call)) return;
  for (std::size_t i = 1; i < call.args.size(); i += 2) {
    if (call.server.keys.find(call.db(), call.args[i]) != nullptr) return call.integer(0);
  }
  put_pairs(call);
  call.integer(1);
}

void do_append(const ModelCall& call) {
  std::string* text = nullptr;
  if (!find_text(call, call.args[1], text)) return;
  if (text == nullptr) {
    put_text(call, call.args[1], call.args[2]);
    return call.integer(static_cast<std::int64_t>(call.args[2].size()));
  }
  text->append(call.args[2]);
  call.integer(static_cast<std::int64_t>(text->size()));
  call.server.keys.changed(call.db(), call.args[1]);
}

void do_setrange(const ModelCall& call) {
  constexpr std::int64_t kBytesMax = 512LL * 1024 * 1024;
  const std::optional<std::int64_t> offset = resp::parse_decimal(call.args[2]);
  if (!offset) return call.error(kModelNoInteger);
  if (*offset < 0) return call.error("ERR offset is out of range");
  std::string* text = nullptr;
  if (!find_text(call, call.args[1], text)) return;
  const std::string_view value = call.args[3];
  if (value.empty())
    return call.integer(text == nullptr ? 0 : static_cast<std::int64_t>(text->size()));
  if (*offset > kBytesMax - static_cast<std::int64_t>(value.size()))
    return call.error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  if (text == nullptr) text = call.server.keys.put(call.db(), call.args[1], {}).text();
  const auto begin = static_cast<std::size_t>(*offset);
  text->resize(std::max(text->size(), begin + value.size()));
  text->replace(begin, value.size(), value);
  call.integer(static_cast<std::int64_t>(text->size()));
  call.server.keys.changed(call.db(), call.args[1]);
}

constexpr std::array kStringCommands = {
    ModelCommand{"get", do_get},          ModelCommand{"mget", do_mget},
    ModelCommand{"strlen", do_strlen},    ModelCommand{"getrange", do_getrange},
    ModelCommand{"substr", do_getrange},  ModelCommand{"lcs", do_lcs},
    ModelCommand{"set", do_set},          ModelCommand{"setnx", do_setnx},
    ModelCommand{"setex", do_setex},      ModelCommand{"psetex", do_setex},
    ModelCommand{"getset", do_getset},    ModelCommand{"getdel", do_getdel},
    ModelCommand{"getex", do_getex},      ModelCommand{"mset", do_mset},
    ModelCommand{"msetnx", do_msetnx},    ModelCommand{"append", do_append},
    ModelCommand{"setrange", do_setrange}};

}  // namespace

std::span<const ModelCommand> model_string_commands() { return kStringCommands; }

// ---- options of SET and GETEX

bool ModelSetOptions::parse(ModelArgs words, Of command) {
  const bool of_set = command == Of::kSet;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = model_lower(words[i]);
    const bool is_time = word == "ex" || word == "px" || word == "exat" || word == "pxat";
    if (of_set && word == "nx" && !only_old) {
      only_new = true;
    } else if (of_set && word == "xx" && !only_new) {
      only_old = true;
    } else if (of_set && word == "get") {
      get = true;
    } else if (of_set && word == "keepttl" && !time) {
      keeps_ttl = true;
    } else if (!of_set && word == "persist" && !time) {
      persists = true;
    } else if (is_time && i + 1 < words.size() && !time && !keeps_ttl && !persists) {
      time = words[++i];
      in_seconds = word.starts_with('e');
      is_moment = word.ends_with("at");
    } else {
      return false;
    }
  }
  return true;
}

bool ModelSetOptions::read_time(const ModelCall& call, std::optional<TimePoint>& ends) const {
  const std::optional<std::int64_t> given = resp::parse_decimal(*time);
  if (!given) {
    call.error(kModelNoInteger);
    return false;
  }
  const std::optional<TimePoint> moment =
      *given <= 0
          ? std::nullopt
          : model_moment(*given, in_seconds, is_moment ? TimePoint() : call.server.keys.now());
  if (!moment) {
    call.error("ERR invalid expire time in '" + model_lower(call.args[0]) + "' command");
    return false;
  }
  ends = moment;
  return true;
}

}  // namespace heatsink::simulation

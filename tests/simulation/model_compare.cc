// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model_compare.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/value.h"

namespace heatsink::simulation {
namespace {

using resp::Value;
using Fields = std::map<std::string, std::string, std::less<>>;

// "name:value" or "name=value", by line or by word.
Fields fields_of(const std::string& text, char separator) {
  Fields out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t at = word.find(separator);
    if (at != std::string::npos) out[word.substr(0, at)] = word.substr(at + 1);
  }
  return out;
}

bool same_fields(const Fields& model, const Fields& real, std::string_view but) {
  return std::all_of(model.begin(), model.end(), [&](const auto& field) {
    const auto found = real.find(field.first);
    return field.first == but || (found != real.end() && found->second == field.second);
  });
}

// Lines of CLIENT LIST, of the clients that play.
std::map<std::int64_t, Fields> clients_of(const std::string& text) {
  std::map<std::int64_t, Fields> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Fields fields = fields_of(line, '=');
    out[std::strtoll(fields.at("id").c_str(), nullptr, 10)] = fields;
  }
  return out;
}

bool same_clients(const std::string& model, const std::string& real, const ModelTolerance& how) {
  const auto ours = clients_of(model), theirs = clients_of(real);
  for (const auto& [our_id, their_id] : how.ids) {
    const auto one = ours.find(our_id), other = theirs.find(their_id);
    if ((one == ours.end()) != (other == theirs.end())) return false;
    if (one != ours.end() && !same_fields(one->second, other->second, "id")) return false;
  }
  return true;
}

bool same_text(const std::string& model, const std::string& real, const ModelTolerance& how) {
  if (model == real) return true;
  if (model.starts_with("# "))
    return same_fields(fields_of(model, ':'), fields_of(real, ':'), "redis_version");
  return model.starts_with("id=") && real.starts_with("id=") && same_clients(model, real, how);
}

// Short TTLs have ended before anybody asks for them; TTLs are told in seconds or milliseconds.
bool same_integer(std::int64_t model, std::int64_t real, const ModelTolerance& how) {
  if (model == real) return true;
  const bool same_id = how.ids_are_told && std::find(how.ids.begin(), how.ids.end(),
                                                     std::pair(model, real)) != how.ids.end();
  const std::int64_t unit = model > 500'000 ? 1000 : 1;
  const bool same_ttl = how.ttls_are_told && model > how.ttl_seconds && real > 0 &&
                        std::llabs(model - real) < how.ttl_seconds / 2 * unit;
  // Of a moment far away: the model's clock shows another year.
  constexpr std::int64_t kFar = 5'000'000'000;
  const bool same_moment = how.ttls_are_told && std::min(model, real) > kFar;
  return same_id || same_ttl || same_moment;
}

bool same_value(const Value& model, const Value& real, const ModelTolerance& how);

bool same_hello(const Value& model, const Value& real) {
  constexpr std::string_view kKnown[] = {"server", "proto", "mode", "role"};
  return std::all_of(std::begin(kKnown), std::end(kKnown), [&](std::string_view name) {
    const Value* one = model.find(name);
    const Value* other = real.find(name);
    return one != nullptr && other != nullptr && same_value(*one, *other, {});
  });
}

// Names and values of a hash are compared apart: what belongs together is asked by other commands.
bool same_in_any_order(const std::vector<Value>& model, const std::vector<Value>& real,
                       const ModelTolerance& how) {
  std::vector<bool> used(real.size());
  return std::all_of(model.begin(), model.end(), [&](const Value& one) {
    for (std::size_t i = 0; i < real.size(); ++i) {
      if (used[i] || !same_value(one, real[i], how)) continue;
      used[i] = true;
      return true;
    }
    return false;
  });
}

bool same_value(const Value& model, const Value& real, const ModelTolerance& how) {
  if (model.type != real.type || model.items.size() != real.items.size()) return false;
  if (model.type == Value::Type::kInteger) return same_integer(model.integer, real.integer, how);
  if (!model.items.empty() && model.items.front().text == "server") return same_hello(model, real);
  if (!same_text(model.text, real.text, how)) return false;
  if (how.is_unordered && !model.items.empty())
    return same_in_any_order(model.items, real.items, how);
  return std::equal(
      model.items.begin(), model.items.end(), real.items.begin(),
      [&](const Value& one, const Value& other) { return same_value(one, other, how); });
}

}  // namespace

bool same_reply(std::string_view model, std::string_view real, const ModelTolerance& tolerance) {
  if (model == real) return true;
  if (model.empty() || real.empty() || model.front() != real.front()) return false;
  Value one, other;
  std::size_t consumed = 0;
  if (parse_value(model, one, consumed) != resp::ValueStatus::kValue) return false;
  if (parse_value(real, other, consumed) != resp::ValueStatus::kValue) return false;
  // Equal values of other bytes ("$-1" and "*-1") are no equal replies.
  const bool is_simple = one.items.empty() && one.type != Value::Type::kInteger && one.text.empty();
  return !is_simple && same_value(one, other, tolerance);
}

std::vector<std::string> split_replies(std::string_view bytes) {
  std::vector<std::string> out;
  resp::ReplyScanner scanner;
  std::size_t begin = 0, at = 0;
  while (at < bytes.size()) {
    const resp::ScanStep step = scanner.feed(bytes.substr(at));
    at += step.consumed;
    if (step.status == resp::ScanStatus::kError) break;
    if (step.status != resp::ScanStatus::kReply) break;
    out.emplace_back(bytes.substr(begin, at - begin));
    begin = at;
  }
  if (begin < bytes.size()) out.emplace_back(bytes.substr(begin));
  return out;
}

}  // namespace heatsink::simulation

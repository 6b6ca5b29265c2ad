// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/facts.h"

#include "heatsink/redis/redis.h"

namespace heatsink::doctor {

const resp::Value* ServerFacts::reply(std::string_view command) const {
  const auto found = replies.find(command);
  return found == replies.end() || found->second.is_error() ? nullptr : &found->second;
}

std::string_view ServerFacts::error(std::string_view command) const {
  const auto found = replies.find(command);
  return found != replies.end() && found->second.is_error() ? std::string_view(found->second.text)
                                                            : "";
}

std::optional<std::string> ServerFacts::config(std::string_view name) const {
  const resp::Value* const found = reply("CONFIG GET " + std::string(name));
  const resp::Value* const value = found == nullptr ? nullptr : found->find(name);
  if (value == nullptr || !value->is_text()) return std::nullopt;
  return value->text;
}

std::optional<double> ServerFacts::config_number(std::string_view name) const {
  const std::optional<std::string> text = config(name);
  return text ? redis::number_in(*text) : std::nullopt;
}

std::string_view ServerFacts::info(std::string_view field) const {
  const resp::Value* const text = reply("INFO");
  return text != nullptr && text->is_text() ? redis::info_field(text->text, field) : "";
}

std::optional<double> ServerFacts::info_number(std::string_view field) const {
  return redis::number_in(info(field));
}

bool ServerFacts::evicts_by_use() const {
  const std::string_view policy = info("maxmemory_policy");
  return policy.ends_with("lru") || policy.ends_with("lfu");
}

std::string_view ServerFacts::hello(std::string_view field) const {
  const resp::Value* const said = reply("HELLO");
  const resp::Value* const value = said == nullptr ? nullptr : said->find(field);
  return value != nullptr && value->is_text() ? std::string_view(value->text) : "";
}

}  // namespace heatsink::doctor

// SPDX-License-Identifier: Apache-2.0
// Answers questions of a test with the library's classes for keys on several nodes: one line each
// on the standard input and output.
//   get KEY | written KEY | add KEY NUMBER | sum KEY
#include <heatsink/spread.h>

#include <iostream>
#include <memory>
#include <sstream>
#include <string>

namespace {

template <class T>
std::string shown(const heatsink::Result<T>& result, const std::string& value) {
  return result.ok() ? value : "error " + result.error().message;
}

std::string answer(heatsink::SpreadKeys& keys, const std::shared_ptr<heatsink::Server>& server,
                   const std::string& line) {
  std::istringstream words(line);
  std::string what, key;
  std::int64_t number = 0;
  words >> what >> key >> number;
  if (what == "get") {
    const auto value = keys.get(key);
    if (!value.ok()) return shown(value, "");
    return value->has_value() ? "value " + **value : "none";
  }
  if (what == "written") return shown(keys.written(key), "ok");
  const auto counter = heatsink::SplitCounter::make(server, key, {.parts = 8}).value();
  if (what == "add") return shown(counter->add(number), "ok");
  const auto sum = counter->value();
  return sum.ok() ? std::to_string(*sum) : shown(sum, "");
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::shared_ptr<heatsink::Server> server =
      heatsink::Server::open({.url = words[1]}).value();
  const auto keys = heatsink::SpreadKeys::make(server, {.copies = 6}).value();
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(*keys, server, line) << std::endl;
  return 0;
}

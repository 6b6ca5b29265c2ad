// SPDX-License-Identifier: Apache-2.0
// Holds Lua code for the server in the two forms that servers accept: a library of functions, or
// one script per function.
#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::distributed {

class FunctionLibrary;

// One function, with the data for its calls.
struct ServerFunction {
  const FunctionLibrary* library;
  std::string name;    // for FCALL; differs for each version of the library
  std::string script;  // for EVAL
  std::string sha1;    // of the script, in hex: for EVALSHA
};

// Immutable; any thread may use it. Make it once and never destroy it: functions refer to it.
//
// The library's name on the server ends in a hash of its text. So each version of heatsink has a
// different library, several can exist side by side, and a library with the right name has the
// right text.
class FunctionLibrary {
 public:
  struct Source {
    std::string_view name;
    // The body of function(KEYS, ARGV). KEYS holds all keys that it accesses; they are in one slot.
    std::string_view body;
    bool writes = true;  // false: also runs on replicas, and when the server is out of memory
  };

  // `name` may contain only a-z and _. `prelude` is placed before the bodies: shared local
  // functions.
  FunctionLibrary(std::string_view name, std::string_view prelude,
                  std::initializer_list<Source> sources);
  FunctionLibrary(const FunctionLibrary&) = delete;

  const std::string& name() const { return name_; }
  const std::string& source() const { return source_; }  // for FUNCTION LOAD
  // REQUIRES a name from `sources`.
  const ServerFunction& function(std::string_view name) const;

 private:
  std::string name_;
  std::string source_;
  std::deque<ServerFunction> functions_;
};

// One call of a function on the server. Owns its data. `keys` holds all keys that the function
// accesses; they are in one slot.
struct FunctionCall {
  const ServerFunction* function = nullptr;
  std::vector<std::string> keys;
  std::vector<std::string> args;
};

}  // namespace heatsink::distributed

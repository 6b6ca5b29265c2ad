// SPDX-License-Identifier: Apache-2.0
// Lua that runs on the server, in the two forms that servers take it: a library of functions, or
// one script per function.
#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>

namespace heatsink::distributed {

class FunctionLibrary;

// One function as a server is asked for it.
struct ServerFunction {
  const FunctionLibrary* library;
  std::string name;    // for FCALL; of this version of the library alone
  std::string script;  // for EVAL
  std::string sha1;    // of the script, in hex: for EVALSHA
};

// Immutable, any thread. Made once and kept for ever: functions refer to it.
//
// The name that the server sees ends in a hash of the text. So another version of heatsink has
// another library, both are there side by side, and whoever finds one of its name need not look
// whether it is the right one.
class FunctionLibrary {
 public:
  struct Source {
    std::string_view name;
    // The body of function(KEYS, ARGV): it declares all keys it touches in KEYS, and they are of
    // one slot.
    std::string_view body;
    bool writes = true;  // false: runs on replicas, and when memory is short
  };

  // `name` in [a-z_]. `prelude` stands before all bodies: local functions that they share.
  FunctionLibrary(std::string_view name, std::string_view prelude,
                  std::initializer_list<Source> sources);
  FunctionLibrary(const FunctionLibrary&) = delete;

  const std::string& name() const { return name_; }
  const std::string& source() const { return source_; }  // for FUNCTION LOAD
  // REQUIRES a name of one of its sources.
  const ServerFunction& function(std::string_view name) const;

 private:
  std::string name_;
  std::string source_;
  std::deque<ServerFunction> functions_;
};

}  // namespace heatsink::distributed

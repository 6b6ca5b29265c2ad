// SPDX-License-Identifier: Apache-2.0
// Calls functions on one connection, and loads their library when the server lacks it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "heatsink/distributed/function_library.h"
#include "heatsink/redis/redis.h"

namespace heatsink::distributed {

// Has no socket; it uses a Pipeline. One thread, that of the pipeline.
//
// A call is sent as FCALL at once. Only if the server lacks the function (the server is new, was
// flushed, or another one has taken over), the caller sends the library, and the call again
// directly after it. The pipeline keeps the order, so it needs no answer in between. If the server
// has no functions, or the user may not use or load them, the caller uses EVALSHA, and EVAL where
// the server lacks the script. A call is repeated only if the server refused it before running it,
// so no call runs twice.
class FunctionCaller {
 public:
  using Done = redis::Pipeline::Done;

  // Tries of one call. More than one is needed if a client keeps flushing functions.
  static constexpr int kTriesMax = 4;

  // `pipeline` must outlive the caller, and must drop its callbacks before the caller is destroyed.
  explicit FunctionCaller(redis::Pipeline& pipeline) : pipeline_(pipeline) {}
  FunctionCaller(const FunctionCaller&) = delete;

  // `done` is called exactly once, by this call or by the pipeline later: with the reply, which may
  // be an error of the server, or with the reason why there is none. `is_asking`: the slot is
  // migrating to this server (-ASK).
  void call(std::shared_ptr<const FunctionCall> what, bool is_asking, Done done, TimePoint now);

  bool uses_scripts() const { return uses_scripts_; }
  std::uint64_t loads() const { return loads_; }  // of libraries and scripts, sent

 private:
  struct Try;

  void send(Try one);
  void on_reply(Try one, Result<resp::Value> reply);
  bool was_missing(Try& one, const resp::Value& reply);
  void load(const FunctionLibrary& library);

  redis::Pipeline& pipeline_;
  // Reset when the connection is lost, because another server may answer then.
  bool uses_scripts_ = false;
  std::uint64_t loads_ = 0;
  std::unordered_map<const FunctionLibrary*, std::uint64_t> loads_of_;
  std::string load_problem_;  // error of the last library; "": none
};

}  // namespace heatsink::distributed

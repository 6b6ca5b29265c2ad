// SPDX-License-Identifier: Apache-2.0
// Calls functions by one connection, and gives the server their text when it does not have it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "heatsink/distributed/function_call.h"
#include "heatsink/redis/redis.h"

namespace heatsink::distributed {

// No socket of its own: it speaks through a Pipeline. One thread, that of the pipeline.
//
// A call goes out as FCALL at once. Only if the server says that it has no such function (it is
// new there, was flushed, or another server has taken over) its library goes out, and right
// behind it the call once more: the pipeline's order is the server's, so nobody waits for an answer
// in between. A server without functions, or a user who may not use or load them, is asked by
// EVALSHA instead, and by EVAL where the server does not have the script. Whatever is asked twice
// was refused before it began, so nothing is done twice.
class FunctionCaller {
 public:
  using Done = redis::Pipeline::Done;

  // Of one call; more than the first where somebody flushes functions all the time.
  static constexpr int kTriesMax = 4;

  // `pipeline` must outlive it, and forget its callbacks before this dies.
  explicit FunctionCaller(redis::Pipeline& pipeline) : pipeline_(pipeline) {}
  FunctionCaller(const FunctionCaller&) = delete;

  // `done` is called exactly once, by this call or a later one of the pipeline's: the reply, which
  // may be an error of the server's; or why there is none. `is_asking`: the slot is on its way to
  // this server (-ASK).
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
  // Until the connection is lost: who answers then may be another server.
  bool uses_scripts_ = false;
  std::uint64_t loads_ = 0;
  std::unordered_map<const FunctionLibrary*, std::uint64_t> loads_of_;
  std::string load_problem_;  // of the last library sent; "": none
};

}  // namespace heatsink::distributed

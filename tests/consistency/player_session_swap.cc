// SPDX-License-Identifier: Apache-2.0
// What a client of a recorded run does to all keys of a database at once.
#include <string>

#include "tests/consistency/player_session.h"

namespace heatsink::consistency {
namespace {

// One names the command, and of the other only its caller knows what it runs.
constexpr std::string_view kSwapScript = "return redis.call('swapdb', ARGV[1], ARGV[2])";
constexpr std::string_view kAnyScript = "return redis.call(ARGV[1], ARGV[2], ARGV[3])";

}  // namespace

// All keys of the database are gone then. The read must see it.
void PlayerSession::send_swap() {
  const Op op = make(Kind::kErase, random_key());
  const std::string own = std::to_string(spec_.db);
  const std::string empty = std::to_string(++recorder_.last_database);
  const auto way = random_() % 5;
  if (way == 0) {
    send(Verb::kSwap, op, {"SWAPDB", own, empty});
  } else if (way == 1) {
    send(Verb::kSwap, op, {"EVAL", kSwapScript, "0", own, empty});
  } else if (way == 2) {
    send(Verb::kSwap, op, {"EVAL", kAnyScript, "0", "SWAPDB", empty, own});
  } else if (way == 3) {
    send(Verb::kSwap, op, {"FCALL", "run", "0", "SWAPDB", own, empty});
  } else {
    send(Verb::kMulti, op, {"MULTI"});
    send(Verb::kQueued, op, {"EVAL", kSwapScript, "0", own, empty});
    send(Verb::kSwap, op, {"EXEC"});
  }
  Op read = make(Kind::kRead, op.key);
  read.cached = spec_.via != 0;
  send(Verb::kGet, read, {"GET", recorder_.name(read.key)});
  write_out();
}

void PlayerSession::note_flush(Verb verb, Op op) {
  for (const std::uint32_t key : recorder_.keys) {
    if (verb == Verb::kSwap && !Recorder::is_in(spec_.db, key)) continue;
    op.key = key;
    recorder_.add(op);
  }
}

}  // namespace heatsink::consistency

// SPDX-License-Identifier: Apache-2.0
// Claim: naming a command costs at most 10 ns, and finding its keys a few more, without an
// allocation.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/command_table.h"

namespace heatsink::resp {
namespace {

using Call = std::vector<std::string_view>;

const Call kCalls[] = {
    {"GET", "user:1000"},
    {"set", "user:1000", "value"},
    {"ZREVRANGEBYSCORE", "board", "+inf", "-inf"},
    {"CLIENT", "SETNAME", "x"},
    {"MGET", "a", "b", "c", "d", "e", "f", "g", "h"},
    {"EVALSHA", "sha", "2", "a", "b"},
    {"SORT", "list", "BY", "w_*", "STORE", "copy"},
    {"NOSUCH", "x"},
};

// The call is hidden from the optimiser, or it would find GET at compile time.
Call& call_of(benchmark::State& state) {
  static Call call;
  call = kCalls[state.range(0)];
  state.SetLabel(std::string(call[0]));
  benchmark::DoNotOptimize(call.data());
  return call;
}

void find_command(benchmark::State& state) {
  const CommandTable& table = CommandTable::built_in();
  const Call& call = call_of(state);
  for ([[maybe_unused]] const auto iteration : state) {
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(table.find(call));
  }
}
BENCHMARK(find_command)->DenseRange(0, 7);

void find_command_and_keys(benchmark::State& state) {
  const CommandTable& table = CommandTable::built_in();
  const Call& call = call_of(state);
  std::vector<KeyRef> refs;
  for ([[maybe_unused]] const auto iteration : state) {
    benchmark::ClobberMemory();
    const Command* command = table.find(call);
    benchmark::DoNotOptimize(find_keys(*command, call, refs));
  }
}
BENCHMARK(find_command_and_keys)->DenseRange(0, 6);

}  // namespace
}  // namespace heatsink::resp

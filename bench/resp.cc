// SPDX-License-Identifier: Apache-2.0
// What the room resp costs per request and per reply. `items_per_second` counts requests or
// replies.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/request_parser.h"
#include "heatsink/resp/writer.h"

namespace heatsink::resp {
namespace {

constexpr int kPipeline = 16;

std::string repeated(std::string_view bytes) {
  std::string all;
  for (int i = 0; i < kPipeline; ++i) all += bytes;
  return all;
}

void parse_all(benchmark::State& state, const std::string& bytes) {
  RequestParser parser;
  for ([[maybe_unused]] const auto iteration : state) {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      benchmark::DoNotOptimize(parser.parse(rest));
      benchmark::DoNotOptimize(parser.args().data());
      rest.remove_prefix(parser.size());
    }
  }
  state.SetItemsProcessed(state.iterations() * kPipeline);
}

void request_get(benchmark::State& state) {
  parse_all(state, repeated("*2\r\n$3\r\nGET\r\n$16\r\nuser:00000012345\r\n"));
}
BENCHMARK(request_get);

void request_set_1_kib(benchmark::State& state) {
  parse_all(state, repeated("*3\r\n$3\r\nSET\r\n$16\r\nuser:00000012345\r\n$1024\r\n" +
                            std::string(1024, 'v') + "\r\n"));
}
BENCHMARK(request_set_1_kib);

void request_inline_get(benchmark::State& state) {
  parse_all(state, repeated("GET user:00000012345\r\n"));
}
BENCHMARK(request_inline_get);

void scan_all(benchmark::State& state, std::string_view reply) {
  const std::string bytes = repeated(reply);
  ReplyScanner scanner;
  for ([[maybe_unused]] const auto iteration : state) {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const ScanStep step = scanner.feed(rest);
      benchmark::DoNotOptimize(step.status);
      rest.remove_prefix(step.consumed);
    }
  }
  state.SetItemsProcessed(state.iterations() * kPipeline);
}

void reply_bulk(benchmark::State& state) { scan_all(state, "$5\r\nhello\r\n"); }
BENCHMARK(reply_bulk);
void reply_bulk_1_kib(benchmark::State& state) {
  scan_all(state, "$1024\r\n" + std::string(1024, 'v') + "\r\n");
}
BENCHMARK(reply_bulk_1_kib);
void reply_ok(benchmark::State& state) { scan_all(state, "+OK\r\n"); }
BENCHMARK(reply_ok);
void reply_integer(benchmark::State& state) { scan_all(state, ":1\r\n"); }
BENCHMARK(reply_integer);
void reply_array_of_4(benchmark::State& state) {
  scan_all(state, "*4\r\n$2\r\nab\r\n$2\r\nab\r\n$2\r\nab\r\n$2\r\nab\r\n");
}
BENCHMARK(reply_array_of_4);

void write_bulk(benchmark::State& state) {
  const std::string value(static_cast<std::size_t>(state.range(0)), 'v');
  ByteBuffer out;
  for ([[maybe_unused]] const auto iteration : state) {
    for (int i = 0; i < kPipeline; ++i) append_bulk(out, value);
    benchmark::DoNotOptimize(out.data());
    out.clear();
  }
  state.SetItemsProcessed(state.iterations() * kPipeline);
}
BENCHMARK(write_bulk)->Arg(64)->Arg(1024);

void write_get(benchmark::State& state) {
  ByteBuffer out;
  for ([[maybe_unused]] const auto iteration : state) {
    for (int i = 0; i < kPipeline; ++i) append_request(out, {"GET", "user:00000012345"});
    benchmark::DoNotOptimize(out.data());
    out.clear();
  }
  state.SetItemsProcessed(state.iterations() * kPipeline);
}
BENCHMARK(write_get);

}  // namespace
}  // namespace heatsink::resp

BENCHMARK_MAIN();

// SPDX-License-Identifier: Apache-2.0
// bench_detect: how right, how fast to tell and how cheap detection is; every figure in one run.
#include <fmt/format.h>

#include <string_view>

#include "bench/detect_accuracy.h"
#include "bench/detect_cost.h"
#include "bench/detect_latency.h"
#include "bench/detect_wire.h"
#include "bench/figures.h"

namespace {

struct Request {
  bool json = false;
  bool quick = false;
  std::string_view only;
  bool wants(std::string_view part) const { return only.empty() || only == part; }
};

int misused(std::string_view word) {
  fmt::print(stderr,
             "bench_detect: what is '{}'?\n"
             "usage: bench_detect [--quick] [--json] [--only accuracy|latency|cost|wire]\n"
             "  --json  all figures as one JSON object\n",
             word);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      request.json = true;
    } else if (word == "--quick") {
      request.quick = true;
    } else if (word == "--only" && i + 1 < argc) {
      request.only = argv[++i];
      if (request.only != "accuracy" && request.only != "latency" && request.only != "cost" &&
          request.only != "wire") {
        return misused(request.only);
      }
    } else {
      return misused(word);
    }
  }
  heatsink::bench::Figures figures(request.json);
  if (request.wants("accuracy")) measure_accuracy(figures, request.quick);
  if (request.wants("latency")) measure_latency(figures, request.quick);
  if (request.wants("wire")) measure_wire(figures);
  if (request.wants("cost")) {
    heatsink::bench::CostOptions options;
    if (request.quick) options.rounds = 5;
    measure_cost(figures, options);
  }
  return figures.finish();
}

// SPDX-License-Identifier: Apache-2.0
// Workloads of the policy bench: traces and generated shapes, with or without writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heatsink::bench {

// Requests in order, without times. Keys are numbers 0 .. keys - 1.
struct Workload {
  std::string name;
  std::vector<std::uint32_t> requests;
  std::size_t keys = 0;
};

struct Shape {
  std::string name;
  std::function<std::vector<std::uint32_t>(std::size_t requests)> make;  // any numbers
};
const std::vector<Shape>& shapes();

// A trace with an order, or (*.rankfreq.csv) a popularity curve, from which requests are drawn.
struct TraceFile {
  std::string name;
  std::string file;
};
const std::vector<TraceFile>& trace_files();

Workload make_workload(const Shape& shape, std::size_t requests);

// The requests of a trace, in order; at most `requests_max`. Whether they were reads or writes does
// not matter: draw_writes() says what they are here. Nothing: `why` says what is wrong.
std::optional<Workload> read_workload(const TraceFile& trace, const std::string& directory,
                                      std::size_t requests_max, std::string& why);

// Which requests are writes: each with this probability, the same ones in each run.
std::vector<bool> draw_writes(std::size_t requests, double probability);

}  // namespace heatsink::bench

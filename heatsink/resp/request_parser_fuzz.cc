// SPDX-License-Identifier: Apache-2.0
// Parses any bytes in any pieces: the parser must stay within them, and the pieces must not matter.
// The first four bytes of the input are two piece sizes and two limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heatsink/resp/testing/request_trace.h"
#include "heatsink/resp/writer.h"

namespace {

using heatsink::resp::RequestLimits;
using heatsink::resp::testing::pieces_of;
using heatsink::resp::testing::RequestTrace;
using heatsink::resp::testing::trace_requests;
using heatsink::resp::testing::TracedRequest;

void require(bool holds) {
  if (!holds) std::abort();
}

// A request written again from its arguments must parse to the same arguments.
void check_round_trip(const TracedRequest& request) {
  heatsink::ByteBuffer out;
  heatsink::resp::append_request(
      out, std::vector<std::string_view>(request.args.begin(), request.args.end()));
  const RequestTrace again = trace_requests(out.view());
  require(again.requests.size() == 1 && again.requests[0].args == request.args &&
          again.error.empty());
}

// Parsed or streamed, the requests must be the same bytes.
void check_streaming(const RequestTrace& whole, const RequestTrace& tight) {
  require(whole.error == tight.error);
  for (std::size_t i = 0; i < whole.requests.size(); ++i) {
    const TracedRequest& a = whole.requests[i];
    const TracedRequest& b = tight.requests.at(i);
    require(a.raw == b.raw && b.args.size() <= a.args.size());
    require(std::equal(b.args.begin(), b.args.end(), a.args.begin()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);
  const RequestLimits tight{.line_bytes_max = 64,
                            .buffered_bytes_max = std::size_t{data[2]} + 1,
                            .buffered_args_max = std::size_t{data[3]} % 8 + 1};
  const RequestLimits loose{.line_bytes_max = 64};
  const auto pieces = pieces_of({data[0] % 32u, data[1] % 32u});
  const RequestTrace whole = trace_requests(bytes, loose);
  const RequestTrace whole_tight = trace_requests(bytes, tight);
  require(trace_requests(bytes, pieces, loose) == whole);
  require(trace_requests(bytes, pieces, tight) == whole_tight);
  check_streaming(whole, whole_tight);
  for (const TracedRequest& request : whole.requests) check_round_trip(request);
  return 0;
}

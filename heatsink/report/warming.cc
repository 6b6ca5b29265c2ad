// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/warming.h"

namespace heatsink::report {

const char* to_string(WarmOutcome outcome) {
  switch (outcome) {
    case WarmOutcome::kLoading:
      return "loading";
    case WarmOutcome::kLoaded:
      return "loaded";
    case WarmOutcome::kMissing:
      return "missing";
    case WarmOutcome::kTooBig:
      return "too-big";
    case WarmOutcome::kNoString:
      return "no-string";
    case WarmOutcome::kRefused:
      return "refused";
    case WarmOutcome::kEnded:
      return "ended";
    case WarmOutcome::kNotWarmed:
      return "not-warmed";
  }
  return "";
}

const char* to_string(WarmSearch::State state) {
  switch (state) {
    case WarmSearch::State::kWaiting:
      return "waiting";
    case WarmSearch::State::kSearching:
      return "searching";
    case WarmSearch::State::kFinished:
      return "finished";
    case WarmSearch::State::kFailed:
      return "failed";
    case WarmSearch::State::kEnded:
      return "ended";
  }
  return "";
}

std::string pattern_fault(std::string_view glob) {
  if (glob.empty()) return "the pattern is empty: write a pattern as in product:*";
  if (glob.size() > WarmPattern::kGlobBytesMax) {
    return "the pattern is longer than " + std::to_string(WarmPattern::kGlobBytesMax) + " bytes";
  }
  bool in_class = false;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\') {
      if (++i == glob.size())
        return "the pattern ends with a backslash: write two backslashes for a literal one";
    } else if (in_class ? glob[i] == ']' : glob[i] == '[') {
      in_class = !in_class;
    }
  }
  return in_class ? "the pattern has an open '[': close it with ']', or write \\[ for a literal one"
                  : "";
}

}  // namespace heatsink::report

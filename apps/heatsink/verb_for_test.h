// SPDX-License-Identifier: Apache-2.0
// For tests: runs a verb as the command line does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/heatsink/verbs.h"

namespace heatsink::app {

struct Outcome {
  int code;
  std::string out, err;
};

// `words`: the arguments after the verb's name. REQUIRES a verb of that name.
inline Outcome run_verb(const std::string& name, std::vector<std::string> words) {
  const auto verb = std::ranges::find(verbs(), name, &Verb::name);
  words.insert(words.begin(), "heatsink " + name);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = verb->run(static_cast<int>(words.size()), argv.data());
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

}  // namespace heatsink::app

// SPDX-License-Identifier: Apache-2.0
// One moving line on standard error, if a person is looking at it.
#pragma once

#include <string>

namespace heatsink::app {

// Draws nothing when standard error is no terminal. One thread. The line is wiped by the
// destructor.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;

  void show(const std::string& text);
  void show(const std::string& step, double done);  // 0 .. 1, as a bar

  bool visible() const { return visible_; }

 private:
  bool visible_;
};

}  // namespace heatsink::app

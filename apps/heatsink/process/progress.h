// SPDX-License-Identifier: Apache-2.0
// Draws a progress bar on standard error, if that is a terminal.
#pragma once

#include <string>

namespace heatsink::app {

// Draws nothing if standard error is not a terminal. One thread. The destructor clears the line.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;

  void show(const std::string& text);
  void show(const std::string& step, double done);  // `done`: 0 .. 1

  bool visible() const { return visible_; }

 private:
  bool visible_;
};

}  // namespace heatsink::app

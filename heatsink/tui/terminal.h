// SPDX-License-Identifier: Apache-2.0
// Shows screens on a terminal with ncurses, reads its keys, and restores it at the end.
#pragma once

#include <memory>

#include "heatsink/base/result.h"
#include "heatsink/tui/screen.h"

namespace heatsink::tui {

// Other keys are the typed code point, or the ASCII code (13 for Enter, 27 for Escape, 127 for
// Backspace).
enum KeyCode : int {
  kNoKey = -1,
  kEnter = 13,
  kEscape = 27,
  kBackspace = 127,
  kLeft = 0x110000,  // beyond Unicode
  kRight,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kOtherKey,
};

enum class Colors { kIfWanted, kNone };

// At most one per process (ncurses has one terminal); one thread. The destructor restores the
// terminal; so does a handler when the process dies of SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT
// (also std::terminate). SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGWINCH belong to the caller:
// install handlers for them before open(), and destroy the terminal after they end the loop.
class Terminal {
 public:
  // Takes over standard output and input. kUnsupported if they are not a terminal, or if ncurses
  // does not know it or cannot move its cursor (TERM=dumb); then nothing has changed. Uses colours
  // if the caller wants them, the terminal has them and NO_COLOR (no-color.org) is not set.
  static Result<std::unique_ptr<Terminal>> open(Colors colors = Colors::kIfWanted);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // The current size; asks the kernel, so it is correct after a SIGWINCH.
  Size size() const;

  // Sends the differences to the last screen.
  void show(const Screen& screen);

  // The next typed key; kNoKey if there is none. Never blocks: wait until input_fd() is readable.
  int read_key();
  int input_fd() const;

 private:
  struct State;
  explicit Terminal(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace heatsink::tui

// SPDX-License-Identifier: Apache-2.0
// Shows screens on a terminal by ncurses and reads keys from it; gives the terminal back as it was.
#pragma once

#include <memory>

#include "heatsink/base/result.h"
#include "heatsink/tui/screen.h"

namespace heatsink::tui {

// Keys other than these are the code point that was typed, or the ASCII code (13 of Enter, 27 of
// Escape, 127 of Backspace).
enum KeyCode : int {
  kNoKey = -1,
  kEnter = 13,
  kEscape = 27,
  kBackspace = 127,
  kLeft = 0x110000,  // past Unicode
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

// At most one at a time in a process (ncurses has one terminal); one thread. The terminal is
// restored by the destructor, and by a handler when the process dies of SIGSEGV, SIGBUS, SIGILL,
// SIGFPE or SIGABRT (also std::terminate). SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGWINCH are the
// caller's: it must have handlers for them before open(), ends its loop and destroys this.
class Terminal {
 public:
  // Takes standard output and input over. kUnsupported when they are not a terminal, or it is one
  // that ncurses does not know or whose cursor cannot be moved (TERM=dumb); then nothing was
  // changed. Colours are used if they are wanted, the terminal has them and NO_COLOR (no-color.org)
  // is not set.
  static Result<std::unique_ptr<Terminal>> open(Colors colors = Colors::kIfWanted);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // The size now; asks the kernel, so it is right after a SIGWINCH.
  Size size() const;

  // Sends what differs from the screen before.
  void show(const Screen& screen);

  // The next key typed, kNoKey if there is none now. Never blocks: wait for input_fd() to be
  // readable.
  int read_key();
  int input_fd() const;

 private:
  struct State;
  explicit Terminal(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace heatsink::tui

// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/terminal.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
// <term.h> defines a macro `columns`; text.cc has variables of this name.
#undef columns

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "heatsink/tui/crash_restore.h"
#include "heatsink/tui/text.h"

namespace heatsink::tui {
namespace {

constexpr std::array<short, 7> kCursesColors{-1,         COLOR_RED,     COLOR_GREEN, COLOR_YELLOW,
                                             COLOR_BLUE, COLOR_MAGENTA, COLOR_CYAN};

// Without a locale in the environment (a container, a service) the terminal is nearly always UTF-8;
// a locale with another encoding is respected. Returns whether UTF-8 may be sent.
bool choose_encoding() {
  setlocale(LC_CTYPE, "");
  const std::string_view codeset = nl_langinfo(CODESET);
  if (codeset == "UTF-8") return true;
  if (codeset != "ANSI_X3.4-1968") return false;
  return setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
}

// For terminals with another encoding: drawing characters as ASCII, all others as '?'.
std::string ascii_glyph(std::string_view glyph) {
  constexpr std::array<std::pair<std::string_view, char>, 14> kStandIns{{{"▁", '_'},
                                                                         {"▂", '.'},
                                                                         {"▃", ','},
                                                                         {"▄", '-'},
                                                                         {"▅", '='},
                                                                         {"▆", '+'},
                                                                         {"▇", '*'},
                                                                         {"█", '#'},
                                                                         {"…", '~'},
                                                                         {"─", '-'},
                                                                         {"±", '+'},
                                                                         {"▼", 'v'},
                                                                         {"▲", '^'},
                                                                         {"·", '.'}}};
  if (glyph.size() == 1) return std::string(glyph);
  const auto* found =
      std::ranges::find(kStandIns, glyph, &std::pair<std::string_view, char>::first);
  return {found == kStandIns.end() ? '?' : found->second};
}

std::wstring wide(std::string_view glyph) {
  std::wstring out;
  while (!glyph.empty() && out.size() + 1 < CCHARW_MAX) {
    const CodePoint c = decode_utf8(glyph);
    out.push_back(static_cast<wchar_t>(c.value));
    glyph.remove_prefix(c.bytes);
  }
  return out;
}

attr_t attributes(Style style) {
  attr_t out = A_NORMAL;
  if (style.bold) out |= A_BOLD;
  if (style.dim) out |= A_DIM;
  if (style.reverse) out |= A_REVERSE;
  return out;
}

bool colors_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && has_colors();
}

// setupterm()'s knowledge of the terminal, while this object exists; newterm() has its own.
struct Knowledge {
  TERMINAL* terminal = cur_term;
  ~Knowledge() { del_curterm(terminal); }
};

// "": the terminal lacks it.
std::string capability(const char* name) {
  char writable[8] = {};
  std::strncpy(writable, name, sizeof writable - 1);
  const char* text = tigetstr(writable);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): terminfo's value for "no such capability"
  const bool there = text != nullptr && text != reinterpret_cast<const char*>(-1);
  return there ? text : "";
}

// Plain attributes, visible cursor, normal keypad, normal screen.
std::string farewell_sequence() {
  std::string out;
  for (const char* name : {"sgr0", "cnorm", "rmkx", "rmcup"}) out += capability(name);
  return out;
}

int function_key(wint_t key) {
  switch (key) {
    case KEY_LEFT:
      return kLeft;
    case KEY_RIGHT:
      return kRight;
    case KEY_UP:
      return kUp;
    case KEY_DOWN:
      return kDown;
    case KEY_PPAGE:
      return kPageUp;
    case KEY_NPAGE:
      return kPageDown;
    case KEY_HOME:
      return kHome;
    case KEY_END:
      return kEnd;
    case KEY_ENTER:
      return kEnter;
    case KEY_BACKSPACE:
      return kBackspace;
    default:
      return kOtherKey;
  }
}

// Terminals send different codes for Enter and Backspace.
int typed(wint_t key) {
  if (key == '\n') return kEnter;
  if (key == '\b') return kBackspace;
  return key < 0x110000 ? static_cast<int>(key) : kOtherKey;
}

}  // namespace

struct Terminal::State {
  SCREEN* screen = nullptr;
  bool utf8 = false;
  bool colors = false;
  std::unique_ptr<CrashRestore> crash_restore;
};

Result<std::unique_ptr<Terminal>> Terminal::open(Colors colors) {
  if (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0) {
    return Error{ErrorCode::kUnsupported, "standard input and output are not a terminal"};
  }
  int problem = 0;
  if (setupterm(nullptr, STDOUT_FILENO, &problem) != OK) {
    return Error{ErrorCode::kUnsupported, "unknown type of terminal: set TERM, as in TERM=xterm"};
  }
  const Knowledge knowledge;
  if (capability("cup").empty()) {
    return Error{ErrorCode::kUnsupported,
                 "this terminal cannot move its cursor: set TERM, as in TERM=xterm"};
  }
  auto state = std::make_unique<State>();
  state->utf8 = choose_encoding();
  state->crash_restore = std::make_unique<CrashRestore>(STDOUT_FILENO, farewell_sequence());
  state->screen = newterm(nullptr, stdout, stdin);
  if (state->screen == nullptr) {
    return Error{ErrorCode::kUnsupported,
                 "ncurses cannot use this terminal: set TERM, as in TERM=xterm"};
  }
  state->colors = colors != Colors::kNone && colors_wanted() && start_color() == OK &&
                  use_default_colors() == OK;
  for (std::size_t i = 1; state->colors && i < kCursesColors.size(); ++i) {
    init_pair(static_cast<short>(i), kCursesColors[i], -1);
  }
  cbreak();
  noecho();
  nonl();
  curs_set(0);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(25);
  return std::unique_ptr<Terminal>(new Terminal(std::move(state)));
}

Terminal::Terminal(std::unique_ptr<State> state) : state_(std::move(state)) {}

Terminal::~Terminal() {
  endwin();
  delscreen(state_->screen);
}

Size Terminal::size() const {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) {
    return Size{};
  }
  return {window.ws_col, window.ws_row};
}

void Terminal::show(const Screen& screen) {
  const Size now = size();
  if (is_term_resized(now.height, now.width)) {
    resize_term(now.height, now.width);
    clearok(curscr, TRUE);  // the terminal has moved its lines, so redraw everything
  }
  erase();
  for (int row = 0; row < std::min(now.height, screen.size().height); ++row) {
    for (int column = 0; column < std::min(now.width, screen.size().width); ++column) {
      const Cell& cell = screen.at(column, row);
      if (cell.glyph.empty()) continue;  // the right half of a wide glyph
      const std::wstring text = wide(state_->utf8 ? cell.glyph : ascii_glyph(cell.glyph));
      const short pair = state_->colors ? static_cast<short>(cell.style.color) : short{0};
      cchar_t out;
      setcchar(&out, text.c_str(), attributes(cell.style), pair, nullptr);
      mvadd_wch(row, column, &out);
    }
  }
  refresh();
}

int Terminal::read_key() {
  wint_t key = 0;
  switch (get_wch(&key)) {
    case ERR:
      return kNoKey;
    case KEY_CODE_YES:
      return function_key(key);
    default:
      return typed(key);
  }
}

int Terminal::input_fd() const { return STDIN_FILENO; }

}  // namespace heatsink::tui

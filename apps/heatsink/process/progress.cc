// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace heatsink::app {
namespace {

constexpr std::size_t kBarColumns = 40;

}  // namespace

ProgressLine::ProgressLine() : visible_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { show(""); }

void ProgressLine::show(const std::string& text) {
  if (visible_) std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

void ProgressLine::show(const std::string& step, double done) {
  const auto full =
      static_cast<std::size_t>(std::clamp(done, 0.0, 1.0) * static_cast<double>(kBarColumns));
  show(fmt::format("{:<12} [{:<40}] {:3.0f} %", step, std::string(full, '#'), done * 100));
}

}  // namespace heatsink::app

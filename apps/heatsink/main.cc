// SPDX-License-Identifier: Apache-2.0
// The program: heatsink VERB [flags]
#include <iostream>

#include "apps/heatsink/command_line.h"
#include "apps/heatsink/process/end_signals.h"
#include "apps/heatsink/verbs.h"

int main(int argc, char** argv) {
  heatsink::app::CommandLine line(argc, argv);
  heatsink::app::end_at_hang_up_only();
  return heatsink::app::dispatch(heatsink::app::verbs(), line.count(), line.words(), std::cout,
                                 std::cerr);
}

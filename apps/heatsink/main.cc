// SPDX-License-Identifier: Apache-2.0
// heatsink VERB [flags]
#include <iostream>

#include "apps/heatsink/verbs.h"

int main(int argc, char** argv) {
  return heatsink::app::dispatch(heatsink::app::verbs(), argc, argv, std::cout, std::cerr);
}

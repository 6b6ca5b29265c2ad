// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/file_text.h"

#include <fstream>
#include <iterator>

namespace heatsink {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace heatsink

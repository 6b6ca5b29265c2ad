// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/verdict.h"

namespace heatsink::detect {

const char* to_string(Temperature temperature) {
  switch (temperature) {
    case Temperature::kCold:
      return "cold";
    case Temperature::kWarm:
      return "warm";
    case Temperature::kHot:
      return "hot";
    case Temperature::kWriteHot:
      return "write-hot";
  }
  return "cold";
}

}  // namespace heatsink::detect

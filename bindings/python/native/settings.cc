// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/native/settings.h"

#include "bindings/python/native/errors.h"

namespace heatsink::python {
namespace {

using Apply = int (*)(heatsink_options*, const char*);

bool apply(heatsink_options* options, Apply how, const char* text) {
  if (text == nullptr) return true;
  const int code = how(options, text);
  if (code < 0) Call().raise(code);
  return code >= 0;
}

int from_environment(heatsink_options* options, const char* /*text*/) {
  return heatsink_options_environment(options);
}

}  // namespace

heatsink_options* new_options(const char* file, const char* yaml, bool environment,
                              const char* keywords) {
  heatsink_options* const options = heatsink_options_new();
  if (apply(options, heatsink_options_file, file) && apply(options, heatsink_options_yaml, yaml) &&
      apply(options, from_environment, environment ? "" : nullptr) &&
      apply(options, heatsink_options_yaml, keywords))
    return options;
  heatsink_options_free(options);
  return nullptr;
}

}  // namespace heatsink::python

// SPDX-License-Identifier: Apache-2.0
// The part of heatsink.h about options.
#include <exception>

#include "bindings/c/handles.h"

using heatsink::capi::fail;
using heatsink::capi::guarded;
using heatsink::capi::missing_argument;
using heatsink::client::ClientOptions;

namespace {

// What `read` gives replaces the options, or nothing does.
template <class Read>
int replace(heatsink_options* options, const char* text, Read read) {
  if (options == nullptr || text == nullptr) return missing_argument();
  return guarded([&] {
    const heatsink::Result<ClientOptions> values = read();
    if (!values) return fail(HEATSINK_INVALID, values.error().message);
    options->values = *values;
    return int{HEATSINK_OK};
  });
}

}  // namespace

heatsink_options* heatsink_options_new() { return new (std::nothrow) heatsink_options; }

void heatsink_options_free(heatsink_options* options) { delete options; }

int heatsink_options_set(heatsink_options* options, const char* name, const char* value) {
  if (value == nullptr) return missing_argument();
  return replace(options, name, [&] { return options->values.with(name, value); });
}

int heatsink_options_yaml(heatsink_options* options, const char* yaml) {
  return replace(options, yaml, [&] { return options->values.with_yaml(yaml, "yaml"); });
}

int heatsink_options_file(heatsink_options* options, const char* path) {
  return replace(options, path, [&] { return options->values.with_file(path); });
}

int heatsink_options_environment(heatsink_options* options) {
  return replace(options, "", [&] { return options->values.with_environment(); });
}

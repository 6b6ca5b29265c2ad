// SPDX-License-Identifier: Apache-2.0
// The part of heatsink.h about options.
#include <exception>

#include "bindings/c/handles.h"
#include "heatsink/base/option.h"

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

int heatsink_options_list(const heatsink_options* options,
                          void (*tell)(void* user, const heatsink_option* option), void* user) {
  if (options == nullptr || tell == nullptr) return missing_argument();
  return guarded([&] {
    ClientOptions values = options->values;
    heatsink::OptionSet set;
    values.describe(set);
    for (const heatsink::OptionRow& row : set.rows()) {
      const std::string value = set.value_text(row);
      const std::string bounds = set.bounds_text(row);
      const heatsink_option option = {row.name.c_str(), value.c_str(), bounds.c_str(),
                                      row.help.c_str()};
      tell(user, &option);
    }
    return HEATSINK_OK;
  });
}

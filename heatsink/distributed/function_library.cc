// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/function_library.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cstdlib>

#include "heatsink/base/hash.h"

namespace heatsink::distributed {
namespace {

std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  // A digest that fails means a broken OpenSSL, with neither TLS nor scripts: give up.
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
    std::abort();
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest.at(i));
  return hex;
}

// A hash of everything that decides what the functions do, equal in all processes.
std::string version_of(std::string_view prelude,
                       std::initializer_list<FunctionLibrary::Source> sources) {
  std::string all(prelude);
  for (const FunctionLibrary::Source& each : sources)
    all += fmt::format("\n{} {}\n{}", each.name, each.writes, each.body);
  return fmt::format("{:016x}", hash_name(all, 0).value);
}

std::string registered(const FunctionLibrary::Source& source, std::string_view name) {
  return fmt::format(
      "redis.register_function{{function_name='{}', {}callback=function(KEYS, ARGV)\n{}\nend}}\n",
      name, source.writes ? "" : "flags={'no-writes'}, ", source.body);
}

}  // namespace

FunctionLibrary::FunctionLibrary(std::string_view name, std::string_view prelude,
                                 std::initializer_list<Source> sources) {
  const std::string version = version_of(prelude, sources);
  name_ = fmt::format("{}_{}", name, version);
  source_ = fmt::format("#!lua name={}\n{}\n", name_, prelude);
  for (const Source& each : sources) {
    // On the server all function names share one namespace, across libraries.
    const std::string full_name = fmt::format("{}_{}_{}", name, each.name, version);
    source_ += registered(each, full_name);
    const std::string script = fmt::format("{}\n{}\n", prelude, each.body);
    functions_.push_back({this, full_name, script, sha1_hex(script)});
  }
}

const ServerFunction& FunctionLibrary::function(std::string_view name) const {
  const std::string beginning = name_.substr(0, name_.size() - 16) + std::string(name) + "_";
  for (const ServerFunction& each : functions_)
    if (each.name.size() == beginning.size() + 16 && each.name.starts_with(beginning)) return each;
  std::abort();
}

}  // namespace heatsink::distributed

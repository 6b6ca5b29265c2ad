// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/config_file.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "heatsink/base/config_reader.h"
#include "heatsink/base/printable.h"

namespace heatsink {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string system_reason(int error_number) {
  return std::generic_category().message(error_number);
}

Error unreadable(const std::string& path, int error_number) {
  return {ErrorCode::kUnavailable, "cannot read the configuration file '" + printable(path) +
                                       "': " + system_reason(error_number)};
}

std::string too_large() {
  return "the file is larger than " + format_bytes(Bytes{kConfigFileBytesMax}) +
         ", the limit for a configuration: is this the right file?";
}

// Characters that YAML forbids. They are checked here because the parser takes \x04 for the end of
// the text and would silently drop the rest, and because a binary file deserves a clearer message
// than a syntax error.
bool has_forbidden_characters(std::string_view text, ConfigReader& reader) {
  const auto forbidden = std::find_if(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
  });
  if (forbidden == text.end()) return false;
  const auto line = 1 + std::count(text.begin(), forbidden, '\n');
  reader.fault(static_cast<int>(line),
               "the control character '" + printable({forbidden, forbidden + 1}) +
                   "' is not allowed in YAML: is this a text file in UTF-8?");
  return true;
}

void parse(std::string_view text, ConfigReader& reader) {
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(reader)) return;
    if (parser) reader.fault(0, "there is a second YAML document: keep one, and remove '---'");
  } catch (const YAML::DeepRecursion& e) {
    reader.fault(e.mark.line + 1, "options are nested too deeply: write 'name: value' lines");
  } catch (const YAML::Exception& e) {  // the base of all exceptions of this library
    const int line = e.mark.is_null() ? 0 : e.mark.line + 1;
    reader.fault(line,
                 "not YAML: " + printable(e.msg) + " (column " + std::to_string(e.mark.column + 1) +
                     "): check the indentation, colons and quotes here and in the lines above");
  }
}

}  // namespace

void append_faults(ConfigFaults& faults, ConfigFaults more) {
  for (Error& fault : more) faults.push_back(std::move(fault));
}

Result<std::string> read_config_file(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
  if (!file) return unreadable(path, errno);
  std::string text;
  std::array<char, 16384> chunk;
  while (text.size() <= kConfigFileBytesMax) {
    const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get());
    text.append(chunk.data(), got);
    if (got == chunk.size()) continue;
    if (std::ferror(file.get()) != 0) return unreadable(path, errno);
    break;
  }
  return text;
}

ConfigFaults apply_config_text(std::string_view text, std::string_view name, OptionSet& options,
                               OnFault on_fault) {
  ConfigReader reader(printable(name), options, on_fault);
  if (text.size() > kConfigFileBytesMax) {
    reader.fault(0, too_large());
  } else if (!has_forbidden_characters(text, reader)) {
    parse(text, reader);
  }
  return reader.finish();
}

ConfigFaults load_config_file(const std::string& path, OptionSet& options, OnFault on_fault) {
  const Result<std::string> text = read_config_file(path);
  if (!text.ok()) return {text.error()};
  return apply_config_text(*text, path, options, on_fault);
}

}  // namespace heatsink

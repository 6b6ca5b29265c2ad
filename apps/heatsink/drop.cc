// SPDX-License-Identifier: Apache-2.0
// heatsink drop: orders a running proxy to drop the local copies of a key.
#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "apps/heatsink/ask_admin.h"
#include "apps/heatsink/flags.h"
#include "apps/heatsink/process/exit_code.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/printable.h"
#include "heatsink/report/dropping.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

struct Dropped {
  std::int64_t copies = 0;
  std::string next;
};

// Nothing: it is no answer of heatsink's.
std::optional<Dropped> dropped_in(const std::string& answer) {
  boost::system::error_code error;
  const json::value parsed = json::parse(answer, error);
  if (error || !parsed.is_object()) return std::nullopt;
  const json::value* const copies = parsed.get_object().if_contains("copies");
  const json::value* const next = parsed.get_object().if_contains("next");
  if (copies == nullptr || !copies->is_int64() || next == nullptr || !next->is_string())
    return std::nullopt;
  return Dropped{copies->get_int64(), one_line(std::string(next->get_string()))};
}

int drop(const AdminFlags& flags, const report::WarmKey& key) {
  const Result<std::string> answer =
      ask_admin(flags, {"POST", "/api/copies/drop", report::drop_order_json(key)});
  const std::optional<Dropped> dropped =
      answer.ok() ? dropped_in(*answer) : std::optional<Dropped>();
  if (!dropped) {
    std::cerr << "heatsink drop: the proxy at " << flags.admin.text() << " cannot be asked: "
              << (answer.ok() ? "its answer is not that of heatsink's admin API"
                              : one_line(answer.error().message))
              << " (--admin names its admin address, admin.listen)\n";
    return kFailed;
  }
  if (flags.json) {
    std::cout << *answer;
  } else {
    std::cout << printable(key.name) << " (db " << key.db << "): ";
    if (dropped->copies == 0) std::cout << "no local copy to drop";
    if (dropped->copies == 1) std::cout << "1 local copy dropped";
    if (dropped->copies > 1) std::cout << dropped->copies << " local copies dropped";
    std::cout << "; " << dropped->next << "\n";
  }
  return std::cout.flush().good() ? kDone : kFailed;
}

}  // namespace

int run_drop(int argc, char** argv) {
  CLI::App app(
      "Drops the local copies of a key from a running proxy: the next read goes to the server. "
      "A copy comes back while the key stays hot, or its reads pay for one.",
      argv[0]);
  AdminFlags flags;
  std::string name;
  std::uint32_t db = 0;
  app.add_option("KEY", name, "Name of the key; bytes as heatsink top shows them, as in user:\\x00")
      ->required();
  app.add_option("--db", db, "Database of the key")->check(between(0, 1'000'000))->type_name("N");
  add_admin_flags(app, flags);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  return drop(flags, {from_printable(name), db});
}

}  // namespace heatsink::app

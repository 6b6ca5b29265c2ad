// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as the admin API's answer: the result must be an error, or a picture that cannot
// move the terminal's cursor, and a --record line with the same content.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "apps/heatsink/top/csv.h"
#include "apps/heatsink/top/explain_key.h"
#include "apps/heatsink/top/model.h"
#include "apps/heatsink/top/screen.h"
#include "apps/heatsink/top/view.h"

namespace {

using namespace heatsink::app;

void require(bool truth) {
  if (!truth) std::abort();
}

void check_text(const std::string& text) {
  const auto moves_cursor = [](unsigned char byte) {
    return (byte < 0x20 && byte != '\n') || byte == 0x7f;
  };
  require(std::none_of(text.begin(), text.end(), moves_cursor));
}

void check_picture(HotkeysView view) {
  TopModel model("127.0.0.1:6390", std::chrono::seconds(1));
  model.answered(view);
  model.answered(std::move(view));
  const heatsink::TimePoint now(std::chrono::seconds(5));
  check_text(frame_text(model, now));
  std::string csv = csv_block(model.rows(), "T");
  std::erase(csv, '\r');  // from its line ends
  require(std::count(csv.begin(), csv.end(), '\n') ==
          static_cast<std::ptrdiff_t>(model.rows().rows.size()));
  check_text(csv);
  if (!model.view->keys.empty()) {
    model.open_key = OpenKey{model.view->keys.front()};
    check_text(explain_text(*model.view, {model.open_key->key.raw_name, std::nullopt}));
  }
  for (const Page page : kAllPages) {
    model.choices.page = page;
    model.choices.rows.templates = true;
    check_text(draw_top(model, {80, 24}, now).text());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto line = json_on_one_line(bytes);
  if (line.ok()) require(line->find_first_of("\r\n") == std::string::npos);
  auto view = parse_hotkeys(bytes);
  require(view.ok() == (line.ok() && parse_hotkeys(*line).ok()));
  if (view.ok()) check_picture(std::move(view).value());
  return 0;
}

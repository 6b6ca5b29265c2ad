// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/control_group.h"

#include <algorithm>

namespace heatsink {
namespace {

using Visit = std::function<void(const std::string& directory, bool unified)>;

void visit_up(const std::string& root, std::string path, bool unified, const Visit& visit) {
  while (true) {
    visit(root + path, unified);
    const std::size_t cut = path.rfind('/');
    if (path.empty() || cut == std::string::npos) return;
    path.resize(cut);
  }
}

// A line is "hierarchy:controllers:path"; v2 names no controllers.
void visit_line(const std::string& root, std::string_view line, std::string_view controller,
                const Visit& visit) {
  const std::size_t first = line.find(':');
  if (first == std::string_view::npos) return;
  const std::size_t second = line.find(':', first + 1);
  if (second == std::string_view::npos) return;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  std::string path(line.substr(second + 1));
  if (path == "/") path.clear();
  if (controllers.empty()) return visit_up(root, std::move(path), true, visit);
  const std::string listed = "," + std::string(controllers) + ",";
  const std::string name(controller);
  if (listed.find("," + name + ",") == std::string::npos) return;
  visit_up(root + "/" + name, std::move(path), false, visit);
}

}  // namespace

void for_each_control_group(const std::string& root, std::string_view membership,
                            std::string_view controller, const Visit& visit) {
  while (!membership.empty()) {
    const std::size_t end = std::min(membership.find('\n'), membership.size());
    visit_line(root, membership.substr(0, end), controller, visit);
    membership.remove_prefix(std::min(end + 1, membership.size()));
  }
}

}  // namespace heatsink

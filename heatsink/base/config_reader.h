// SPDX-License-Identifier: Apache-2.0
// Sets options from the events of a YAML parser. Internal to config_file.cc.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/config_file.h"
#include "heatsink/base/option_list.h"

namespace heatsink {

// Uses events instead of a tree of nodes. So it sees an alias as an alias (and refuses it), sees a
// repeated key twice, and builds nothing whose size the file could choose.
class ConfigReader final : public YAML::EventHandler {
 public:
  ConfigReader(std::string_view name, OptionSet& options, OnFault on_fault)
      : name_(name), options_(options), on_fault_(on_fault) {}

  void fault(int line, std::string message);  // `line` from 1; 0: the whole file
  // The faults so far, in order. If there are any, undoes the changes, unless OnFault says
  // otherwise.
  ConfigFaults finish();

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override;
  void OnSequenceEnd() override { leave(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override;
  void OnMapEnd() override { leave(); }

 private:
  // An open map or list. `path` is its own ("detection"; "" for the root and for an item); `key` is
  // the one whose value comes next.
  struct Group {
    OptionSet* options = nullptr;  // the set of its paths
    std::string scope = "";        // distinguishes an item's paths: "rule 2: "
    OptionList* list = nullptr;    // set if this is a list, which has items instead of keys
    bool list_is_full = false;     // the fault has been reported
    std::string path = "";
    std::string key_path = "";
    int key_line = 0;
    bool value_due = false;
    bool key_is_usable = false;  // false: skips the value, because its key was refused
  };

  bool skipping() const { return skipped_depth_ > 0 || faults_.size() >= kConfigFaultsMax; }
  bool at_root() const { return groups_.empty(); }
  bool in_list() const { return !at_root() && groups_.back().list != nullptr; }
  bool take_key_place(int line);
  void take_key(int line, const std::string& key);
  bool take_value_place();
  void set_option(int line, const std::string& path, const std::string& value);
  void enter_group(int line);
  void enter_list(OptionList& list);
  void enter_item(int line);
  bool refuse_as_item(int line);
  void refuse_list(int line);
  void leave();

  std::string name_;
  OptionSet& options_;
  OnFault on_fault_;
  std::vector<Group> groups_;
  std::size_t skipped_depth_ = 0;     // open collections inside a refused one
  std::map<std::string, int> lines_;  // first line of each path, to find repeated options
  std::vector<std::pair<std::string, std::string>> undo_;        // option, its value before
  std::vector<std::pair<OptionList*, std::size_t>> undo_lists_;  // list, its size before
  ConfigFaults faults_;
};

}  // namespace heatsink

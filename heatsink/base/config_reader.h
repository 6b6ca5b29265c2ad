// SPDX-License-Identifier: Apache-2.0
// Hears the events of a YAML parser and sets options. Internal to config_file.cc.
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

// Events instead of a tree of nodes: an alias is seen as an alias (and refused) instead of being
// followed, a key that is there twice is seen twice, and nothing is built whose size the file could
// choose.
class ConfigReader final : public YAML::EventHandler {
 public:
  ConfigReader(std::string_view name, OptionSet& options, OnFault on_fault)
      : name_(name), options_(options), on_fault_(on_fault) {}

  void fault(int line, std::string message);  // `line` from 1; 0: of the file as a whole
  // The faults so far, in order. With any, what was set is undone unless OnFault says otherwise.
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
  // A map that is open, or a list. `path` is its own ("detection", "" for the root and for an
  // item); `key` the one whose value is due.
  struct Group {
    OptionSet* options = nullptr;  // that its paths name
    std::string scope = "";        // tells an item's paths from those of others: "rule 2: "
    OptionList* list = nullptr;    // it is this list, and has items instead of keys
    bool list_is_full = false;     // and that was told
    std::string path = "";
    std::string key_path = "";
    int key_line = 0;
    bool value_due = false;
    bool key_is_usable = false;  // false: the value is skipped, its key was a fault
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
  std::size_t skipped_depth_ = 0;     // collections open inside something refused
  std::map<std::string, int> lines_;  // of each path seen, to find what is there twice
  std::vector<std::pair<std::string, std::string>> undo_;        // option, its value before
  std::vector<std::pair<OptionList*, std::size_t>> undo_lists_;  // list, its size before
  ConfigFaults faults_;
};

}  // namespace heatsink

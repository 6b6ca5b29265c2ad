// SPDX-License-Identifier: Apache-2.0
// Turns a stored read into the question that a tracker sends.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heatsink/cache/read.h"
#include "heatsink/copies/local_reads.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// Views `key` and `read`, which must outlive it.
class ReadQuestion {
 public:
  ReadQuestion(std::string_view key, std::uint32_t db, const cache::StoredRead& read)
      : question_{.key = key, .db = db} {
    if (read.command() == 0) return;  // GET has no request: see FillQuestion
    const LocalRead& row = local_reads()[read.command()];
    words_ = {row.name, key};
    read.for_each_argument([this](std::string_view word) { words_.push_back(word); });
    question_.request = words_;
    question_.form = row.form(words_.size() - 2);
    question_.fields = row.fields;
  }
  ReadQuestion(const ReadQuestion&) = delete;

  const redis::FillQuestion& get() const { return question_; }

 private:
  redis::FillQuestion question_;
  std::vector<std::string_view> words_;
};

}  // namespace heatsink::copies

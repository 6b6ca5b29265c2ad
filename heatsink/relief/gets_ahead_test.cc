// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/gets_ahead.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "heatsink/relief/copy_lookup.h"
#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

std::string get_of(std::string_view key) {
  ByteBuffer wire;
  resp::append_request(wire, {"GET", key});
  return std::string(wire.view());
}

class GetsAheadTest : public ReliefTest {
 protected:
  GetsAheadTest() {
    start();
    lookup_.emplace(*parts, client_.context);
  }

  // The keys that were found in `input`; a key with an entry ends in '*'.
  std::vector<std::string> keys_in(const std::string& input) const {
    std::vector<std::string> out;
    for (GetsAhead gets(input, *lookup_); !gets.empty(); gets.pop()) {
      const CopyLookup::Key& key = gets.front().key;
      EXPECT_EQ(gets.front().wire, get_of(key.key));
      EXPECT_EQ(key.hash, hash(key.key));
      out.push_back(std::string(key.key) + (key.entry != nullptr ? "*" : ""));
    }
    return out;
  }

  PlayedClient client_{1};
  std::optional<CopyLookup> lookup_;
};

TEST_F(GetsAheadTest, EndsBeforeWhatIsNoWholeGet) {
  heat("hot");
  const std::string whole = get_of("a") + get_of("hot") + get_of("b");
  EXPECT_EQ(keys_in(whole + "*1\r\n$4\r\nPING\r\n"), (std::vector<std::string>{"a", "hot*", "b"}));
  EXPECT_EQ(keys_in(whole.substr(0, whole.size() - 1)), (std::vector<std::string>{"a", "hot*"}));
  EXPECT_TRUE(keys_in("").empty());
}

TEST_F(GetsAheadTest, LooksAtSoManyAtOnce) {
  std::string input;
  for (std::size_t i = 0; i < GetsAhead::kMax + 3; ++i) input += get_of(std::to_string(i));
  EXPECT_EQ(keys_in(input).size(), GetsAhead::kMax);
}

}  // namespace
}  // namespace heatsink::proxy

// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/heatsink/top/pages.h"
#include "apps/heatsink/top/sample_for_test.h"
#include "heatsink/tui/terminal.h"

namespace heatsink::app {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr tui::Size kSize{80, 24};  // 15 keys at once

TopModel with(HotkeysView view) {
  TopModel model("127.0.0.1:6390", seconds(1));
  model.answered(std::move(view));
  return model;
}

TopModel with_keys(int count) {
  HotkeysView view = sample_answer();
  view.keys.clear();
  for (int i = 0; i < count; ++i)
    view.keys.push_back(sample_key("key-" + std::string(1, static_cast<char>('a' + i % 26)) +
                                       std::string(static_cast<std::size_t>(i / 26), 'x'),
                                   100'000 - i, "hot"));
  return with(std::move(view));
}

void press(TopModel& model, int key) { EXPECT_TRUE(pressed(model, key, kSize)) << key; }
void type(TopModel& model, std::string_view text) {
  for (const char c : text) press(model, static_cast<unsigned char>(c));
}
std::size_t cursor(const TopModel& model) { return model.cursor_in(model.rows()); }

TEST(TopInput, QEndsButNotWhileTyping) {
  TopModel model = with_keys(3);
  EXPECT_FALSE(pressed(model, 'q', kSize));
  EXPECT_FALSE(pressed(model, 'Q', kSize));
  press(model, '/');
  press(model, 'q');
  EXPECT_EQ(model.choices.prompt, "q");
}

TEST(TopInput, OrdersByArrowsAndLetters) {
  TopModel model = with_keys(3);
  press(model, tui::kRight);
  EXPECT_EQ(model.choices.rows.order.by, SortBy::kBytes);
  press(model, 's');
  EXPECT_EQ(model.choices.rows.order.by, SortBy::kShare);
  press(model, tui::kLeft);
  press(model, 'S');
  EXPECT_EQ(model.choices.rows.order.by, SortBy::kRate);
  press(model, 'r');
  EXPECT_TRUE(model.choices.rows.order.reversed);
  EXPECT_EQ(model.rows().rows[0].key->name, "key-c");
}

TEST(TopInput, TheCursorStaysInTheRows) {
  TopModel model = with_keys(40);
  press(model, tui::kUp);
  EXPECT_EQ(cursor(model), 0U);
  press(model, tui::kDown);
  press(model, 'j');
  EXPECT_EQ(cursor(model), 2U);
  press(model, 'k');
  EXPECT_EQ(cursor(model), 1U);
  press(model, tui::kPageDown);
  EXPECT_EQ(cursor(model), 16U);
  press(model, tui::kPageUp);
  EXPECT_EQ(cursor(model), 1U);
  press(model, tui::kEnd);
  EXPECT_EQ(cursor(model), 39U);
  press(model, tui::kPageDown);
  EXPECT_EQ(cursor(model), 39U);
  press(model, tui::kHome);
  EXPECT_EQ(cursor(model), 0U);
}

TEST(TopInput, TheCursorFollowsItsKeyAndTheFirstRowTheBusiest) {
  TopModel model = with_keys(5);
  press(model, tui::kDown);
  HotkeysView next = *model.view;
  next.keys[4].rate = 1e6;
  model.answered(next);
  EXPECT_EQ(model.rows().rows[cursor(model)].key->name, "key-b");
  EXPECT_EQ(cursor(model), 2U);
  press(model, tui::kHome);
  next.keys[3].rate = 2e6;
  model.answered(next);
  EXPECT_EQ(model.rows().rows[cursor(model)].key->name, "key-d");
}

TEST(TopInput, ACursorWhoseKeyHasGoneStaysAtItsRow) {
  TopModel model = with_keys(5);
  press(model, tui::kDown);
  HotkeysView next = *model.view;
  next.keys.erase(next.keys.begin() + 1);
  model.answered(next);
  EXPECT_EQ(cursor(model), 1U);
  next.keys.clear();
  model.answered(next);
  EXPECT_EQ(cursor(model), 0U);
  press(model, tui::kDown);
  press(model, tui::kEnter);
  EXPECT_EQ(model.choices.page, Page::kKeys) << "there is nothing to open";
}

TEST(TopInput, EnterOpensAKeyAndEscapeGoesBackToIt) {
  TopModel model = with_keys(5);
  press(model, tui::kDown);
  press(model, tui::kEnter);
  EXPECT_EQ(model.choices.page, Page::kKey);
  ASSERT_TRUE(model.open_key);
  EXPECT_EQ(model.open_key->key.name, "key-b");
  press(model, tui::kEscape);
  EXPECT_EQ(model.choices.page, Page::kKeys);
  EXPECT_EQ(cursor(model), 1U);
}

TEST(TopInput, AnOpenKeyThatIsNoLongerListedKeepsItsNumbers) {
  TopModel model = with_keys(2);
  press(model, tui::kEnter);
  HotkeysView next = *model.view;
  next.keys[0].rate = 123'456;
  model.answered(next);
  EXPECT_EQ(model.open_key->key.rate, 123'456);
  next.keys.erase(next.keys.begin());
  model.answered(next);
  EXPECT_FALSE(model.open_key->listed);
  EXPECT_EQ(model.open_key->key.rate, 123'456);
}

TEST(TopInput, TheFilterIsTypedCorrectedAndCleared) {
  TopModel model = with(sample_answer());
  press(model, '/');
  type(model, "usex");
  press(model, tui::kBackspace);
  type(model, "r:");
  EXPECT_EQ(model.rows().rows.size(), 5U) << "only Enter filters";
  press(model, tui::kEnter);
  EXPECT_EQ(model.choices.prompt, std::nullopt);
  ASSERT_EQ(model.rows().rows.size(), 1U);
  EXPECT_EQ(model.rows().rows[0].key->name, "user:1002:profile");
  press(model, '/');
  EXPECT_EQ(model.choices.prompt, "user:") << "what there is can be changed";
  type(model, "zzz");
  press(model, tui::kEscape);
  EXPECT_EQ(model.choices.rows.filter.text, "user:");
  press(model, tui::kEscape);
  EXPECT_EQ(model.rows().rows.size(), 5U);
}

TEST(TopInput, AFilterThatIsNoneStaysToBeCorrected) {
  TopModel model = with(sample_answer());
  press(model, '/');
  type(model, "db=x");
  press(model, tui::kEnter);
  EXPECT_EQ(model.choices.prompt, "db=x");
  EXPECT_THAT(model.choices.prompt_problem, HasSubstr("db=x is not a number"));
  press(model, tui::kBackspace);
  press(model, '0');
  press(model, tui::kEnter);
  EXPECT_EQ(model.choices.prompt_problem, "");
  EXPECT_EQ(model.choices.rows.filter.db, 0U);
}

TEST(TopInput, CharactersAreTypedWholeAndControlsNotAtAll) {
  TopModel model = with(sample_answer());
  press(model, '/');
  for (const int code_point : {0x67, 0xf6, 0x20ac, 0x1f525}) press(model, code_point);
  EXPECT_EQ(model.choices.prompt, "gö€🔥");
  for (int i = 0; i < 3; ++i) press(model, tui::kBackspace);
  EXPECT_EQ(model.choices.prompt, "g");
  for (const int other : {0, 1, 0x9b, 0x202e, int{tui::kUp}, int{tui::kOtherKey}})
    press(model, other);
  EXPECT_EQ(model.choices.prompt, "g");
  press(model, 21);
  EXPECT_EQ(model.choices.prompt, "");
  press(model, tui::kBackspace);
  EXPECT_EQ(model.choices.prompt, "");
}

TEST(TopInput, AFilterIsBounded) {
  TopModel model = with(sample_answer());
  press(model, '/');
  for (std::size_t i = 0; i < 2 * kFilterBytesMax; ++i) press(model, 'x');
  EXPECT_LE(model.choices.prompt->size(), kFilterBytesMax);
  press(model, tui::kEnter);
  EXPECT_EQ(model.choices.prompt, std::nullopt);
}

TEST(TopInput, TemplatesOpenAndClose) {
  HotkeysView view = sample_answer();
  view.keys.push_back(sample_key("product:1001:price", 20'000, "hot"));
  TopModel model = with(view);
  press(model, 't');
  ASSERT_EQ(model.rows().rows.size(), 5U);
  EXPECT_EQ(model.rows().rows[0].key->name, "product:*:price");
  press(model, tui::kEnter);
  EXPECT_EQ(model.choices.page, Page::kKeys);
  EXPECT_EQ(model.rows().rows.size(), 2U);
  press(model, tui::kDown);
  press(model, tui::kEnter);
  EXPECT_EQ(model.open_key->key.name, "product:1001:price");
  press(model, tui::kEscape);
  press(model, tui::kEscape);
  EXPECT_EQ(model.rows().rows.size(), 5U);
  EXPECT_EQ(cursor(model), 0U);
  press(model, 't');
  EXPECT_EQ(model.rows().rows.size(), 6U);
}

TEST(TopInput, ATemplateWithoutListedKeysDoesNotOpen) {
  HotkeysView view = sample_answer();
  KeyView idle;
  idle.name = idle.raw_name = "idle:*";
  idle.dimension = "requests";
  idle.rate = 1e6;
  view.templates = TemplatesView{{idle}, 0, 0};
  TopModel model = with(view);
  press(model, 't');
  ASSERT_EQ(model.rows().rows[0].key->name, "idle:*");
  press(model, tui::kEnter);
  EXPECT_EQ(model.choices.page, Page::kKeys);
  EXPECT_EQ(model.choices.rows.group, std::nullopt);
}

TEST(TopInput, PagesTogglePauseIsEverywhere) {
  TopModel model = with_keys(3);
  for (const auto& [key, page] : {std::pair{'h', Page::kHelp},
                                  {'?', Page::kHelp},
                                  {'n', Page::kNodes},
                                  {'l', Page::kSlots},
                                  {'c', Page::kCopies},
                                  {'i', Page::kSources}}) {
    press(model, key);
    EXPECT_EQ(model.choices.page, page);
    press(model, 'p');
    EXPECT_TRUE(model.choices.paused);
    press(model, ' ');
    EXPECT_FALSE(model.choices.paused);
    press(model, key);
    EXPECT_EQ(model.choices.page, Page::kKeys);
  }
  press(model, 'n');
  press(model, 'l');
  EXPECT_EQ(model.choices.page, Page::kSlots) << "from page to page";
}

TEST(TopInput, HelpGoesBackToWhereItWasAskedFor) {
  TopModel model = with_keys(3);
  press(model, tui::kEnter);
  for (const int out : {int{'h'}, int{tui::kEscape}}) {
    press(model, 'h');
    EXPECT_EQ(model.choices.page, Page::kHelp);
    press(model, out);
    EXPECT_EQ(model.choices.page, Page::kKey);
    EXPECT_TRUE(model.open_key);
  }
  press(model, tui::kEscape);
  EXPECT_EQ(model.choices.page, Page::kKeys);
}

TEST(TopInput, PagesScrollToTheirEndAndNoFurther) {
  TopModel model = with_keys(60);
  press(model, 'l');
  EXPECT_EQ(page_rows(model, kSize), 65U);  // 60 slots, and what stands above them
  press(model, tui::kUp);
  EXPECT_EQ(model.choices.scroll, 0U);
  for (int i = 0; i < 100; ++i) press(model, tui::kDown);
  EXPECT_EQ(model.choices.scroll, 65U - page_room(kSize));
  press(model, tui::kPageUp);
  EXPECT_EQ(model.choices.scroll, 65U - 2 * page_room(kSize));
  press(model, tui::kHome);
  EXPECT_EQ(model.choices.scroll, 0U);
}

TEST(TopInput, AnyKeyAnywhereIsHarmless) {
  for (const tui::Size size : {tui::Size{80, 24}, {1, 1}}) {
    TopModel model("127.0.0.1:6390", seconds(1));
    for (int round = 0; round < 2; ++round) {
      model.choices = {};
      for (int key = -1; key < '/'; ++key) EXPECT_TRUE(pressed(model, key, size)) << key;
      for (int key = '0'; key < 0x180; ++key)
        EXPECT_EQ(pressed(model, key, size), key != 'q' && key != 'Q') << key;
      for (int key = tui::kLeft; key <= tui::kOtherKey; ++key)
        EXPECT_TRUE(pressed(model, key, size)) << key;
      model.answered(sample_answer());
      model.choices = {};
    }
  }
}

}  // namespace
}  // namespace heatsink::app

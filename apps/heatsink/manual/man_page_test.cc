// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/manual/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/heatsink/manual/roff.h"

namespace heatsink::app {
namespace {

using ::testing::HasSubstr;

const Edition kEdition{"1.2.3", "2026-11-25"};

const CommandFacts kWatch{
    .name = "watch",
    .summary = "Watches keys.",
    .description = "Watches keys, for ever.",
    .footer = "It may fail.",
    .flags = {{.name = "--help", .short_name = "-h", .help = "Print this"},
              {.name = "--level",
               .value = "NAME",
               .choices = {"off", "key"},
               .default_text = "key",
               .help = "Which level"},
              {.name = "--rate", .value = "N", .bounds = "in 1 .. 9", .help = "How fast"}},
    .arguments = {{.name = "KEY", .value = "TEXT", .help = "A key", .required = true},
                  {.name = "MORE", .value = "TEXT", .help = "More keys", .repeats = true}}};

TEST(ManPage, OfAVerb) {
  const ManualPage page = command_page(kWatch, kEdition);
  EXPECT_EQ(page.file, "heatsink-watch.1");
  EXPECT_EQ(page.text, R"(.\" Written by 'heatsink man'.
.TH "HEATSINK-WATCH" "1" "2026-11-25" "heatsink 1.2.3" "User Commands"
.SH "NAME"
heatsink\-watch \- watches keys
.SH "SYNOPSIS"
\fBheatsink watch\fR [OPTIONS] KEY [MORE ...]
.SH "DESCRIPTION"
Watches keys, for ever.
.SH "OPTIONS"
.TP
\fBKEY\fR
A key.
.TP
\fBMORE\fR
More keys.
.TP
\fB\-h, \-\-help\fR
Print this.
.TP
\fB\-\-level\fR \fINAME\fR
Which level. One of: off, key. Default: key.
.TP
\fB\-\-rate\fR \fIN\fR
How fast. Allowed: in 1 .. 9.
.SH "EXIT STATUS"
.TP
\fB0\fR
Done.
.TP
\fB1\fR
It ran and failed; the standard error output says why.
.TP
\fB2\fR
The command line or the configuration is wrong.
.PP
It may fail.
.SH "SEE ALSO"
heatsink(1), heatsink.yaml(5)
)");
}

TEST(ManPage, OfTheProgramListsTheVerbs) {
  const ManualPage page = program_page({kWatch}, kEdition);
  EXPECT_EQ(page.file, "heatsink.1");
  EXPECT_THAT(page.text, HasSubstr(".TP\n\\fBwatch\\fR\nWatches keys.\n"));
  EXPECT_THAT(page.text, HasSubstr("heatsink\\-watch(1), heatsink.yaml(5)"));
}

TEST(ManPage, OfTheFileHasEveryRow) {
  std::string level = "key";
  std::int64_t workers = 0;
  OptionSet options;
  options.add(
      {.name = "cache.level", .target = &level, .help = "Level.", .choices = {"off", "key"}});
  options.add({.name = "proxy.workers", .target = &workers, .help = "Threads.", .max = 64});
  const ManualPage page = file_page(options, kEdition);
  EXPECT_THAT(page.text, HasSubstr(".SS \"cache\"\n.TP\n\\fBcache.level\\fR\nLevel. Default: key. "
                                   "Allowed: off | key.\n.SS \"proxy\"\n"));
  EXPECT_THAT(page.text, HasSubstr("Threads. Default: 0. Allowed: 0 .. 64."));
}

TEST(ManPage, OfTheMetricsHasEachOnce) {
  static constexpr MetricRow kHits{"hits_total", MetricKind::kCounter, "Hits.", "rule"};
  static constexpr MetricRow kKeys{"keys", MetricKind::kGauge, "Keys."};
  const std::string text = metrics_page({&kKeys, &kHits, &kKeys}, kEdition).text;
  EXPECT_THAT(text, HasSubstr("\\fBhits_total{rule}\\fR \\fIcounter\\fR\nHits.\n.TP\n"
                              "\\fBkeys\\fR \\fIgauge\\fR\nKeys.\n.SH"));
}

TEST(Roff, NothingInATextIsAMacro) {
  Roff page("T", "1", "", "s", "m");
  page.section("S");
  page.paragraph(".de evil 'x' a\\nb -x ~ ^ `");
  page.paragraph("'second");
  page.example(".TH\nuser:\\x00");
  EXPECT_THAT(page.text(), HasSubstr("\n\\&.de evil 'x' a\\enb \\-x \\(ti \\(ha \\(ga\n"));
  EXPECT_THAT(page.text(), HasSubstr("\n.PP\n\\&'second\n"));
  EXPECT_THAT(page.text(), HasSubstr("\n\\&.TH\nuser:\\ex00\n"));
}

TEST(Roff, AWrappedLineDoesNotBeginWithAMacro) {
  Roff page("T", "1", "", "s", "m");
  page.section("S");
  page.paragraph(std::string(77, 'x') + " .. 9");
  EXPECT_THAT(page.text(), HasSubstr("xxx\n\\&.. 9\n"));
}

}  // namespace
}  // namespace heatsink::app

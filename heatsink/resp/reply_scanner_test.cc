// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/reply_scanner.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "heatsink/resp/testing/piece_sizes.h"
#include "heatsink/resp/testing/reply_trace.h"

namespace heatsink::resp {
namespace {

using testing::piece_sizes;
using testing::pieces_of;
using testing::ReplyTrace;
using testing::same_extents;
using testing::trace_replies;
using testing::trace_values;
using testing::TracedReply;

// REQUIRES exactly one whole reply.
TracedReply only(const std::string& bytes) {
  const ReplyTrace trace = trace_replies(bytes);
  EXPECT_FALSE(trace.error) << bytes;
  EXPECT_EQ(trace.replies.size(), 1u) << bytes;
  if (trace.replies.empty()) return {};
  EXPECT_EQ(trace.replies[0].end, bytes.size()) << bytes;
  return trace.replies[0];
}

TEST(ReplyScanner, TypesAndAnnouncedNumbers) {
  const struct {
    const char* bytes;
    std::int64_t announced;
  } cases[] = {
      {"+OK\r\n", 0},
      {"+\r\n", 0},
      {"-ERR x\r\n", 0},
      {":42\r\n", 0},
      {":-9223372036854775808\r\n", 0},
      {"$5\r\nhe\r\no\r\n", 5},
      {"$0\r\n\r\n", 0},
      {"$-1\r\n", -1},
      {"*-1\r\n", -1},
      {"*0\r\n", 0},
      {"*2\r\n:1\r\n$1\r\na\r\n", 2},
      {"%1\r\n+k\r\n*1\r\n_\r\n", 1},
      {"~1\r\n#t\r\n", 1},
      {">1\r\n(123456789012345678901234567890\r\n", 1},
      {"_\r\n", 0},
      {",1.5e10\r\n", 0},
      {"#f\r\n", 0},
      {"!3\r\nERR\r\n", 3},
      {"=5\r\ntxt:a\r\n", 5},
      {"*1\r\n*0\r\n", 1},
      {"%0\r\n", 0},
  };
  for (const auto& [bytes, announced] : cases) {
    const TracedReply reply = only(bytes);
    EXPECT_EQ(reply.type, bytes[0]);
    EXPECT_EQ(reply.announced, announced) << bytes;
  }
}

TEST(ReplyScanner, NeverReadsPastTheElement) {
  ReplyScanner scanner;
  const ScanStep step = scanner.feed("+OK\r\n$-1\r\n");
  EXPECT_EQ(step.status, ScanStatus::kReply);
  EXPECT_EQ(step.consumed, 5u);
}

TEST(ReplyScanner, HeaderIsKnownWhenItsLineIsThere) {
  ReplyScanner scanner;
  scanner.feed("$100000000\r");
  EXPECT_FALSE(scanner.header_known());
  scanner.feed("\n");
  ASSERT_TRUE(scanner.header_known());
  EXPECT_EQ(scanner.type(), '$');
  EXPECT_EQ(scanner.announced(), 100'000'000);
}

TEST(ReplyScanner, HeaderOfATextIsItsFirstByte) {
  ReplyScanner scanner;
  scanner.feed("-");
  EXPECT_TRUE(scanner.header_known());
  scanner.feed("MOVED 1 h");
  EXPECT_EQ(scanner.error_code(), "") << "its line is not complete";
  scanner.feed("\r\n");
  EXPECT_EQ(scanner.error_code(), "MOVED");
  scanner.feed("+");
  EXPECT_EQ(scanner.error_code(), "");
  EXPECT_EQ(scanner.type(), '+');
}

TEST(ReplyScanner, AnAttributeBelongsToWhatFollows) {
  ReplyScanner scanner;
  const std::string attribute = "|1\r\n$3\r\nttl\r\n*1\r\n:1\r\n";
  EXPECT_EQ(scanner.feed(attribute).status, ScanStatus::kNeedMore);
  EXPECT_FALSE(scanner.header_known());
  EXPECT_EQ(scanner.feed("*1\r\n").status, ScanStatus::kNeedMore);
  EXPECT_EQ(scanner.type(), '*');
  EXPECT_EQ(scanner.feed(attribute + "|0\r\n").status, ScanStatus::kNeedMore);
  EXPECT_EQ(scanner.first_text(), "") << "nothing inside an attribute counts";
  EXPECT_EQ(scanner.feed("+a\r\n").status, ScanStatus::kReply);
  EXPECT_EQ(scanner.first_text(), "a");
}

TEST(ReplyScanner, FirstText) {
  EXPECT_EQ(only(">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n").first_text, "invalidate");
  EXPECT_EQ(only("*3\r\n:1\r\n$-1\r\n+message\r\n").first_text, "message");
  EXPECT_EQ(only("*2\r\n$0\r\n\r\n+b\r\n").first_text, "") << "the first string is empty";
  EXPECT_EQ(only("*1\r\n*1\r\n$1\r\na\r\n").first_text, "a");
  EXPECT_EQ(only("*1\r\n$40\r\n" + std::string(40, 'x') + "\r\n").first_text, std::string(32, 'x'));
  EXPECT_EQ(only("%1\r\n+a\r\n+b\r\n").first_text, "");
  EXPECT_EQ(only("$1\r\na\r\n").first_text, "");
}

TEST(ReplyScanner, FirstTextAsFarAsItHasCome) {
  ReplyScanner scanner;
  scanner.feed(">2\r\n$10\r\ninval");
  EXPECT_EQ(scanner.first_text(), "inval");
  EXPECT_FALSE(scanner.first_text_known());
}

TEST(ReplyScanner, ErrorCode) {
  EXPECT_EQ(only("-NOAUTH Authentication required.\r\n").error_code, "NOAUTH");
  EXPECT_EQ(only("-ERR\r\n").error_code, "ERR");
  EXPECT_EQ(only("-" + std::string(50, 'E') + "\r\n").error_code, std::string(32, 'E'));
  EXPECT_EQ(only("*1\r\n-ERR x\r\n").error_code, "");
  EXPECT_EQ(only("*1\r\n-ERR x\r\n").first_text, "");
  EXPECT_EQ(only("-ERR x\r\n").first_text, "");
}

TEST(ReplyScanner, MalformedIsAnErrorInOnePieceAndInMany) {
  const std::string cases[] = {"x",
                               "\r\n",
                               "$?\r\n",
                               "*?\r\n",
                               ";4\r\n",
                               ".\r\n",
                               "$-2\r\n",
                               "*-5\r\n",
                               "~-1\r\n",
                               "%-1\r\n",
                               "|-1\r\n",
                               "!-1\r\n",
                               "=-1\r\n",
                               "=3\r\n",
                               "$01\r\n",
                               "$+1\r\n",
                               "$\r\n",
                               "$1\rx",
                               "$1\r\nax",
                               "$1\r\na\rx",
                               "+a\rb",
                               ":1a\r\n",
                               ":\r\n",
                               "#1\r\n",
                               "#\r\n",
                               "_1\r\n",
                               "$9223372036854775808\r\n",
                               "*99999999999999999999\r\n",
                               "%2305843009213693953\r\n",
                               "$" + std::string(65, '1'),
                               ":" + std::string(65, '1'),
                               "_" + std::string(65, ' ')};
  for (const std::string& bytes : cases) {
    EXPECT_TRUE(trace_replies(bytes).error) << bytes;
    EXPECT_TRUE(trace_replies(bytes, pieces_of({1})).error) << bytes;
    EXPECT_TRUE(trace_values(bytes).error) << bytes;
    EXPECT_EQ(trace_replies("+OK\r\n" + bytes).replies.size(), 1u);
  }
}

TEST(ReplyScanner, AnErrorIsFinal) {
  ReplyScanner scanner;
  EXPECT_EQ(scanner.feed("?").status, ScanStatus::kError);
  EXPECT_EQ(scanner.feed("+OK\r\n").status, ScanStatus::kError);
}

TEST(ReplyScanner, LongLinesAreFineWhereTheyAreText) {
  only("+" + std::string(1'000'000, 'x') + "\r\n");
  only("(" + std::string(1000, '9') + "\r\n");
}

std::string nested(std::size_t depth) {
  std::string bytes;
  for (std::size_t i = 0; i < depth; ++i) bytes += "*1\r\n";
  return bytes;
}

TEST(ReplyScanner, DepthIsBounded) {
  only(nested(ReplyScanner::kDepthMax) + "*0\r\n");
  EXPECT_TRUE(trace_replies(nested(ReplyScanner::kDepthMax + 1)).error);
  EXPECT_TRUE(trace_replies(nested(1'000'000)).error);
}

TEST(ReplyScanner, TheBiggestCountsAreOnlyNumbers) {
  ReplyScanner scanner;
  for (const char* bytes : {"*9223372036854775807\r\n", "%2305843009213693952\r\n",
                            "|2305843009213693952\r\n", "$9223372036854775807\r\n", "x"}) {
    EXPECT_EQ(scanner.feed(bytes).status, ScanStatus::kNeedMore) << bytes;
  }
  EXPECT_EQ(scanner.announced(), 9223372036854775807);
}

// A random reply of every kind, attributes included.
class ReplyMaker {
 public:
  explicit ReplyMaker(std::uint64_t seed) : random_(seed) {}

  std::string make(int depth = 0) {
    const std::string attribute = below(8) == 0 ? aggregate('|', depth) : "";
    const std::size_t kinds = depth < 5 ? 14 : 10;
    return attribute + element(below(kinds), depth);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  std::string text(std::string_view alphabet) {
    std::string out(below(4) == 0 ? below(100) : below(5), ' ');
    for (char& c : out) c = alphabet[below(alphabet.size())];
    return out;
  }

  std::string counted(char type, const std::string& body) {
    return type + std::to_string(body.size()) + "\r\n" + body + "\r\n";
  }

  std::string aggregate(char type, int depth) {
    const std::size_t count = below(4);
    std::string out = type + std::to_string(count) + "\r\n";
    for (std::size_t i = 0; i < count * (type == '%' || type == '|' ? 2 : 1); ++i)
      out += make(depth + 1);
    return out;
  }

  std::string element(std::size_t kind, int depth) {
    switch (kind) {
      case 0:
        return "+" + text("abc \n") + "\r\n";
      case 1:
        return "-" + text("ERR ") + "\r\n";
      case 2:
        return ":" + std::to_string(static_cast<std::int64_t>(random_())) + "\r\n";
      case 3:
        return counted('$', text("a\r\n$*1"));
      case 4:
        return counted('!', text("ERR \r\n"));
      case 5:
        return counted('=', "txt:" + text("a\r\n"));
      case 6:
        return below(2) == 0 ? "_\r\n" : "#t\r\n";
      case 7:
        return below(2) == 0 ? "$-1\r\n" : "*-1\r\n";
      case 8:
        return ",1.25\r\n";
      case 9:
        return "(" + text("0123456789") + "\r\n";
      default:
        return aggregate("*%~>"[kind - 10], depth);
    }
  }

  std::mt19937_64 random_;
};

RC_GTEST_PROP(ReplyScannerProperty, FindsTheEndOfEachReply, (std::uint64_t seed)) {
  ReplyMaker maker(seed);
  std::string bytes;
  std::vector<std::size_t> ends;
  for (int i = 0; i < 5; ++i) ends.push_back((bytes += maker.make()).size());
  const ReplyTrace trace = trace_replies(bytes, pieces_of(*piece_sizes()));
  RC_ASSERT(!trace.error);
  RC_ASSERT(trace.replies.size() == ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) RC_ASSERT(trace.replies[i].end == ends[i]);
  RC_ASSERT(trace == trace_replies(bytes));
  RC_ASSERT(same_extents(trace, trace_values(bytes)));
}

// One byte changed, dropped or cut off: the scanner, split or not, and the tree still agree.
RC_GTEST_PROP(ReplyScannerProperty, AgreesOnDamagedReplies, (std::uint64_t seed)) {
  std::string bytes = ReplyMaker(seed).make();
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  if (*rc::gen::arbitrary<bool>()) {
    bytes[at] = *rc::gen::elementOf(std::string("\r\n$*:+-|%019?\0 ", 15));
  } else {
    bytes.erase(at, *rc::gen::inRange<std::size_t>(1, 4));
  }
  const ReplyTrace trace = trace_replies(bytes);
  RC_ASSERT(trace == trace_replies(bytes, pieces_of(*piece_sizes())));
  RC_ASSERT(same_extents(trace, trace_values(bytes)));
}

}  // namespace
}  // namespace heatsink::resp

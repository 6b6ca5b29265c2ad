// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/reply_matcher.h"

#include <algorithm>
#include <charconv>

#include "heatsink/capture/packet_numbers.h"

namespace heatsink::capture {
namespace {

constexpr std::size_t kNestingBytesKept = 4096;

// Recognises a record of TLS 1.0 .. 1.3 (RFC 8446 5.1): type, version 3.x, length. RESP never
// begins like that.
bool is_tls(std::string_view bytes) {
  constexpr unsigned kRecordBytesMax = (1U << 14) + 256;
  if (bytes.size() < 5) return false;
  const unsigned type = byte_at(bytes, 0);
  const unsigned length = big16(bytes, 3);
  return type >= 0x14 && type <= 0x17 && byte_at(bytes, 1) == 3 && byte_at(bytes, 2) <= 4 &&
         length > 0 && length <= kRecordBytesMax;
}

std::uint32_t number(std::string_view text, std::uint32_t otherwise) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : otherwise;
}

}  // namespace

ReplyMatcher::ReplyMatcher(MatcherContext& context, Endpoint client, Endpoint server, bool whole,
                           bool strict, Replies replies)
    : context_(context),
      client_(client),
      server_(server),
      requests_(context.table, whole),
      matching_(replies == Replies::kNone           ? Matching::kUnwatched
                : whole && replies == Replies::kAll ? Matching::kCertain
                                                    : Matching::kLost),
      whole_(whole),
      strict_(strict && whole),
      db_known_(whole),
      is_new_watch_(replies == Replies::kFromNowOn) {}

void ReplyMatcher::take(const Arrival& arrival) {
  if (is_dead_ || (!recognised_ && !is_recognised(arrival))) return;
  if (arrival.side == Side::kClient) {
    ++context_.counters.request_segments;
    context_.counters.request_bytes += arrival.bytes.size();
  }
  arrival.side == Side::kClient ? take_requests(arrival) : take_replies(arrival);
  last_ns_ = std::max(last_ns_, arrival.at_ns);
}

// Until the first request: decides whether this connection is worth reading.
bool ReplyMatcher::is_recognised(const Arrival& arrival) {
  if (is_tls(arrival.bytes)) {
    give_up(&CaptureCounters::connections_tls);
  } else if (strict_ && arrival.side == Side::kClient && requests_.at_boundary() &&
             request_head(arrival.bytes, context_.table) == Head::kNo) {
    give_up(&CaptureCounters::connections_foreign);
  }
  return !is_dead_;
}

void ReplyMatcher::give_up(std::uint64_t CaptureCounters::*why) {
  ++(context_.counters.*why);
  finish();
  is_dead_ = true;
}

void ReplyMatcher::lose(Side side, std::uint64_t bytes) {
  if (is_dead_) return;
  if (side == Side::kClient) {
    requests_.lose();
    context_.counters.request_bytes_lost += bytes;
  }
  doubt();
}

void ReplyMatcher::watch(bool replies) {
  if (matching_ == Matching::kNever) return;
  matching_ = replies ? Matching::kLost : Matching::kUnwatched;
  is_new_watch_ = replies;
  in_reply_ = false;
  server_heard_known_ = false;
  finish();
}

void ReplyMatcher::finish() {
  while (!pending_.empty()) report_front(nullptr);
}

std::size_t ReplyMatcher::bytes() const {
  return requests_.kept_bytes() + pending_.bytes() + (in_reply_ ? nesting_bytes() : 0);
}

// The scanner needs eight bytes per open level; on the wire a level takes at least four.
std::size_t ReplyMatcher::nesting_bytes() const {
  const char type = scanner_.type();
  if (type == '$' || type == '=') return 0;
  return std::min<std::size_t>(reply_bytes_ * 2, resp::ReplyScanner::kDepthMax * 8);
}

void ReplyMatcher::take_requests(const Arrival& arrival) {
  const bool quiet = is_quiet(arrival);
  const std::uint64_t skipped = requests_.skipped();
  requests_.push(arrival.bytes);
  for (bool more = true; more && !is_dead_;) {
    switch (requests_.next()) {
      case RequestReader::Event::kNone:
        more = false;
        break;
      case RequestReader::Event::kBadBytes:
        ++context_.counters.bad_requests;
        if (!recognised_ && whole_) return give_up(&CaptureCounters::connections_foreign);
        doubt();
        break;
      case RequestReader::Event::kRequest:
        recognised_ = true;
        if (quiet && requests_.at_start()) pass_quiet_place();
        take_request(arrival);
        break;
    }
  }
  requests_.keep_rest();
  context_.counters.bytes_skipped += requests_.skipped() - skipped;
  context_.counters.request_bytes_skipped += requests_.skipped() - skipped;
  if (!recognised_ && requests_.skipped() > kForeignBytes)
    give_up(&CaptureCounters::connections_foreign);
}

void ReplyMatcher::take_request(const Arrival& arrival) {
  const CommandTraits& traits = context_.traits[requests_.command()];
  PendingCommands::Row row;
  row.command = requests_.command();
  row.at_ns = arrival.at_ns;
  row.end_seq = arrival.seq + static_cast<std::uint32_t>(arrival.bytes.size() - requests_.rest());
  row.db = db_;
  row.db_known = db_known_;
  follow_state(traits.role);
  row.keys_known = find_keys();
  row.argument_bytes = argument_bytes();
  const bool is_pushed = traits.role == CommandRole::kSubscribe && resp3_;
  const bool is_matching = matching_ == Matching::kCertain || matching_ == Matching::kTried;
  if (!is_matching || is_pushed) return report(row, nullptr);
  // The queue is full, so the reply to this command could not find it: give up matching and report
  // the command without a reply.
  if (pending_.push(row, context_.keys)) return;
  doubt();
  (void)find_keys();
  report(row, nullptr);
}

// Applies the request's effect on later requests. An error reply undoes it (take_reply).
void ReplyMatcher::follow_state(CommandRole role) {
  const std::span<const std::string_view> args = requests_.args();
  switch (role) {
    case CommandRole::kPlain:
      break;
    case CommandRole::kSelect:
      db_before_ = db_;
      if (args.size() > 1) db_ = number(args[1], db_);
      db_known_ = true;
      break;
    case CommandRole::kHello:
      if (args.size() > 1) resp3_ = args[1] == "3";
      break;
    case CommandRole::kReset:
      db_ = 0;
      db_known_ = true;
      resp3_ = false;
      break;
    case CommandRole::kSubscribe:
      if (!resp3_) never_match();
      break;
    case CommandRole::kStream:
      never_match();
      break;
  }
}

// Fills context_.keys until the next report; true if these are all keys.
bool ReplyMatcher::find_keys() {
  context_.keys.clear();
  const resp::Command* command = requests_.command();
  if (command == nullptr) return false;
  const std::span<const std::string_view> args = requests_.args();
  const resp::Keys known = resp::find_keys(*command, args, context_.refs);
  for (const resp::KeyRef& ref : context_.refs) context_.keys.push_back({args[ref.arg], ref.write});
  return known == resp::Keys::kKnown && requests_.is_whole();
}

std::uint64_t ReplyMatcher::argument_bytes() const {
  const std::span<const std::string_view> args = requests_.args();
  std::uint64_t bytes = requests_.size();
  if (requests_.is_whole()) {
    bytes = 0;
    for (const std::string_view arg : args) bytes += arg.size();
  }
  const auto leave_out = [&bytes](std::uint64_t size) { bytes -= std::min(bytes, size); };
  if (!args.empty()) leave_out(args[0].size());
  for (const CapturedKey& key : context_.keys) leave_out(key.name.size());
  return bytes;
}

void ReplyMatcher::take_replies(const Arrival& arrival) {
  server_heard_ = arrival.ack;
  server_heard_known_ = arrival.ack_known;
  std::string_view rest = arrival.bytes;
  while (!rest.empty() && (matching_ == Matching::kCertain || matching_ == Matching::kTried)) {
    if (!in_reply_) {
      in_reply_ = true;
      reply_ns_ = arrival.at_ns;
      reply_bytes_ = 0;
    }
    const resp::ScanStep step = scanner_.feed(rest);
    reply_bytes_ += step.consumed;
    rest.remove_prefix(step.consumed);
    if (step.status == resp::ScanStatus::kError) {
      ++context_.counters.bad_replies;
      doubt();
    } else if (step.status == resp::ScanStatus::kReply) {
      in_reply_ = false;
      // A RESP3 push ('>') answers no request.
      if (scanner_.type() != '>') take_reply(arrival);
      if (nesting_bytes() > kNestingBytesKept) scanner_ = resp::ReplyScanner();
    }
  }
  context_.counters.bytes_skipped += rest.size();
}

void ReplyMatcher::take_reply(const Arrival& arrival) {
  if (pending_.empty() || !answers(pending_.front(), arrival)) return doubt();
  const PendingCommands::Row& row = pending_.front();
  const CapturedReply reply = reply_of(row);
  if (reply.error) {  // the command changed nothing
    const CommandRole role = context_.traits[row.command].role;
    if (role == CommandRole::kSelect) db_ = db_before_;
    if (role == CommandRole::kHello) resp3_ = false;
  }
  report_front(matching_ == Matching::kCertain ? &reply : nullptr);
}

bool ReplyMatcher::answers(const PendingCommands::Row& row, const Arrival& arrival) const {
  // A server cannot answer a request that it had not received when it sent the reply.
  if (arrival.ack_known && distance(arrival.ack, row.end_seq) < 0) return false;
  return context_.traits[row.command].allows(scanner_.type());
}

CapturedReply ReplyMatcher::reply_of(const PendingCommands::Row& row) const {
  const char type = scanner_.type();
  const bool is_text = type == '$' || type == '=';
  CapturedReply reply;
  reply.error = type == '-' || type == '!';
  reply.null = type == '_' || scanner_.announced() < 0;
  if (is_text && !reply.null) {
    reply.bytes = static_cast<std::uint64_t>(scanner_.announced());
  } else if (!reply.null && !reply.error && type != '+') {
    reply.bytes = reply_bytes_;
  }
  if (!context_.traits[row.command].is_blocking)
    reply.latency = Nanos(std::max<std::int64_t>(reply_ns_ - row.at_ns, 0));
  return reply;
}

bool ReplyMatcher::is_quiet(const Arrival& arrival) const {
  return pending_.empty() && !in_reply_ && arrival.ack_known && server_heard_known_ &&
         arrival.ack == arrival.heard && server_heard_ == arrival.seq &&
         arrival.at_ns - last_ns_ >= kQuiet.count();
}

void ReplyMatcher::pass_quiet_place() {
  if (matching_ == Matching::kTried) {
    matching_ = Matching::kCertain;
    is_new_watch_ = false;
  }
  if (matching_ != Matching::kLost) return;
  matching_ = Matching::kTried;
  scanner_ = resp::ReplyScanner();
}

// The match of replies to requests is no longer certain: report all waiting commands without
// replies.
void ReplyMatcher::doubt() {
  if (matching_ == Matching::kNever || matching_ == Matching::kUnwatched) return;
  if (matching_ == Matching::kCertain) ++context_.counters.matching_lost;
  matching_ = Matching::kLost;
  in_reply_ = false;
  finish();
}

void ReplyMatcher::never_match() {
  doubt();
  matching_ = Matching::kNever;
}

void ReplyMatcher::report_front(const CapturedReply* reply) {
  const PendingCommands::Row row = pending_.front();
  pending_.front_keys(context_.keys);
  report(row, reply);
  pending_.pop();
}

void ReplyMatcher::report(const PendingCommands::Row& row, const CapturedReply* reply) {
  CapturedCommand told;
  told.at_ns = row.at_ns;
  told.client = client_;
  told.server = server_;
  told.command = row.command;
  told.keys = context_.keys;
  told.keys_known = row.keys_known;
  told.db = row.db;
  told.db_known = row.db_known;
  told.argument_bytes = row.argument_bytes;
  if (reply != nullptr) told.reply = *reply;
  CaptureCounters& counters = context_.counters;
  ++counters.commands;
  const bool is_unwatched = matching_ == Matching::kUnwatched || is_new_watch_;
  ++(reply != nullptr ? counters.commands_answered
     : is_unwatched   ? counters.commands_unwatched
                      : counters.commands_unmatched);
  if (!row.db_known) ++counters.commands_db_assumed;
  context_.on_command(told);
}

}  // namespace heatsink::capture

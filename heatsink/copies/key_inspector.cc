// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/key_inspector.h"

#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::copies {

struct KeyInspector::Connection {
  Connection(net::EventLoop& loop, NodeState& shared)
      : pipeline({.credentials = shared.credentials(),
                  .name = "heatsink-inspector",
                  // The question's deadline gives a better message.
                  .response_timeout = 2 * kAnswerWithin}),
        socket(loop, shared.upstream_address, pipeline, shared.connection_options(),
               "details of keys") {}

  redis::Pipeline pipeline;
  redis::ServerConnection socket;
};

KeyInspector::KeyInspector(net::EventLoop& loop, NodeState& shared)
    : loop_(loop), shared_(shared) {}

KeyInspector::~KeyInspector() = default;

void KeyInspector::Question::end(const std::string& problem) {
  if (const Done callback = std::exchange(done, {})) callback(facts, problem);
}

void KeyInspector::ask(std::string_view name, std::uint32_t db, TimePoint now, Done done) {
  if (questions_.size() >= kQuestionsMax)
    return done({}, "too many questions about keys at once: try again later");
  asked_at_ = now;
  auto question = std::make_shared<Question>();
  question->answer_by = now + kAnswerWithin;
  question->done = std::move(done);
  questions_.push_back(question);
  const bool is_new = connection_ == nullptr;
  if (is_new) connection_ = std::make_unique<Connection>(loop_, shared_);
  const auto requests = redis::value_questions(db, name);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::vector<std::string_view> words(requests[i].begin(), requests[i].end());
    connection_->pipeline.ask(
        words, [question, i](const Result<resp::Value>& reply) { take(*question, i, reply); }, now);
  }
  if (is_new) connection_->socket.connect();
  connection_->socket.flush();
}

// The connection may outlive a question's deadline. end() ignores late replies.
void KeyInspector::take(Question& question, std::size_t part, const Result<resp::Value>& reply) {
  if (!reply.ok()) return question.end(reply.error().message);
  redis::take_value_reply(part, *reply, question.facts);
  if (part + 1 < redis::kValueQuestions) return;
  const std::string& refusal = question.facts.refusal;
  question.end(refusal.empty() ? "" : "the server replied: " + one_line(refusal, 200));
}

void KeyInspector::tick(TimePoint now) {
  if (connection_ == nullptr) return;
  connection_->socket.tick();
  for (const auto& question : questions_) {
    if (now >= question->answer_by)
      question->end("the server did not answer within " + format_duration(kAnswerWithin));
  }
  std::erase_if(questions_, [](const auto& question) { return !question->done; });
  if (questions_.empty() && now - asked_at_ >= kKeptFor) connection_.reset();
}

}  // namespace heatsink::copies

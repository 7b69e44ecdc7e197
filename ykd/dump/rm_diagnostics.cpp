// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/rm_diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace yk::service {
namespace {

constexpr std::size_t kDeepest = 24; // levels, so that a reply that holds it stays below 32 (I-316)

/// How deeply lists and maps of a JSON text are nested. Costs O(bytes), and no memory.
std::size_t depth_of(std::string_view json) {
    std::size_t depth = 0;
    std::size_t deepest = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (quoted && c == '\\') {
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == '{' || c == '[')) {
            deepest = std::max(deepest, ++depth);
        } else if (!quoted && (c == '}' || c == ']') && depth > 0) {
            --depth;
        }
    }
    return deepest;
}

Value error_value(std::string text) {
    return {{"Error", std::move(text)}};
}

Value value_of(const CallReply& reply, std::size_t max_bytes) {
    using Outcome = CallReply::Outcome;
    switch (reply.outcome) {
    case Outcome::TimedOut:
        return error_value(fmt::format("no answer within {} s",
                                       std::chrono::duration_cast<std::chrono::seconds>(kStateDumpLimit).count()));
    case Outcome::Gone: return error_value("its registration ended meanwhile");
    case Outcome::Failed: return error_value(reply.error.empty() ? "it gave no reason" : reply.error);
    case Outcome::Answered: break;
    }
    return diagnostics_value(reply.body.state_dump, max_bytes);
}

/// The answers on their way. Owner: the closures that wait. Thread: each slot is written by one thread.
struct Asked {
    std::vector<RmPtr> rms;
    std::vector<Value> answers;
    std::atomic<std::size_t> missing{0};
    std::size_t max_bytes = 0; // of each answer
    Workers* workers = nullptr;
    std::function<void(Value)> done;

    void settle(std::size_t at, Value answer, const std::shared_ptr<Asked>& self) {
        answers[at] = std::move(answer);
        if (--missing != 0) return;
        workers->post([self] {
            Value all = Value::object();
            for (std::size_t i = 0; i < self->rms.size(); ++i) all[self->rms[i]->id] = std::move(self->answers[i]);
            self->done(std::move(all));
        });
    }
};

void ask(const std::shared_ptr<Asked>& asked, std::size_t at) {
    asked->rms[at]->owner.control(
        [asked, at](RmOwner& owner) {
            if (owner.context() == nullptr || owner.state() == si::CoreState::Lost)
                return asked->settle(at, error_value("it has to register anew"), asked);
            owner.writer().state_wanted(owner.begin_call(
                [asked, at](const CallReply& reply) { asked->settle(at, value_of(reply, asked->max_bytes), asked); }));
        },
        [asked, at] {
            asked->settle(at, value_of({CallReply::Outcome::Gone, {}, {}}, asked->max_bytes), asked);
        });
}

} // namespace

Value diagnostics_value(std::string_view json, std::size_t max_bytes) {
    if (depth_of(json) > kDeepest)
        return error_value(fmt::format("the state is nested deeper than {} levels", kDeepest));
    const auto parsed =
        nlohmann::json::parse(json, nullptr, false); // not as a Value: its keys are looked up one by one
    if (parsed.is_discarded()) return error_value("the state is no JSON text");
    Value value(parsed);
    if (const std::size_t size = wire::encoded_value(value).size(); size > max_bytes)
        return error_value(fmt::format("the state has {} bytes, there is room for {}", size, max_bytes));
    return value;
}

void ask_rm_states(const std::vector<RmPtr>& rms, Workers& workers, std::size_t most, std::function<void(Value)> done) {
    auto asked = std::make_shared<Asked>();
    for (const RmPtr& rm : rms) {
        const auto able = rm->facts().capabilities;
        if (std::find(able.begin(), able.end(), "stateDump") != able.end()) asked->rms.push_back(rm);
    }
    asked->workers = &workers;
    if (asked->rms.empty()) return done({{"empty", "no resource manager has capability stateDump"}});
    asked->max_bytes = most / 2 / asked->rms.size();
    asked->answers.resize(asked->rms.size());
    asked->missing = asked->rms.size();
    asked->done = std::move(done);
    for (std::size_t i = 0; i < asked->rms.size(); ++i) ask(asked, i);
}

} // namespace yk::service

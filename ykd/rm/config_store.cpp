// SPDX-License-Identifier: Apache-2.0
#include "ykd/rm/config_store.h"

#include <fmt/format.h>

#include <utility>

#include "libcore/base/check.h"

namespace yk::service {
namespace {

/// Why the RM did not store it; nullopt: it did.
std::optional<std::string> refusal_of(const CallReply& reply) {
    using Outcome = CallReply::Outcome;
    switch (reply.outcome) {
    case Outcome::TimedOut:
        return fmt::format("it did not answer within {} s",
                           std::chrono::duration_cast<std::chrono::seconds>(kConfigStoreLimit).count());
    case Outcome::Gone: return "its registration ended meanwhile";
    case Outcome::Failed: return reply.error.empty() ? "it gave no reason" : reply.error;
    case Outcome::Answered: break;
    }
    if (reply.body.success) return std::nullopt;
    return reply.body.reason.empty() ? "it gave no reason" : reply.body.reason;
}

} // namespace

void ConfigStore::in_turn(RmOwner& owner, Step step) {
    owner.assert_owner_thread();
    if (storing_) return waiting_.push_back(std::move(step));
    step(owner);
}

void ConfigStore::store(RmOwner& owner, std::string_view text, Done done) {
    YK_ASSUME(!storing_, "one configuration is stored at a time");
    owner.assert_owner_thread();
    storing_ = true;
    const std::uint64_t call = owner.begin_call([this, &owner, done = std::move(done)](const CallReply& reply) {
        storing_ = false;
        done(owner, refusal_of(reply));
        run_waiting(owner);
    });
    owner.writer().config_to_store(call, text);
}

void ConfigStore::run_waiting(RmOwner& owner) {
    while (!storing_ && !waiting_.empty()) {
        const Step step = std::move(waiting_.front());
        waiting_.pop_front();
        step(owner);
    }
}

} // namespace yk::service

// SPDX-License-Identifier: Apache-2.0
#include "ykd/request/user_lookup.h"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <utility>

#include "ykd/request/call.h"

namespace yk::service {

/// The lookups of one request. Owner: the closure of the next step.
class UserLookup::OfRequest : public std::enable_shared_from_this<OfRequest> {
public:
    OfRequest(UserLookup& by, CallPtr call, std::vector<std::string> users, Then then)
        : by_(by),
          call_(std::move(call)),
          who_(fmt::format("{} {}", call_->session ? call_->session->grant.name : std::string{},
                           si::info(call_->kind).name)),
          users_(std::move(users)),
          then_(std::move(then)) {}

    void begin() {
        const std::lock_guard lock(mutex_);
        // The name service may hang: then the request goes on without its answers.
        end_of_time_ = by_.deadlines_.call_at(call_->deadline(), [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->end();
        });
        take_turn();
    }

private:
    void take_turn() {
        by_.names_.post(who_, [self = shared_from_this()] { self->ask_one(); });
    }

    /// Looks one user up. Thread: that of the NameService.
    void ask_one() {
        if (has_ended()) return;
        if (!call_->mutating && call_->peer().is_gone()) return end(); // the answer would reach nobody
        const std::string& user = users_[next_++];
        GroupsAnswer answer = by_.lookup_(user);
        const std::lock_guard lock(mutex_);
        if (ended_) return;
        answers_.emplace(user, std::move(answer));
        next_ == users_.size() ? end_locked() : take_turn();
    }

    [[nodiscard]] bool has_ended() {
        const std::lock_guard lock(mutex_);
        return ended_;
    }
    void end() {
        const std::lock_guard lock(mutex_);
        if (!ended_) end_locked();
    }
    void end_locked() {
        ended_ = true;
        by_.deadlines_.cancel(end_of_time_);
        by_.workers_.post(source_of(*call_), [self = shared_from_this()] {
            const bool complete = self->answers_.size() == self->users_.size();
            self->then_(std::move(self->answers_), complete);
        });
    }

    UserLookup& by_;
    const CallPtr call_;
    const std::string who_;
    const std::vector<std::string> users_; // each once
    const Then then_;
    std::size_t next_ = 0; // index of the next user. Thread: that of the NameService
    std::mutex mutex_;
    LookedUp answers_; // guarded by mutex_ until ended_, then only the last step uses it
    bool ended_ = false;
    Deadlines::Key end_of_time_{};
};

void UserLookup::look_up(const CallPtr& call, std::vector<std::string> users, Then then) {
    if (users.empty()) return then({}, true);
    std::make_shared<OfRequest>(*this, call, std::move(users), std::move(then))->begin();
}

} // namespace yk::service

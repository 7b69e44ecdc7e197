#include "ykd/service/user_lookup.h"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <utility>

#include "ykd/service/call.h"
#include "ykd/service/daemon.h"

namespace yk::service {
namespace {

/// The users of one request. Owner: the closure of the step that comes next.
class UserLookup : public std::enable_shared_from_this<UserLookup> {
public:
    UserLookup(CallPtr call, std::vector<std::string> users, LookedUpThen then, GroupLookup lookup)
        : call_(std::move(call)),
          who_(fmt::format("{} {}", call_->session ? call_->session->grant.name : std::string{},
                           si::info(call_->kind).name)),
          users_(std::move(users)),
          then_(std::move(then)),
          lookup_(std::move(lookup)) {}

    void begin() {
        const std::lock_guard lock(mutex_);
        // The service may hang: then the request ends without its answer.
        end_of_time_ = call_->daemon().deadlines().call_at(call_->deadline(), [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->end();
        });
        take_turn();
    }

private:
    void take_turn() {
        call_->daemon().name_service().post(who_, [self = shared_from_this()] { self->ask_one(); });
    }

    /// Thread: the name service's.
    void ask_one() {
        if (has_ended()) return;
        if (!call_->mutating && call_->peer().is_gone()) return end(); // nobody hears the answer
        const std::string& user = users_[next_++];
        GroupsAnswer answer = lookup_(user);
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
        call_->daemon().deadlines().cancel(end_of_time_);
        call_->daemon().workers().post([self = shared_from_this()] {
            const bool complete = self->answers_.size() == self->users_.size();
            self->then_(std::move(self->answers_), complete);
        });
    }

    const CallPtr call_;
    const std::string who_;
    const std::vector<std::string> users_; // each once
    const LookedUpThen then_;
    const GroupLookup lookup_;
    std::size_t next_ = 0; // of the users. Thread: the name service's
    std::mutex mutex_;
    LookedUp answers_; // nobody's but the last step's when it has ended
    bool ended_ = false;
    Deadlines::Key end_of_time_{};
};

} // namespace

void look_up_users(const CallPtr& call, std::vector<std::string> users, LookedUpThen then, GroupLookup lookup) {
    if (users.empty()) return then({}, true);
    std::make_shared<UserLookup>(call, std::move(users), std::move(then), std::move(lookup))->begin();
}

} // namespace yk::service

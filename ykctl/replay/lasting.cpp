// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/lasting.h"

#include <utility>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "protocol/rm/answers.h"
#include "protocol/rm/loss.h"
#include "protocol/si/messages.h"

namespace yk::replay {

using wire::CallError;
using wire::CallResult;
using wire::Value;

Lasting::Lasting(Reach reach, std::string rm_id)
    : reach_(std::move(reach)),
      rm_id_(std::move(rm_id)),
      boot_id_(reach_.boot_id()),
      session_id_(reach_.session_id()) {}

CallResult<Value> Lasting::ask(const Make& make) {
    for (;;) {
        YK_CHECKED(catch_up());
        auto answer = reach_.send(make(), false);
        YK_TRY(settled, settle(answer));
        if (settled == Settled::Answered) return answer;
    }
}

Lasting::Done Lasting::change(wire::EncodedRequest request) {
    if (changes_.size() >= kMostUnconfirmed) YK_CHECKED(sync());
    changes_.push_back(std::move(request));
    return catch_up();
}

Lasting::Done Lasting::sync() {
    si::SyncRequest request;
    request.rm_id = rm_id_;
    const auto answer = ask([&] { return request; });
    if (!answer.ok()) return answer.error();
    changes_.clear();
    sent_ = 0;
    is_registered_ = true;
    return {};
}

/// Sends what has not been answered by this run of the daemon.
Lasting::Done Lasting::catch_up() {
    bool again = false;
    while (is_to_find_ || sent_ < changes_.size()) {
        if (is_to_find_) {
            YK_CHECKED(find_rm());
            again = false;
            continue;
        }
        YK_TRY(settled, settle(reach_.send(changes_[sent_], again)));
        again = settled == Settled::Again;
        if (settled == Settled::Answered) ++sent_;
    }
    return {};
}

/// Asks a restarted daemon for the RM, once.
Lasting::Done Lasting::find_rm() {
    const auto answer = reach_.send(si::PingRequest{rm_id_}, false);
    const auto settled = settle(answer);
    is_lost_ = !settled.ok();
    if (!settled.ok()) return settled.error();
    if (*settled != Settled::Answered) return {};
    if (rm::core_state_of(*answer, "state") == si::CoreState::Failed) {
        is_lost_ = true;
        return rm::failure(CallError::Kind::Refused, "the recovery of RM " + rm_id_ + " failed");
    }
    is_to_find_ = false;
    reach_.note(fmt::format("ykd was restarted and has RM {} back; going on, {} sent again", rm_id_,
                            pluralize(changes_.size(), "request")));
    return {};
}

CallResult<Lasting::Settled> Lasting::settle(const CallResult<Value>& answer) {
    const auto is_same_session = [this] { return reach_.boot_id() == boot_id_ && reach_.session_id() == session_id_; };
    const auto loss = answer.ok() ? rm::Loss::Everything : rm::loss_of(answer.error(), true);
    // A daemon that is busy while the replay runs, as with a full disk, will not be so for ever.
    const bool is_cut = loss == rm::Loss::Daemon || (loss == rm::Loss::Nothing && is_registered_);
    if (is_cut && is_same_session()) {
        const auto back = reach_.wait_for_daemon ? reach_.wait_for_daemon(answer.error()) : Done{answer.error()};
        is_lost_ = !back.ok() && loss == rm::Loss::Daemon;
        if (!back.ok()) return back.error();
    }
    const auto cut = is_same_session() ? Settled::Again : Settled::Anew;
    session_id_ = reach_.session_id();
    if (boot_id_ != reach_.boot_id()) {
        note_restart();
        return Settled::Anew;
    }
    if (is_cut) return cut;
    if (!answer.ok()) return answer.error();
    return Settled::Answered;
}

void Lasting::note_restart() {
    boot_id_ = reach_.boot_id();
    ++restarts_;
    sent_ = 0;
    is_to_find_ = is_registered_;
}

} // namespace yk::replay

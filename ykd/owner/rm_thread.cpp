// SPDX-License-Identifier: Apache-2.0
#include "ykd/owner/rm_thread.h"

#include <utility>

namespace yk {
namespace {

/// A task made of two closures.
class Closure final : public OwnerTask {
public:
    Closure(std::function<void(RmOwner&)> call, RmThread::Gone on_closed)
        : call_(std::move(call)), on_closed_(std::move(on_closed)) {}
    void run(RmOwner& owner) override { call_(owner); }
    void gone(bool /*accepted*/) override { on_closed_(); }

private:
    std::function<void(RmOwner&)> call_;
    RmThread::Gone on_closed_;
};

} // namespace

RmThread::RmThread(std::string rm_id, const OwnerOptions& options, Instant now, EventRing& ring, TallyBoard& tally,
                   RmOwner::Hooks hooks)
    : shared_(std::move(rm_id), options.inbound, options.outbound, options.virtual_clock, now),
      owner_(shared_, options, now, ring, tally, std::move(hooks)) {
    thread_.start(
        "owner", [this] { owner_.run(); }, [this] { return owner_.turn_if_due(); });
}

RmThread::~RmThread() {
    stop();
}

void RmThread::stop() {
    shared_.stopping.store(true);
    shared_.mailbox.wake();
    thread_.end();
    shared_.mailbox.close(RmShared::hand_back);
}

void RmThread::control(std::function<void(RmOwner&)> call, Gone on_closed) {
    OwnerTaskPtr task = std::make_unique<Closure>(std::move(call), std::move(on_closed));
    if (!shared_.mailbox.push_control(task)) task->gone(false);
}

void RmThread::in_order(std::function<void(RmOwner&)> call, Gone on_closed) {
    OwnerTaskPtr task = std::make_unique<Closure>(std::move(call), std::move(on_closed));
    std::uint64_t position = 0;
    // Never refused: a load without bytes always fits the line.
    if (shared_.mailbox.push_work(task, Load{1, 0}, SteadyClock::time_point::max(), position) == PushOutcome::Closed)
        task->gone(false);
}

void RmThread::at_rest(Duration most, std::function<void(RmOwner&)> call, Gone on_closed) {
    const auto until = SteadyClock::now() + most;
    // The look comes in a later turn than the inputs, since the cycles for these follow them.
    in_order([this, until, call = std::move(call), on_closed](RmOwner&) { look_for_rest(until, call, on_closed); },
             on_closed);
}

/// Calls `call` in the first turn after which there is nothing more to schedule.
void RmThread::look_for_rest(SteadyClock::time_point until, std::function<void(RmOwner&)> call, Gone on_closed) {
    control(
        [this, until, call = std::move(call), on_closed](RmOwner& owner) {
            if (owner.more_to_schedule_ && SteadyClock::now() < until) return look_for_rest(until, call, on_closed);
            call(owner);
        },
        on_closed);
}

void RmThread::begin_shutdown() {
    const Gone nothing = [] {}; // an owner that is closed needs no stop
    control([](RmOwner& owner) { owner.finishing_ = true; }, nothing);
    in_order(
        [](RmOwner& owner) { // after the inputs that were accepted before
            owner.writer_.notice("SHUTDOWN", "the daemon is stopping", {});
            owner.flush();
            owner.shared_.stream.finish();
            owner.shared_.ended.store(true);
        },
        nothing);
}

} // namespace yk

// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreGateway: the core of one RM, and the one way to change it: by SI messages and by what the daemon itself decides,
// each with its time. The commands, and the callbacks and events that they cause, are recorded here if that is wanted.
// Whoever only reads uses context() or read(), of which nothing is recorded.
//
// Owner: RmOwner, or a playback. Thread: the owner thread of the RM, which owner_thread() checks when it is bound.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/owner_thread.h"
#include "libcore/cluster/cluster_context.h"
#include "protocol/si/messages.h"
#include "ykd/core_gateway/translate.h"
#include "ykd/recording/recording.h"

namespace yk {

class CoreGateway {
public:
    /// `recording`: nullptr for none. `callbacks` and `events` must outlive this object.
    CoreGateway(std::string rm_id, const Settings& settings, Callbacks& callbacks, EventSink& events,
                Translator::Warn warn, std::unique_ptr<RecordingWriter> recording);
    ~CoreGateway();

    [[nodiscard]] const ClusterContext& context() const {
        thread_.assert_here();
        return *context_;
    }
    [[nodiscard]] const PartitionState* read(std::string_view partition) {
        thread_.assert_here();
        return context_->read(partition);
    }
    [[nodiscard]] Explanation explain_preemption(std::string_view partition, std::string_view application,
                                                 std::string_view key, Instant now) {
        thread_.assert_here();
        return context_->explain_preemption(partition, application, key, now);
    }
    [[nodiscard]] std::vector<std::string> check() {
        thread_.assert_here();
        return context_->check();
    }

    [[nodiscard]] const ClusterRecovery& recovery() const {
        thread_.assert_here();
        return context_->recovery();
    }

    // Commands: each does what the function of this name in ClusterContext does, and is recorded.
    [[nodiscard]] Result<void> configure(const config::Configuration& config, Instant now);
    void set_settings(const Settings& settings, Instant now);
    void set_rm_calls(const RmCallOptions& options, Instant now);
    void apply(const si::AllocationRequest& message, Instant now);
    /// The users of `message` are resolved; `user_faults` has one text for each of message.add, empty for a user that
    /// is.
    void apply(const si::ApplicationRequest& message, std::span<const std::string> user_faults, Instant now);
    void apply(const si::NodeRequest& message, Instant now);
    /// An answer of the RM to a call of the core; false: no ask waits for it.
    bool apply(std::uint64_t call, const CallReply& reply, Instant now);
    void fire_timers(Instant now);
    CycleOutcome cycle(Instant now, CycleObserver* observer = nullptr) {
        thread_.assert_here();
        if (!recording_) return context_->cycle(now, observer);
        recording_->cycle(now);
        const CycleOutcome outcome = context_->cycle(now, observer);
        recording_->cycled(outcome.allocations);
        return outcome;
    }
    void drop_everything(Instant now);
    // Of ClusterRecovery: begin(), end() and forget_tombstones().
    void begin_recovery(bool force_applications, Instant now);
    void end_recovery(Instant now);
    void forget_tombstones(Instant now);

    /// Writes what was recorded so far to the file.
    void flush_recording() {
        thread_.assert_here();
        if (recording_) recording_->flush();
    }

    /// For the owner thread to bind.
    [[nodiscard]] OwnerThread& owner_thread() { return thread_; }

private:
    class Tee;

    void record_recovery(std::string_view step, Instant now);
    template <class Message>
    void record(std::string_view what, const Message& message, Instant now);

    [[no_unique_address]] OwnerThread thread_;
    std::unique_ptr<RecordingWriter> recording_; // nullptr: nothing is recorded
    std::unique_ptr<Tee> tee_;                   // nullptr without a recording: the core calls the ports directly
    std::unique_ptr<ClusterContext> context_;
    Translator translator_;
};

} // namespace yk

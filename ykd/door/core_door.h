#pragma once
// CoreDoor: the core of one RM, and the one way to change it: SI messages and what the daemon itself decides, each with
// its time. What goes in and what comes out is recorded here if that is wanted; reading goes past the door.
//
// Owner: RmOwner, or a playback. Thread: the owner thread of the RM.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/scheduler/cluster_context.h"
#include "protocol/si/messages.h"
#include "ykd/door/recording.h"
#include "ykd/door/translate.h"

namespace yk {

class CoreDoor {
public:
    /// `recording`: nullptr for none. The ports outlive this object.
    CoreDoor(std::string rm_id, const Settings& settings, Callbacks& callbacks, EventSink& events,
             Translator::Warn warn, std::unique_ptr<RecordingWriter> recording);
    ~CoreDoor();

    [[nodiscard]] const ClusterContext& context() const { return *context_; }

    // Each as in ClusterContext.
    [[nodiscard]] Result<void> configure(const config::Configuration& config, Instant now);
    void set_settings(const Settings& settings, Instant now);
    void set_rm_calls(const RmCallOptions& options, Instant now);
    void apply(const si::AllocationRequest& message, Instant now);
    /// `message` with resolved users; `user_faults`: one text for each of message.add.
    void apply(const si::ApplicationRequest& message, std::span<const std::string> user_faults, Instant now);
    void apply(const si::NodeRequest& message, Instant now);
    bool apply(std::uint64_t call, const CallReply& reply, Instant now);
    void fire_timers(Instant now);
    CycleOutcome cycle(Instant now, CycleObserver* observer = nullptr) {
        if (!recording_) return context_->cycle(now, observer);
        recording_->cycle(now);
        const CycleOutcome outcome = context_->cycle(now, observer);
        recording_->cycled(outcome.allocations);
        return outcome;
    }
    void drop_everything(Instant now);

    /// What was recorded so far is in the file.
    void flush_recording() {
        if (recording_) recording_->flush();
    }

private:
    class Tee;

    template <class Message>
    void record(std::string_view what, const Message& message, Instant now);

    std::unique_ptr<RecordingWriter> recording_;
    std::unique_ptr<Tee> tee_;
    std::unique_ptr<ClusterContext> context_;
    Translator translator_;
};

} // namespace yk

// SPDX-License-Identifier: Apache-2.0
#include "ykd/core_gateway/core_gateway.h"

#include <utility>

#include "libcore/config_yaml/dump.h"
#include "protocol/wire/codec.h"

namespace yk {

/// Hands every callback and event of the core to the recording and then to the ports. A transcript
/// has no line for application_ended and carried_out, which go to the ports only.
class CoreGateway::Tee final : public Callbacks, public EventSink {
public:
    Tee(Callbacks& callbacks, EventSink& events, Transcript& transcript)
        : callbacks_(callbacks), events_(events), transcript_(transcript) {}

    void allocation_made(const NewAllocation& allocation) noexcept override {
        transcript_.allocation_made(allocation);
        callbacks_.allocation_made(allocation);
    }
    void allocations_released(std::span<const ReleasedAllocation> released) noexcept override {
        transcript_.allocations_released(released);
        callbacks_.allocations_released(released);
    }
    void asks_rejected(std::span<const RejectedAsk> rejected, bool placements) noexcept override {
        transcript_.asks_rejected(rejected, placements);
        callbacks_.asks_rejected(rejected, placements);
    }
    void releases_ignored(std::span<const IgnoredRelease> ignored) noexcept override {
        transcript_.releases_ignored(ignored);
        callbacks_.releases_ignored(ignored);
    }
    void applications_answered(std::span<const AcceptedApplication> accepted,
                               std::span<const RejectedApplication> rejected) noexcept override {
        transcript_.applications_answered(accepted, rejected);
        callbacks_.applications_answered(accepted, rejected);
    }
    void application_updated(const UpdatedApplication& updated) noexcept override {
        transcript_.application_updated(updated);
        callbacks_.application_updated(updated);
    }
    void nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                        std::span<const RefusedNode> failed) noexcept override {
        transcript_.nodes_answered(accepted, rejected, failed);
        callbacks_.nodes_answered(accepted, rejected, failed);
    }
    void ask_outstanding(std::string_view application, std::string_view key,
                         std::string_view reason) noexcept override {
        transcript_.ask_outstanding(application, key, reason);
        callbacks_.ask_outstanding(application, key, reason);
    }
    void predicates_wanted(const PredicatesCall& call) noexcept override {
        transcript_.predicates_wanted(call);
        callbacks_.predicates_wanted(call);
    }
    void preemption_wanted(const PreemptionCall& call) noexcept override {
        transcript_.preemption_wanted(call);
        callbacks_.preemption_wanted(call);
    }
    void carried_out(const LateCommand& command) noexcept override { callbacks_.carried_out(command); }
    void record(const EventRecord& event) noexcept override {
        transcript_.record(event);
        events_.record(event);
    }
    void application_ended(const ApplicationView& application) noexcept override {
        events_.application_ended(application);
    }

private:
    Callbacks& callbacks_;
    EventSink& events_;
    Transcript& transcript_;
};

CoreGateway::CoreGateway(std::string rm_id, const Settings& settings, Callbacks& callbacks, EventSink& events,
                         Translator::Warn warn, std::unique_ptr<RecordingWriter> recording)
    : recording_(std::move(recording)),
      tee_(recording_ ? std::make_unique<Tee>(callbacks, events, *recording_) : nullptr),
      context_(recording_ ? std::make_unique<ClusterContext>(std::move(rm_id), settings, *tee_, *tee_)
                          : std::make_unique<ClusterContext>(std::move(rm_id), settings, callbacks, events)),
      translator_(std::move(warn)) {}

CoreGateway::~CoreGateway() = default;

template <class Message>
void CoreGateway::record(std::string_view what, const Message& message, Instant now) {
    if (!recording_) return;
    recording_->command(what, now, 1, [&](wire::Packer& packer) {
        packer.key("body");
        packer.binary(wire::encoded(message));
    });
}

Result<void> CoreGateway::configure(const config::Configuration& config, Instant now) {
    thread_.assert_here();
    if (recording_)
        recording_->command(recorded::kConfigure, now, 1,
                            [&](wire::Packer& packer) { packer.field("text", config_yaml::dump(config)); });
    auto done = context_->configure(config, now);
    if (recording_ && !done.ok()) recording_->refused(done.error().message); // without the location in the text
    return done;
}

void CoreGateway::set_settings(const Settings& settings, Instant now) {
    thread_.assert_here();
    if (recording_)
        recording_->command(recorded::kSettings, now, 1, [&](wire::Packer& packer) {
            packer.key("settings");
            pack_settings(packer, settings);
        });
    context_->set_settings(settings, now);
}

void CoreGateway::set_rm_calls(const RmCallOptions& options, Instant now) {
    thread_.assert_here();
    if (recording_)
        recording_->command(recorded::kCalls, now, 4, [&](wire::Packer& packer) {
            packer.key("predicates");
            packer.boolean(options.predicates);
            packer.key("preemptionPredicates");
            packer.boolean(options.preemption_predicates);
            packer.key("batch");
            packer.natural(options.batch);
            packer.key("inFlight");
            packer.natural(options.in_flight);
        });
    context_->set_rm_calls(options);
}

void CoreGateway::apply(const si::AllocationRequest& message, Instant now) {
    thread_.assert_here();
    record(recorded::kAllocations, message, now);
    context_->apply(translator_.translate(message), now);
}

void CoreGateway::apply(const si::ApplicationRequest& message, std::span<const std::string> user_faults, Instant now) {
    thread_.assert_here();
    if (recording_)
        recording_->command(recorded::kApplications, now, 2, [&](wire::Packer& packer) {
            packer.key("body");
            packer.binary(wire::encoded(message));
            packer.key("userFaults");
            packer.list(user_faults.size());
            for (const std::string& fault : user_faults) packer.text(fault);
        });
    context_->apply(translator_.translate(message, user_faults), now);
}

void CoreGateway::apply(const si::NodeRequest& message, Instant now) {
    thread_.assert_here();
    record(recorded::kNodes, message, now);
    context_->apply(translator_.translate(message), now);
}

bool CoreGateway::apply(std::uint64_t call, const CallReply& reply, Instant now) {
    thread_.assert_here();
    if (recording_)
        recording_->command(recorded::kAnswer, now, 4, [&](wire::Packer& packer) {
            packer.key("call");
            packer.natural(call);
            packer.key("outcome");
            packer.natural(static_cast<std::uint64_t>(reply.outcome));
            packer.field("error", reply.error);
            packer.key("body");
            packer.binary(wire::encoded(reply.body));
        });
    const bool waited_for = context_->apply(Translator::translate(call, reply), now);
    if (recording_ && !waited_for) recording_->refused("nobody waits for it");
    return waited_for;
}

void CoreGateway::fire_timers(Instant now) {
    thread_.assert_here();
    if (recording_) recording_->command(recorded::kTimers, now);
    context_->fire_timers(now);
}

void CoreGateway::record_recovery(std::string_view step, Instant now) {
    thread_.assert_here();
    if (recording_)
        recording_->command(recorded::kRecovery, now, 1, [step](wire::Packer& packer) { packer.field("step", step); });
}

void CoreGateway::begin_recovery(bool force_applications, Instant now) {
    record_recovery(force_applications ? recorded::kBeginForced : recorded::kBegin, now);
    context_->recovery().begin(force_applications);
}

void CoreGateway::end_recovery(Instant now) {
    record_recovery(recorded::kEndRecovery, now);
    context_->recovery().end(now);
}

void CoreGateway::forget_tombstones(Instant now) {
    record_recovery(recorded::kForget, now);
    context_->recovery().forget_tombstones();
}

void CoreGateway::drop_everything(Instant now) {
    thread_.assert_here();
    if (recording_) recording_->command(recorded::kEnd, now);
    context_->drop_everything(now);
}

} // namespace yk

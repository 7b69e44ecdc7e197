// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/update_service.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/si/request_item.h"
#include "protocol/wire/codec.h"
#include "ykd/process/log.h"
#include "ykd/request/rm_checks.h"

namespace yk::service {
namespace {

constexpr std::string_view kFullQueue = " (inboundMaxItems and inboundMaxBytes of ykd.conf); send it again";

/// How many elements of the inbound limit a request takes.
std::uint64_t count_elements(const si::AllocationRequest& request) {
    return request.asks.size() + request.allocations.size() + request.releases.allocations_to_release.size() +
           request.releases.allocation_asks_to_release.size();
}
std::uint64_t count_elements(const si::ApplicationRequest& request) {
    return request.add.size() + request.remove.size();
}
std::uint64_t count_elements(const si::NodeRequest& request) {
    std::uint64_t count = request.nodes.size();
    for (const si::NodeInfo& node : request.nodes) count += node.existing_allocations.size();
    return count;
}

/// Whether the request may make the RM hold more than before. One that only removes is never refused for lack of
/// memory.
bool adds(const si::AllocationRequest& request) {
    return !request.asks.empty() || !request.allocations.empty();
}
bool adds(const si::ApplicationRequest& request) {
    return !request.add.empty();
}
bool adds(const si::NodeRequest& request) {
    return std::any_of(request.nodes.begin(), request.nodes.end(), [](const si::NodeInfo& node) {
        return node.action == si::NodeAction::Create || node.action == si::NodeAction::CreateDrain ||
               !node.existing_allocations.empty();
    });
}

/// What MCS would not hear of, if it was done to its own RM by another one: nodes, whatever is done to them, and what
/// is asked for. What is released is announced to it, and what is removed it finds (rs R-104).
bool goes_unheard(const si::NodeRequest& /*request*/) {
    return true;
}
template <class Message>
bool goes_unheard(const Message& request) {
    return adds(request);
}

/// Roughly how many bytes the RM will hold when everything that waits for it, and `load`, has been applied.
std::uint64_t memory_with(const RmThread& owner, const Load& load) {
    return owner.memory() + memory_of(Holdings{}
                                          .plus(Held::Asks, owner.inbound_elements() + load.elements)
                                          .plus(Held::Names, owner.inbound_bytes() + load.bytes));
}

/// Answers {position}.
void answer_position(Call& call, std::uint64_t position) {
    wire::Buffer body;
    wire::Packer packer(body);
    packer.map(1);
    packer.key("position");
    packer.natural(position);
    call.ok_encoded(body.view());
}

/// What the name service answered about those users of a request that were not known.
struct UsersFound {
    LookedUp answers;
    Instant asked;
};

/// An update in the mailbox of its RM. Owner: the mailbox. Thread: whichever calls it.
template <class Message>
class UpdateTask final : public OwnerTask {
public:
    UpdateTask(CallPtr call, const RmPtr& rm, Message message, UsersFound users)
        : call_(std::move(call)),
          rm_(rm),
          epoch_(call_->rm_epoch),
          message_(std::move(message)),
          users_(std::move(users)) {}

    void run(RmOwner& owner) override {
        const RmPtr rm = rm_.lock();
        if (owner.context() == nullptr || !rm || !is_meant_for(*call_, *rm, epoch_)) return came_too_late();
        const bool impersonated = !rm->is_owned_by(*call_->session);
        CallbackWriter* const echo = owner.echo(impersonated);
        const auto noted = [&] { // the message, which the books of the RM share from now on
            auto message = std::make_shared<const Message>(std::move(message_));
            owner.books().note_sent(message, owner.now());
            if (echo != nullptr) echo->request(si::info(Message::kKind).name, impersonated, wire::encoded(*message));
            return message;
        };
        if constexpr (std::is_same_v<Message, si::ApplicationRequest>) {
            const auto faults = rm->users->resolve(message_, users_.answers, users_.asked);
            owner.gateway().apply(*noted(), faults, owner.now());
        } else {
            owner.gateway().apply(*noted(), owner.now());
        }
        if (echo != nullptr) echo->request_answered();
        owner.recovery().note_update();
        owner.settle_releases();
    }

    [[nodiscard]] const char* what() const override {
        if constexpr (std::is_same_v<Message, si::AllocationRequest>) return "an UpdateAllocation";
        if constexpr (std::is_same_v<Message, si::ApplicationRequest>) return "an UpdateApplication";
        return "an UpdateNode";
    }
    void gone(bool accepted) override {
        if (accepted) return came_too_late(); // the call was answered: "accepted" promises no more (I-335)
        rm_left(call_, message_.rm_id)();
    }

    void settled(std::optional<std::uint64_t> position) override {
        if (position) {
            answer_position(*call_, *position);
        } else {
            call_->busy("the inbound queue of RM " + message_.rm_id + " stayed full" + std::string{kFullQueue});
        }
    }

private:
    void came_too_late() const {
        log("core.rmproxy")
            .warn("an update of RM {} came after it was unregistered, or taken over by another session",
                  message_.rm_id);
    }

    CallPtr call_;
    std::weak_ptr<Rm> rm_; // which owns the mailbox that owns this
    std::uint64_t epoch_;
    Message message_;
    UsersFound users_;
};

template <class Message>
void submit(const CallPtr& call, const RmPtr& rm, Message message, const Load& load, UsersFound users) {
    OwnerTaskPtr task = std::make_unique<UpdateTask<Message>>(call, rm, std::move(message), std::move(users));
    std::uint64_t position = 0;
    switch (rm->owner.submit(task, load, call->deadline(), position)) {
    case PushOutcome::Accepted: return answer_position(*call, position);
    case PushOutcome::Waiting: return;
    case PushOutcome::Refused:
        return call->busy("the inbound queue of RM " + rm->id + " is full" + std::string{kFullQueue});
    case PushOutcome::Closed: return rm_left(call, rm->id)();
    }
}

/// Whether the RM, if it keeps books, can be notified of an update (I-269). Its own ones are never held up by a stream
/// that is full: they may be what its next acknowledgement waits for. False: the call was answered.
bool can_be_echoed(const CallPtr& call, const Rm& rm, std::size_t bytes) {
    if (!rm.owner.echoes()) return true;
    const bool impersonated = !rm.is_owned_by(*call->session);
    const bool recovers = rm.owner.state() == si::CoreState::Recovering;
    if (impersonated && recovers) {
        call->busy(fmt::format("RM {} reports what it has; it takes part in nothing new until it has recovered", rm.id),
                   100);
        return false;
    }
    if (impersonated && rm.owner.stream().status().congested) {
        call->busy(
            fmt::format("the callback stream of RM {} is three quarters full; its process does not keep up", rm.id),
            1000);
        return false;
    }
    if (recovers || bytes <= si::kLargestEcho) return true;
    call->fail(ErrorCode::Limit,
               fmt::format("RM {} keeps books, for which an update has at most {} bytes, and this one has {}: send "
                           "fewer elements per message",
                           rm.id, si::kLargestEcho, bytes));
    return false;
}

} // namespace

template <class Message>
bool UpdateService::is_admitted(const CallPtr& call, const RmPtr& rm, const Message& message, const Load& load) const {
    return !parts_.memory.is_short() || !adds(message) || has_memory(parts_.memory, call, memory_with(rm->owner, load));
}

void UpdateService::submit_later(const CallPtr& call, si::ApplicationRequest request, Load load, LookedUp answers,
                                 Instant asked) {
    const std::uint64_t epoch = call->rm_epoch;
    if (call->is_stopping()) return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    const RmPtr rm = find_rm(parts_.rms, call, request.rm_id, request.impersonate, Ownership::Owner);
    if (!rm) return;
    if (call->rm_epoch != epoch) return rm_left(call, rm->id)();
    load.bytes += bytes_of(answers);
    if (is_admitted(call, rm, request, load)) submit(call, rm, std::move(request), load, {std::move(answers), asked});
}

void UpdateService::submit_with_users(const CallPtr& call, const RmPtr& rm, si::ApplicationRequest request,
                                      const Load& load) {
    const Instant asked = parts_.clock.now();
    std::vector<std::string> users = rm->users->to_look_up(request, asked);
    if (users.empty()) return submit(call, rm, std::move(request), load, {{}, asked});
    auto kept = std::make_shared<si::ApplicationRequest>(std::move(request));
    parts_.users.look_up(call, std::move(users), [this, call, rm, kept, load, asked](LookedUp answers, bool complete) {
        if (complete) return submit_later(call, std::move(*kept), load, std::move(answers), asked);
        rm->users->remember(*kept, answers, asked);
        call->busy(std::string{kSlowNames} + "; those it told are remembered", 1000);
    });
}

template <class Message>
bool UpdateService::is_heard(const CallPtr& call, const Message& message) const {
    if (!is_daemons_own(parts_.settings.mcs, *call, message.rm_id) || !goes_unheard(message)) return true;
    call->fail(ErrorCode::Forbidden,
               fmt::format("RM {} is the daemon itself, whose nodes and applications follow its database: use "
                           "'ykctl mcs node' and 'ykctl deployment'",
                           message.rm_id),
               "rmID");
    return false;
}

template <class Message>
void UpdateService::update(const CallPtr& call) {
    auto message = call->decode<Message>();
    if (!message) return;
    const RmPtr rm = find_rm(parts_.rms, call, message->rm_id, message->impersonate, Ownership::Owner);
    if (!rm || !is_heard(call, *message)) return;
    const Load load{std::max<std::uint64_t>(1, count_elements(*message)), call->envelope.body.bytes().size()};
    if (!is_admitted(call, rm, *message, load) || !can_be_echoed(call, *rm, load.bytes)) return;
    if (rm->owner.books_full())
        return call->busy(
            fmt::format("the books of RM {} cannot be written, see ykctl health; nothing is lost", rm->id), 1000);
    if (rm->owner.state() == si::CoreState::Recovering && rm->owner.stream().status().congested)
        return call->busy("the callback stream of the RM is three quarters full; poll, and go on replaying", 100);
    if constexpr (std::is_same_v<Message, si::ApplicationRequest>)
        submit_with_users(call, rm, std::move(*message), load);
    else
        submit(call, rm, std::move(*message), load, {});
}

void UpdateService::update_allocation(const CallPtr& call) {
    update<si::AllocationRequest>(call);
}
void UpdateService::update_application(const CallPtr& call) {
    update<si::ApplicationRequest>(call);
}
void UpdateService::update_node(const CallPtr& call) {
    update<si::NodeRequest>(call);
}

} // namespace yk::service

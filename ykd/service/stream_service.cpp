// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/stream_service.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/reports/snapshot.h"
#include "ykd/request/rm_checks.h"

namespace yk::service {
namespace {

constexpr std::uint32_t kLeastPollLimit = 2U << 20; // bytes of a message that fits the largest item, with some to spare
constexpr std::size_t kEnvelopeOverhead = 1024;     // bytes of a poll's reply around its items
constexpr Duration kRest = std::chrono::seconds{2}; // for which Sync waits at most until the scheduler is at rest

/// A poll and its call. Its answer cancels the deadline. Owner: the RM's stream. Thread: any.
class CallPoller final : public Poller {
public:
    CallPoller(CallPtr call, std::string rm_id, Deadlines& deadlines)
        : call_(std::move(call)), rm_id_(std::move(rm_id)), deadlines_(deadlines) {}
    ~CallPoller() override { // without an answer when its connection has closed
        end_wait();
        call_->drop();
    }
    CallPoller(const CallPoller&) = delete;
    CallPoller& operator=(const CallPoller&) = delete;

    void answer(PollAnswer answer) override {
        end_wait();
        wire::Buffer head;
        wire::Packer packer(head);
        packer.map(5);
        packer.key("streamEpoch");
        packer.natural(answer.epoch);
        packer.key("backlog");
        packer.natural(answer.backlog);
        packer.key("backlogBytes");
        packer.natural(answer.backlog_bytes);
        packer.key("congested");
        packer.boolean(answer.congested);
        packer.key("items");
        packer.list(answer.items);
        const std::array<std::string_view, 2> parts{head.view(), answer.list.view()};
        call_->ok_parts(parts);
    }
    void refuse(PollRefusal refusal) override {
        end_wait();
        if (refusal.code == ErrorCode::ResyncRequired) return call_->fail(resync_required(rm_id_, refusal.message));
        wire::ErrorReply error{refusal.code, std::move(refusal.message), {}, {}, {}};
        if (refusal.epoch) error.details["streamEpoch"] = *refusal.epoch;
        call_->fail(error);
    }
    [[nodiscard]] std::uint32_t connection() const override { return call_->peer().connection; }
    [[nodiscard]] bool is_gone() const override { return call_->peer().is_gone(); }

    /// Calls `over` after `wait`, unless the poll was answered before.
    void start_wait(SteadyClock::duration wait, std::function<void()> over) {
        const std::lock_guard lock(mutex_);
        if (ended_) return;
        key_ = deadlines_.call_after(wait, std::move(over));
    }

private:
    void end_wait() {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        if (key_) deadlines_.cancel(*key_);
    }

    CallPtr call_;
    const std::string rm_id_;
    Deadlines& deadlines_;
    std::mutex mutex_;
    bool ended_ = false;
    std::optional<Deadlines::Key> key_;
};

/// The outcome for each ask: {outcome: placed, pending, quarantined or absent, nodeID?}.
Value outcomes_of(const std::vector<si::AskName>& asks, RmOwner& owner) {
    Value outcomes = Value::array();
    for (const si::AskName& ask : asks) {
        AskStatus status;
        if (const PartitionState* state = owner.read(ask.partition_name))
            status = ask_status(*state, ask.application_id, ask.allocation_key);
        switch (status.state) {
        case AskStatus::State::Absent: outcomes.push_back({{"outcome", "absent"}}); break;
        case AskStatus::State::Pending: outcomes.push_back({{"outcome", "pending"}}); break;
        case AskStatus::State::Quarantined: outcomes.push_back({{"outcome", "quarantined"}}); break;
        case AskStatus::State::Placed: outcomes.push_back({{"outcome", "placed"}, {"nodeID", status.node}}); break;
        }
    }
    return outcomes;
}

} // namespace

void StreamService::poll(const CallPtr& call) {
    const auto request = call->decode<si::PollRequest>();
    if (!request) return;
    const RmPtr rm = find_rm(rms_, call, request->rm_id, request->impersonate, Ownership::Owner);
    if (!rm) return;
    if (rm->is_detached())
        return call->fail(ErrorCode::BadState,
                          fmt::format("RM {} is detached: the daemon handles its stream; see StreamLog", rm->id));
    if (const auto most = call->session->max_message; most != 0 && most < kLeastPollLimit)
        return call->fail(
            ErrorCode::BadState,
            fmt::format("items of the stream have up to {} bytes, and this session takes messages of {} only: "
                        "say Hello with a larger maxMessage, or without",
                        kLeastPollLimit, most));
    auto poller = std::make_shared<CallPoller>(call, rm->id, deadlines_);
    poller->epoch = request->stream_epoch;
    poller->ack = request->ack;
    poller->max_items = std::max<std::uint32_t>(1, request->max_items);
    const std::size_t available = call->reply_limit() - kEnvelopeOverhead;
    poller->max_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(request->max_bytes, available));
    const auto wait = std::min<Duration>(std::chrono::milliseconds{request->wait_ms}, max_poll_wait_);
    rm->owner.stream().poll(poller, wait > Duration{0});
    if (wait <= Duration{0}) return;
    const Poller* name = poller.get();
    poller->start_wait(wait, [weak = std::weak_ptr<Rm>(rm), name] {
        if (const RmPtr still = weak.lock()) still->owner.stream().wait_over(name);
    });
}

void StreamService::sync(const CallPtr& call) {
    auto request = call->decode<si::SyncRequest>();
    if (!request) return;
    const RmPtr rm = find_rm(rms_, call, request->rm_id, request->impersonate, Ownership::Owner);
    if (!rm) return;
    const std::uint64_t last = rm->owner.last_position();
    const std::uint64_t position = request->position.value_or(last);
    if (position > last)
        return call->fail(ErrorCode::Invalid,
                          fmt::format("nothing was accepted at position {} yet; the last is {}", position, last),
                          "position");
    const bool wants_outcomes = !request->asks.empty();
    auto answer = [call, position, asks = std::move(request->asks)](RmOwner& owner) {
        owner.flush();
        Value reply{{"position", position}, {"streamNext", owner.stream().status().next}};
        if (!asks.empty()) reply["asks"] = outcomes_of(asks, owner);
        owner.books().when_kept([call, reply](bool kept) {
            if (kept) return call->ok(reply);
            if (call->is_stopping())
                return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping, and its books are closed");
            call->busy("the books of the RM cannot be written now; see ykctl health", 1000);
        });
    };
    if (!wants_outcomes) return rm->owner.in_order(std::move(answer), rm_left(call, rm->id));
    rm->owner.at_rest(kRest, std::move(answer), rm_left(call, rm->id));
}

void StreamService::stream_log(const CallPtr& call) {
    const auto request = call->decode<si::StreamLogRequest>();
    if (!request) return;
    const RmPtr rm = find_rm(rms_, call, request->rm_id, request->impersonate, Ownership::Viewer);
    if (!rm) return;
    if (!rm->is_detached())
        return call->fail(ErrorCode::BadState, fmt::format("RM {} is not detached: its stream is its own", rm->id));
    const std::size_t available = call->reply_limit() - kEnvelopeOverhead;
    const auto log =
        rm->owner.stream().read_log(request->after, request->count == 0 ? 1000 : request->count, available);
    wire::Buffer head;
    wire::Packer packer(head);
    packer.map(2);
    packer.key("next");
    packer.natural(log.next);
    packer.key("items");
    packer.list(log.items);
    const std::array<std::string_view, 2> parts{head.view(), log.list.view()};
    call->ok_parts(parts);
}

/// The answer of a call keeps its order among the RM's inputs: updates that it sent before are applied first.
void StreamService::call_result(const CallPtr& call) {
    auto request = call->decode<si::CallResultRequest>();
    if (!request) return;
    const RmPtr rm = find_rm(rms_, call, request->rm_id, request->impersonate, Ownership::Owner);
    if (!rm) return;
    auto reply = std::make_shared<CallReply>();
    if (request->ok && request->result) {
        const auto scanned = wire::scan_body(request->result->bytes);
        if (!scanned.ok()) return call->fail(wire::error_reply(scanned.error()));
        auto body = wire::decode<si::CallResultBody>(*scanned);
        if (!body.ok()) {
            auto error = wire::error_reply(body.error());
            error.path = error.path.empty() ? "result" : "result." + error.path;
            return call->fail(error);
        }
        reply->body = std::move(body).value();
    }
    reply->outcome = request->ok ? CallReply::Outcome::Answered : CallReply::Outcome::Failed;
    reply->error = std::move(request->error);
    rm->owner.in_order(
        [call, reply, number = request->call, epoch = request->stream_epoch](RmOwner& owner) {
            const bool in_time = owner.take_answer(epoch, number, std::move(*reply));
            call->ok({{"late", !in_time}});
        },
        rm_left(call, rm->id));
}

} // namespace yk::service

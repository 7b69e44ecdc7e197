// SPDX-License-Identifier: Apache-2.0
#include "ykd/request/call.h"

#include <fmt/format.h>

#include <vector>

#include "ykd/process/log.h"
#include "ykd/runtime/workers.h"

namespace yk::service {
namespace {

constexpr std::size_t kHeadOverhead = 256;    // bytes of a reply before its body, at most
constexpr std::uint32_t kMemoryWaitMs = 1000; // after which other requests may have given memory back
constexpr std::size_t kValuesPerEncoding = 8; // a tree of values takes about so many times the bytes of its encoding

wire::ErrorReply too_large() {
    return {ErrorCode::TooLarge, "the answer is larger than the peer's message limit", {}, {}, {}};
}

/// About how many bytes of memory it takes.
std::size_t bytes_of(const RememberedReply& reply) {
    if (reply.ok) return reply.body.size();
    wire::Buffer encoded;
    wire::encode_error(encoded, {}, reply.error, false);
    return kValuesPerEncoding * encoded.size();
}

} // namespace

Call::Call(const CallSupport& support, wire::Request request)
    : support_(support), peer_(request.shared_peer()), request_(std::move(request)) {}

Call::~Call() {
    if (at_end) at_end(*this);
    if (answered_) return;
    if (is_stopping())
        fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    else if (Workers::lacked_memory())
        fail_for_memory(*this);
    else
        fail_internal("the request was dropped before it was carried out");
}

SteadyClock::time_point Call::deadline() const {
    // A request with a ttl of 10 s looks like one without a ttl; for both the setting counts.
    const bool has_ttl = envelope.ttl_ms != wire::kDefaultTtlMs;
    return received_ + (has_ttl ? SteadyClock::duration{std::chrono::milliseconds{envelope.ttl_ms}} : support_.ttl);
}

bool Call::has_request() {
    const std::lock_guard lock(mutex_);
    return !answered_;
}

std::optional<Call::Target> Call::take_target() {
    const std::lock_guard lock(mutex_);
    if (answered_) return std::nullopt;
    answered_ = true;
    if (newer_) return Target{std::move(newer_), newer_echo_};
    return Target{std::move(request_), envelope.echo()};
}

/// Ends the turn of a mutating request: its number is used up, unless the error lets the request come again (I-333),
/// and the next one executes.
void Call::settle_seq(RememberedReply reply) {
    if (!has_turn) return;
    has_turn = false;
    const bool consumed = reply.ok || !si::is_retryable(reply.error.code);
    const std::size_t bytes = bytes_of(reply);
    std::optional<CallPtr> next;
    {
        const std::lock_guard lock(session->mutex);
        session->executing.reset();
        next = session->seq.finish(consumed, std::move(reply), bytes);
        if (next) session->executing = *next;
    }
    if (next) support_.execute_later(*next);
}

void Call::ok_encoded(std::string_view body) {
    if (has_turn && body.size() + kHeadOverhead > reply_limit()) return fail(too_large());
    if (has_turn && support_.ended) support_.ended(*this, nullptr);
    if (has_turn) settle_seq({true, std::string(body), {}});
    ok_parts(std::span<const std::string_view>(&body, 1));
}

void Call::ok_parts(std::span<const std::string_view> body) {
    auto target = take_target();
    if (!target) return;
    wire::Buffer head;
    wire::encode_ok_head(head, target->echo);
    std::size_t total = head.size();
    for (const std::string_view part : body) total += part.size();
    if (total + sizeof(std::uint32_t) > reply_limit()) return send_error(*target, too_large(), false);
    count(std::nullopt);
    std::vector<std::string_view> parts{head.view()};
    parts.insert(parts.end(), body.begin(), body.end());
    target->request.reply(parts);
}

void Call::fail(const wire::ErrorReply& error) {
    if (support_.ended && has_request()) support_.ended(*this, &error);
    settle_seq({false, {}, error});
    if (auto target = take_target()) send_error(*target, error, false);
}

void Call::fail_internal(std::string_view what) {
    const std::string reference = fmt::format("{}-{}", envelope.id, SteadyClock::now().time_since_epoch().count());
    log("wire").error("internal error in {} (reference {}): {}", kind_known ? si::info(kind).name : "a request",
                      reference, what);
    wire::ErrorReply error{ErrorCode::Internal, "internal error; see the daemon's log", {}, {}, {}};
    error.details["reference"] = reference;
    fail(error);
}

void Call::count(std::optional<ErrorCode> error) {
    support_.meter.answered(kind_known ? std::optional(kind) : std::nullopt, error, SteadyClock::now() - received_);
}

void Call::send_error(Target& target, const wire::ErrorReply& error, bool dup) {
    count(error.code);
    wire::Buffer reply;
    wire::encode_error(reply, target.echo, error, dup);
    target.request.reply(reply.view());
}

void Call::replay(const RememberedReply& reply) {
    auto target = take_target();
    if (!target) return;
    if (!reply.ok) return send_error(*target, reply.error, true);
    count(std::nullopt);
    wire::Buffer bytes;
    wire::encode_ok(bytes, target->echo, std::string_view(reply.body), true);
    target->request.reply(bytes.view());
}

void Call::fail_undecoded(const wire::RequestFault& fault, bool cut) {
    auto target = take_target();
    if (!target) return;
    support_.meter.undecoded(fault.error.code);
    target->echo = fault.echo;
    if (cut) return target->request.disconnect(); // the tenth within a minute (I-310)
    send_error(*target, wire::error_reply(fault.error), false);
}

void Call::fail_later(SteadyClock::duration delay, wire::ErrorReply error, bool cut) {
    support_.deadlines.call_after(delay, [self = shared_from_this(), error = std::move(error), cut] {
        if (!cut) return self->fail(error);
        if (auto target = self->take_target()) target->request.disconnect();
    });
}

void Call::drop() {
    static_cast<void>(take_target());
}

void Call::take_over(wire::Request newer, const wire::Echo& echo) {
    const std::lock_guard lock(mutex_);
    if (answered_) return;
    newer_ = std::move(newer);
    newer_echo_ = echo;
}

wire::Request Call::release_request() {
    auto target = take_target();
    return target ? std::move(target->request) : wire::Request{};
}

void fail_for_memory(Call& call) {
    if (call.mutating) return call.fail_internal("there was no memory to carry it out");
    call.busy("there is no memory for the answer now; ask for less at once, or ask again", kMemoryWaitMs);
}

} // namespace yk::service

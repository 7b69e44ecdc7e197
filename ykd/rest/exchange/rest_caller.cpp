// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/exchange/rest_caller.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>

#include "protocol/wire/body_reader.h"
#include "ykd/request/inside_request.h"

namespace yk::service {
namespace {

constexpr auto kGrace = std::chrono::seconds{5}; // beyond the patience of a request, for who answers late
/// Numbers of connections that no server gives: theirs count up from 1, and the last one is that of MCS.
constexpr std::uint32_t kFirstConnection = 0x8000'0000;

std::uint32_t next_connection() {
    static std::atomic<std::uint32_t> count{0};
    return kFirstConnection + count++ % (kFirstConnection - 1);
}

/// Without a token the daemon's own user, whom Access lets in; with one somebody who comes from afar and has to show
/// it.
std::shared_ptr<const wire::Peer> peer_of(std::string identity, bool has_token) {
    auto peer = inside_peer(next_connection(), std::move(identity));
    if (has_token) peer->transport = wire::Peer::Transport::Tcp;
    return peer;
}

RestReply failed(si::ErrorCode code, std::string message) {
    RestReply reply;
    reply.code = code;
    reply.message = std::move(message);
    return reply;
}

RestReply decoded(const std::string& bytes, const RestCaller::ReadBody& read) {
    auto envelope = wire::decode_reply(bytes);
    if (!envelope.ok()) return failed(si::ErrorCode::Internal, "the daemon's answer cannot be read");
    RestReply reply;
    reply.ok = envelope->ok;
    if (envelope->ok) {
        if (read)
            read(envelope->body);
        else
            reply.body = wire::decode_value(envelope->body);
    } else {
        reply.code = static_cast<si::ErrorCode>(envelope->err->code);
        reply.message = envelope->err->message;
        reply.path = envelope->err->path;
        reply.details = envelope->err->details;
    }
    return reply;
}

} // namespace

RestCaller::RestCaller(const RestPort& port, std::string identity, std::string token)
    : port_(port), token_(std::move(token)), peer_(peer_of(std::move(identity), !token_.empty())) {}

RestCaller::~RestCaller() {
    if (sid_) static_cast<void>(send(si::Kind::Bye, {}, std::chrono::seconds{1}));
    peer_->gone->store(true);
    port_.closed(peer_->connection);
}

RestReply RestCaller::hello() {
    si::HelloRequest request;
    request.min = request.max = wire::kVersion;
    request.client = "http";
    request.token = token_;
    request.role = token_.empty() ? "observer" : "admin";
    RestReply reply = send(si::Kind::Hello, wire::encoded(request), kPatience);
    if (!reply.ok) return reply;
    const auto& sid = reply.body["sid"].get_binary();
    sid_ = wire::make_sid({reinterpret_cast<const char*>(sid.data()), sid.size()});
    last_seq_ = 0;
    return reply;
}

RestReply RestCaller::ask(si::Kind kind, std::string_view body, std::chrono::milliseconds patience) {
    return ask(kind, body, patience, {});
}

RestReply RestCaller::ask(si::Kind kind, std::string_view body, std::chrono::milliseconds patience,
                          const ReadBody& read) {
    for (bool again = sid_.has_value();; again = false) {
        if (!sid_)
            if (RestReply reply = hello(); !reply.ok) return reply;
        RestReply reply = send(kind, body, patience, read);
        if (reply.ok || reply.code != si::ErrorCode::SessionUnknown || !again) return reply;
        sid_.reset(); // it was idle for too long, and is forgotten
    }
}

RestReply RestCaller::send(si::Kind kind, std::string_view body, std::chrono::milliseconds patience,
                           const ReadBody& read) {
    const si::KindInfo& info = si::info(kind);
    wire::RequestHeader header;
    header.kind = info.name;
    header.id = ++last_id_;
    header.sid = kind == si::Kind::Hello ? std::nullopt : sid_;
    if (info.mutating) header.seq = ++last_seq_;
    header.ttl_ms = static_cast<std::uint32_t>(std::min<std::int64_t>(patience.count(), wire::kMaxTtlMs));
    wire::Buffer message;
    wire::encode_request(message, header, body);
    const auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
    auto answer = promise->get_future();
    port_.give(inside_request(peer_, message.view(),
                              [promise](std::optional<std::string> bytes) { promise->set_value(std::move(bytes)); }));
    if (answer.wait_for(patience + kGrace) != std::future_status::ready)
        return failed(si::ErrorCode::Timeout, "the daemon did not answer in time");
    const std::optional<std::string> bytes = answer.get();
    if (!bytes) return failed(si::ErrorCode::ShuttingDown, "the daemon is stopping");
    return decoded(*bytes, read);
}

// --- RestCallers --------------------------------------------------------------------------------

std::optional<RestCallers::Loan> RestCallers::lend(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    if (!free_.wait_for(lock, patience, [this] { return lent_ < limit_; })) return std::nullopt;
    ++lent_;
    std::unique_ptr<RestCaller> caller;
    if (!idle_.empty()) {
        caller = std::move(idle_.back());
        idle_.pop_back();
    }
    lock.unlock();
    if (!caller) caller = std::make_unique<RestCaller>(port_, "http");
    return std::optional<Loan>{std::in_place, *this, std::move(caller)};
}

void RestCallers::take_back(std::unique_ptr<RestCaller> caller) {
    {
        const std::lock_guard lock(mutex_);
        --lent_;
        if (caller) idle_.push_back(std::move(caller));
    }
    free_.notify_one();
}

void RestCallers::clear() {
    std::vector<std::unique_ptr<RestCaller>> ended;
    {
        const std::lock_guard lock(mutex_);
        ended.swap(idle_);
    }
    ended.clear();
}

} // namespace yk::service

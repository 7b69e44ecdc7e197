#pragma once
// Call: one request on its way through the daemon: what was asked, by whom, and the right to answer it once, now or
// later, from any thread. A call whose last reference is dropped without an answer sends E_INTERNAL: that is a bug, or
// the daemon is stopping.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/si/errors.h"
#include "protocol/si/kinds.h"
#include "protocol/transport/server.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "protocol/wire/envelope.h"
#include "ykd/service/session.h"

namespace yk::service {

using si::ErrorCode;
using wire::Value;

class Daemon;

class Call : public std::enable_shared_from_this<Call> {
public:
    Call(Daemon& daemon, wire::Request request);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // --- the request; written by the dispatcher before anybody else sees the call ---------------
    wire::RequestEnvelope envelope;
    si::Kind kind = si::Kind::Hello;
    bool kind_known = false; // `kind` is what the envelope says
    bool mutating = false;
    bool has_turn = false;      // its sequence number is being executed
    std::uint64_t rm_epoch = 0; // of the registration that find_rm() looked at
    SessionPtr session;         // null for Hello
    std::uint64_t fingerprint = 0;

    [[nodiscard]] Daemon& daemon() const { return daemon_; }
    [[nodiscard]] const wire::Peer& peer() const { return *peer_; }
    [[nodiscard]] const std::shared_ptr<const wire::Peer>& shared_peer() const { return peer_; }
    [[nodiscard]] std::string_view message() const { return request_.bytes(); }
    /// Until when the sender is willing to wait.
    [[nodiscard]] SteadyClock::time_point deadline() const;
    /// The body as a message of protocol/si; when it is none the call is answered and nothing returned.
    template <class T>
    [[nodiscard]] std::optional<T> decode() {
        auto decoded = wire::decode<T>(envelope.body);
        if (decoded.ok()) return std::move(decoded).value();
        fail(wire::error_reply(decoded.error()));
        return std::nullopt;
    }
    /// True when `reader` met no fault; else the call is answered.
    [[nodiscard]] bool accepts(const wire::BodyReader& reader) {
        if (!reader.fault()) return true;
        fail(wire::error_reply(*reader.fault()));
        return false;
    }

    // --- the answer -----------------------------------------------------------------------------
    void ok() { ok_encoded("\x80"); }
    void ok(const Value& body) { ok_encoded(wire::encoded_value(body)); }
    /// One encoded map.
    void ok_encoded(std::string_view body);
    /// One encoded map in pieces. Not for mutating kinds.
    void ok_pieces(std::span<const std::string_view> body);
    void fail(const wire::ErrorReply& error);
    void fail(ErrorCode code, std::string message, std::string path = {}) {
        fail(wire::ErrorReply{code, std::move(message), std::move(path), std::nullopt, {}});
    }
    /// E_BUSY with the advice when to come again.
    void busy(std::string message, std::uint32_t retry_after_ms = 100) {
        fail(wire::ErrorReply{ErrorCode::Busy, std::move(message), {}, retry_after_ms, {}});
    }
    void replay(const RememberedReply& reply);
    /// E_DECODE and the like: `echo` is what could be read. `cut`: closes the connection afterwards.
    void fail_undecoded(const wire::RequestFault& fault, bool cut);
    /// E_INTERNAL, with a reference by which the log's line is found.
    void fail_internal(std::string_view what);
    /// Fails after `delay`, and then cuts the connection if `cut` (I-342).
    void fail_later(SteadyClock::duration delay, wire::ErrorReply error, bool cut);
    /// The peer has shown who it is, so that its connection may have several requests in flight.
    void trust() const { request_.trust(); }
    /// Forgets the request: a newer copy of it will be answered (I-331).
    void drop();
    /// A newer copy of this request: it gets the answer.
    void take_over(wire::Request newer, const wire::Echo& echo);
    [[nodiscard]] wire::Request release_request();

private:
    struct Target {
        wire::Request request;
        wire::Echo echo;
    };
    [[nodiscard]] std::optional<Target> take_target();
    void settle_seq(RememberedReply reply);
    void send_error(Target& target, const wire::ErrorReply& error, bool dup);
    void count(std::optional<ErrorCode> error);

    Daemon& daemon_;
    const SteadyClock::time_point received_ = SteadyClock::now();
    std::shared_ptr<const wire::Peer> peer_;
    wire::Request request_;
    std::mutex mutex_; // newer_, newer_echo_, answered_
    wire::Request newer_;
    wire::Echo newer_echo_;
    bool answered_ = false;
};

} // namespace yk::service

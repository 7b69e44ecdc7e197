// SPDX-License-Identifier: Apache-2.0
#pragma once
// Call: one request on its way through the daemon: what was asked, by whom, and the right to answer it once, now or
// later, on any thread. A call whose last reference is dropped without an answer answers E_SHUTTING_DOWN while the
// daemon stops; as fail_for_memory() when a worker dropped it for want of memory; else E_INTERNAL, since that is a bug.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/server/server.h"
#include "protocol/si/errors.h"
#include "protocol/si/kinds.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "protocol/wire/envelope.h"
#include "ykd/process/stop_flag.h"
#include "ykd/request/request_meter.h"
#include "ykd/runtime/deadlines.h"
#include "ykd/runtime/fair_queue.h"
#include "ykd/session/session.h"

namespace yk::service {

using si::ErrorCode;
using wire::Value;

/// What all calls of a process use. Owner: Daemon; it outlives every call.
struct CallSupport {
    RequestMeter& meter;
    Deadlines& deadlines;
    const StopFlag& stop;
    std::size_t max_message;                           // bytes of any reply, with the 4 of nng's request id
    SteadyClock::duration ttl;                         // of requests that name none
    std::function<void(const CallPtr&)> execute_later; // a call whose turn has come, on a worker
    /// Notified of each end of a mutating request, and of each refusal, before the answer is sent. nullptr: it
    /// succeeded.
    std::function<void(const Call&, const wire::ErrorReply*)> ended = {};
};

/// Owner: whoever works on it, and the session while it waits for its turn. Thread: any, one after the other; answers
/// and take_over() may come at the same time.
class Call : public std::enable_shared_from_this<Call> {
public:
    Call(const CallSupport& support, wire::Request request);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // --- the request; written by the dispatcher before anybody else sees the call ---------------
    wire::RequestEnvelope envelope;
    si::Kind kind = si::Kind::Hello;
    bool kind_known = false;                 // `kind` is the kind that the envelope names
    bool mutating = false;                   // the kind changes something, and needs a sequence number
    bool has_turn = false;                   // its sequence number is the one that executes
    bool is_of_owner = false;                // it acts for an RM that its session owns; known once find_rm() found it
    std::uint64_t rm_epoch = 0;              // the registration of the RM that find_rm() found
    SessionPtr session;                      // null for Hello
    std::function<void(const Call&)> at_end; // empty, or called when the last reference is dropped
    std::uint64_t fingerprint = 0;           // of kind and body, for SeqTable

    [[nodiscard]] bool is_stopping() const { return support_.stop.is_set(); }
    /// How many bytes its reply may have.
    [[nodiscard]] std::size_t reply_limit() const { return service::reply_limit(session.get(), support_.max_message); }
    [[nodiscard]] const wire::Peer& peer() const { return *peer_; }
    [[nodiscard]] const std::shared_ptr<const wire::Peer>& shared_peer() const { return peer_; }
    [[nodiscard]] std::string_view message() const { return request_.bytes(); }
    /// Until when the sender is willing to wait.
    [[nodiscard]] SteadyClock::time_point deadline() const;
    /// The body as a message of protocol/si; nullopt: it is none, and the call was answered.
    template <class T>
    [[nodiscard]] std::optional<T> decode() {
        auto decoded = wire::decode<T>(envelope.body);
        if (decoded.ok()) return std::move(decoded).value();
        fail(wire::error_reply(decoded.error()));
        return std::nullopt;
    }
    /// Whether `reader` found no fault; if it did, the call was answered.
    [[nodiscard]] bool accepts(const wire::BodyReader& reader) {
        if (!reader.fault()) return true;
        fail(wire::error_reply(*reader.fault()));
        return false;
    }

    // --- the answer -----------------------------------------------------------------------------
    // The first answer counts; later ones are ignored.
    void ok() { ok_encoded("\x80"); }
    void ok(const Value& body) { ok_encoded(wire::encoded_value(body)); }
    /// `body`: one encoded map.
    void ok_encoded(std::string_view body);
    /// `body`: one encoded map in parts, which are not copied together. Not for mutating kinds.
    void ok_parts(std::span<const std::string_view> body);
    void fail(const wire::ErrorReply& error);
    void fail(ErrorCode code, std::string message, std::string path = {}) {
        fail(wire::ErrorReply{code, std::move(message), std::move(path), std::nullopt, {}});
    }
    /// Fails with E_BUSY and the advice when to try again.
    void busy(std::string message, std::uint32_t retry_after_ms = 100) {
        fail(wire::ErrorReply{ErrorCode::Busy, std::move(message), {}, retry_after_ms, {}});
    }
    /// Answers with the remembered answer to an older copy of the request.
    void replay(const RememberedReply& reply);
    /// Fails with E_DECODE or the like, with the parts of the envelope that could be read. `cut`: closes the connection
    /// instead (I-310).
    void fail_undecoded(const wire::RequestFault& fault, bool cut);
    /// Logs `what` and fails with E_INTERNAL and a reference that is in the log line, too.
    void fail_internal(std::string_view what);
    /// Fails after `delay`; `cut`: closes the connection then instead (I-342).
    void fail_later(SteadyClock::duration delay, wire::ErrorReply error, bool cut);
    /// Notes that the peer has shown who it is: its connection may have several requests in flight from now on.
    void trust() const { request_.trust(); }
    /// Ends the call without an answer: a newer copy of the request will be answered (I-331), or nobody waits for it.
    void drop();
    /// `newer` is a copy of this request and gets the answer in its stead.
    void take_over(wire::Request newer, const wire::Echo& echo);
    /// Takes the right to answer out of the call, for whoever answers instead; empty if it was answered.
    [[nodiscard]] wire::Request release_request();

private:
    struct Target { // where the answer goes
        wire::Request request;
        wire::Echo echo;
    };
    /// Takes the right to answer; nullopt: the call was answered.
    [[nodiscard]] std::optional<Target> take_target();
    /// Whether the request, and with it the bytes of its body, is still here.
    [[nodiscard]] bool has_request();
    void settle_seq(RememberedReply reply);
    void send_error(Target& target, const wire::ErrorReply& error, bool dup);
    void count(std::optional<ErrorCode> error);

    const CallSupport& support_;
    const SteadyClock::time_point received_ = SteadyClock::now();
    std::shared_ptr<const wire::Peer> peer_;
    wire::Request request_;
    std::mutex mutex_; // guards newer_, newer_echo_ and answered_
    wire::Request newer_;
    wire::Echo newer_echo_;
    bool answered_ = false;
};

/// Fails the call because there was no memory to carry it out: a read with E_BUSY, since it may come again; a change
/// with E_INTERNAL, since nobody knows how far it went.
void fail_for_memory(Call& call);

/// A message of so many bytes takes some milliseconds to decode; a request for one thing takes a few microseconds.
inline constexpr std::size_t kLongMessage = std::size_t{256} << 10;

/// For whom workers work on the call, and whether they will be long at it.
[[nodiscard]] inline ItemSource source_of(const Call& call) {
    return {call.peer().address, call.peer().connection, call.message().size() >= kLongMessage};
}

} // namespace yk::service

// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <random>
#include <thread>
#include <variant>

#include <fmt/format.h>

#include "protocol/client/connection.h"
#include "protocol/client/dial.h"
#include "protocol/client/reply_keys.h"
#include "protocol/client/trace.h"
#include "protocol/si/kinds.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "protocol/wire/envelope.h"

namespace yk::wire {

namespace {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
using Kind = CallError::Kind;
using ReplyBytes = CallResult<std::string>;
using Done = Result<void, CallError>;
/// The result of one exchange: the body of the reply, the refusal of the daemon (or a reply that cannot be read), or
/// why there is no reply.
using Attempt = std::variant<std::string, CallError, ExchangeFailure>;

constexpr std::uint32_t kRetryAfterMs = 50; // when the daemon names no time
constexpr std::chrono::milliseconds kAnswerTime{100};
constexpr std::chrono::milliseconds kGoodbyeTime{1000}; // for an answer that nobody needs
constexpr int kMaxResets = 3;                           // connections cut before Hello is answered

CallError failure(Kind kind, std::string message) {
    CallError error;
    error.kind = kind;
    error.message = std::move(message);
    return error;
}

CallError refusal(const ReplyEnvelope::Err& err) {
    CallError error = failure(Kind::Refused, err.message);
    error.code = err.code;
    error.name = err.name;
    error.path = err.path;
    error.details = err.details;
    error.retryable = err.retryable;
    error.retry_after_ms = err.retry_after_ms;
    return error;
}

bool is_mutating(std::string_view kind) {
    const auto known = si::find_kind(kind);
    return known && si::info(*known).mutating;
}

/// Sleeps as long as a retryable refusal asks for, with jitter (I-356). Returns false without sleeping when no time
/// would be left for an answer, which may take as long as this one `took`: a clear refusal is better than a change with
/// an unknown outcome.
bool sleep_before_retry(const CallError& refused, Clock::duration took, Deadline deadline) {
    static thread_local std::minstd_rand random{std::random_device{}()};
    const std::uint32_t asked = refused.retry_after_ms == 0 ? kRetryAfterMs : refused.retry_after_ms;
    const auto wait = std::chrono::milliseconds{asked + random() % (asked / 4 + 1)};
    if (Clock::now() + wait + std::max<Clock::duration>(kAnswerTime, took * 3 / 2) >= deadline) return false;
    std::this_thread::sleep_for(wait);
    return true;
}

std::uint32_t ttl_until(Deadline deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 1, kMaxTtlMs));
}

/// The roles to ask for, one after the other.
std::vector<std::string> roles_of(const ClientOptions& options) {
    constexpr std::array<std::string_view, 3> kDescending{"admin", "rm", "observer"};
    const auto* asked = std::find(kDescending.begin(), kDescending.end(), options.role);
    if (!options.any_role || asked == kDescending.end()) return {options.role};
    return {asked, kDescending.end()};
}

/// Whether a change belongs to the session that there is when it is sent.
enum class Tie : std::uint8_t {
    None,
    Session,      // it does
    SessionNumber // and to the number of the change before, which is the same one
};

CallError lost_session() {
    return failure(Kind::OutcomeUnknown,
                   "the session was lost before the change was confirmed: look before you repeat it");
}

} // namespace

struct Client::Impl {
    ClientOptions options;
    std::unique_ptr<Connection> connection;
    std::optional<Sid> sid;
    std::string boot_id;
    std::uint64_t next_seq = 1;
    std::uint64_t next_id = 1;
    std::uint32_t peer_limit = ~std::uint32_t{0};
    Clock::duration answered_after{};        // of the last request that was answered
    bool is_attached = false;                // the session belongs to another client
    std::optional<std::uint64_t> unanswered; // the number of the last change, in this session
    bool is_seq_certain = true;              // false: next_seq is taken from the reply to Hello, before the next change
    Value hello = Value::object();
    Buffer message;

    explicit Impl(ClientOptions given) : options(std::move(given)) {}

    [[nodiscard]] Deadline deadline_of(const EncodedRequest& request, std::chrono::milliseconds timeout) const;
    Done open(Deadline deadline);
    [[nodiscard]] bool wait_to_retry(const CallError& refused, Deadline deadline) const;
    Attempt attempt(std::string_view kind, std::string_view body, std::optional<std::uint64_t> seq, Deadline deadline);
    Attempt read_reply(std::string_view reply, std::string_view kind) const;
    Done send_hello(Deadline deadline);
    ReplyBytes hello_as(const std::string& role, Deadline deadline);
    Done take_hello(std::string_view body);
    Done renew(Deadline deadline);
    ReplyBytes call(std::string_view kind, std::string_view body, Deadline deadline, Tie tie = Tie::None);
    std::optional<CallError> after_refusal(const CallError& refused, bool changes, bool maybe_executed,
                                           Deadline deadline);
    std::optional<CallError> after_cut(const ExchangeFailure& cut, bool changes, bool maybe_executed,
                                       Deadline deadline);
};

/// `timeout`: zero: that of the options. What the daemon is asked to wait comes on top.
Deadline Client::Impl::deadline_of(const EncodedRequest& request, std::chrono::milliseconds timeout) const {
    const auto given = timeout.count() == 0 ? options.timeout : timeout;
    const auto wait = std::clamp(request.wait, std::chrono::milliseconds{0}, std::chrono::milliseconds{kMaxTtlMs});
    return Clock::now() + given + wait;
}

// --- one exchange -------------------------------------------------------------------------------

Done Client::Impl::open(Deadline deadline) {
    auto opened = Connection::open({options.url, options.tls_ca, options.max_message, options.wait_for_socket,
                                    options.redials, options.stopped, options.tries_again},
                                   deadline);
    if (!opened) {
        if (opened.error().code == ECANCELED) return failure(Kind::Stopped, opened.error().message);
        const bool denied = opened.error().code == EACCES || opened.error().code == EPERM;
        return failure(denied ? Kind::Denied : Kind::Unreachable, opened.error().message);
    }
    connection = std::move(opened).value();
    return {};
}

/// Whether a request that was refused for a while is to be sent again; the time for that has passed then.
bool Client::Impl::wait_to_retry(const CallError& refused, Deadline deadline) const {
    const auto why = [&] {
        return fmt::format("{}{}; trying again", refused.message,
                           refused.name.empty() ? "" : " (" + refused.name + ")");
    };
    if (options.tries_again && !options.tries_again(why())) return false;
    return sleep_before_retry(refused, answered_after, deadline);
}

Attempt Client::Impl::attempt(std::string_view kind, std::string_view body, std::optional<std::uint64_t> seq,
                              Deadline deadline) {
    RequestHeader header;
    header.kind = kind;
    header.id = next_id++;
    if (kind != "Hello") header.sid = sid;
    header.seq = seq;
    header.ttl_ms = ttl_until(deadline);
    message.clear();
    encode_request(message, header, body);
    if (message.size() + kRequestNumber > peer_limit)
        return failure(Kind::TooLarge, fmt::format("the request has {} bytes, the daemon takes at most {}: send fewer "
                                                   "elements per message",
                                                   message.size(), peer_limit));
    if (options.trace) trace_message("->", message.view());
    const auto sent = Clock::now();
    auto reply = connection->exchange(message.view(), deadline);
    if (!reply) return std::move(reply).error();
    answered_after = Clock::now() - sent;
    if (options.trace) trace_message("<-", *reply);
    return read_reply(*reply, kind);
}

Attempt Client::Impl::read_reply(std::string_view reply, std::string_view kind) const {
    auto body = read_answer(reply, kind, options.strict);
    if (!body) return std::move(body).error();
    if (options.strict)
        if (const auto key = unknown_reply_key(kind, Body::of_scanned(*body)))
            return failure(Kind::Malformed, fmt::format("the reply to {} has the unknown key '{}'", kind, *key));
    return std::move(body).value();
}

// --- the session --------------------------------------------------------------------------------

Done Client::Impl::send_hello(Deadline deadline) {
    std::optional<CallError> refused;
    for (const std::string& role : roles_of(options)) {
        auto body = hello_as(role, deadline);
        if (body) return take_hello(*body);
        refused = std::move(body).error();
        if (!is(*refused, si::ErrorCode::Forbidden)) break;
    }
    return *std::move(refused);
}

/// Sends Hello for one role, again while the daemon is busy or cuts the connection. Returns the body of the reply.
ReplyBytes Client::Impl::hello_as(const std::string& role, Deadline deadline) {
    si::HelloRequest request;
    request.min = request.max = kVersion;
    request.client = options.client;
    request.role = role;
    request.token = options.token;
    request.max_message = options.max_message;
    request.capabilities = options.capabilities;
    if (sid) request.resume = si::HelloResume{{std::string{bytes_of(*sid)}}, {boot_id}};
    const std::string body = encoded(request);
    for (int resets = 0;;) {
        Attempt came = attempt("Hello", body, std::nullopt, deadline);
        if (auto* reply = std::get_if<std::string>(&came)) return std::move(*reply);
        if (auto* refused = std::get_if<CallError>(&came)) {
            if (!refused->retryable || !wait_to_retry(*refused, deadline)) return std::move(*refused);
            continue;
        }
        const auto& cut = std::get<ExchangeFailure>(came);
        if (cut.kind == ExchangeFailure::Kind::NotConnected) return failure(Kind::Unreachable, cut.text);
        if (cut.kind == ExchangeFailure::Kind::Stopped) return failure(Kind::Stopped, cut.text);
        if (cut.kind != ExchangeFailure::Kind::Lost)
            return failure(
                Kind::Unreachable,
                fmt::format("{} takes connections but does not answer: the daemon is slow or stopped", options.url));
        if (++resets == kMaxResets)
            return failure(Kind::Denied, fmt::format("{} closes the connection before answering: this user is not "
                                                     "let in, or the daemon has no room for more connections",
                                                     options.url));
    }
}

Done Client::Impl::take_hello(std::string_view body) {
    const auto reply = decode<si::HelloReply>(Body::of_scanned(body), {options.strict, false});
    if (!reply)
        return failure(Kind::Malformed, fmt::format("Hello: {}: {}", reply.error().path, reply.error().message));
    const auto given = make_sid(reply->sid.bytes);
    if (!given) return failure(Kind::Malformed, "Hello: sid: expected 16 bytes");
    if (!reply->resumed) {
        next_seq = 1;
        unanswered.reset();
    } else if (!is_seq_certain) {
        next_seq = reply->last_seq + 1;
    }
    is_seq_certain = true;
    sid = given;
    boot_id = reply->boot_id.bytes;
    if (reply->limits.max_message != 0) peer_limit = reply->limits.max_message;
    hello = decode_value(Body::of_scanned(body));
    return {};
}

/// Makes the session usable again: connects, and sends Hello with resume. An attached client leaves Hello to the owner.
Done Client::Impl::renew(Deadline deadline) {
    if (!connection) YK_CHECKED(open(deadline));
    if (is_attached) return {};
    return send_hello(deadline);
}

// --- calls --------------------------------------------------------------------------------------

ReplyBytes Client::Impl::call(std::string_view kind, std::string_view body, Deadline deadline, Tie tie) {
    const bool changes = is_mutating(kind);
    bool maybe_executed = tie != Tie::None; // so that no other session gets it
    const std::optional<Sid> before = sid;
    if (tie == Tie::SessionNumber && unanswered) {
        next_seq = *unanswered;
        is_seq_certain = true;
    }
    if (!connection || (changes && !is_seq_certain)) YK_CHECKED(renew(deadline));
    if (changes && maybe_executed && sid != before) return lost_session();
    for (;;) {
        const auto seq = changes ? std::optional{next_seq} : std::nullopt;
        if (changes) unanswered = seq;
        Attempt came = attempt(kind, body, seq, deadline);
        if (auto* reply = std::get_if<std::string>(&came)) {
            if (changes) {
                ++next_seq;
                unanswered.reset();
            }
            return std::move(*reply);
        }
        std::optional<CallError> end;
        if (const auto* refused = std::get_if<CallError>(&came)) {
            end = after_refusal(*refused, changes, maybe_executed, deadline);
        } else {
            const auto& cut = std::get<ExchangeFailure>(came);
            maybe_executed = maybe_executed || cut.sent;
            end = after_cut(cut, changes, maybe_executed, deadline);
        }
        if (end) return *std::move(end);
    }
}

/// What a call does after a refusal: nullopt to try again, else the error to return.
std::optional<CallError> Client::Impl::after_refusal(const CallError& refused, bool changes, bool maybe_executed,
                                                     Deadline deadline) {
    if (refused.retryable) {
        if (wait_to_retry(refused, deadline)) return std::nullopt;
        return refused;
    }
    if (!is(refused, si::ErrorCode::SessionUnknown) || is_attached) {
        // Whether a refusal uses up its sequence number depends on where it arose (I-333): the next Hello has the last
        // one.
        if (changes && refused.kind != Kind::TooLarge) is_seq_certain = false;
        if (changes) unanswered.reset();
        return refused;
    }
    sid.reset();
    if (auto renewed = renew(deadline); !renewed) return renewed.error();
    if (changes && maybe_executed) return lost_session();
    return std::nullopt;
}

/// What a call does after an exchange without a reply: nullopt to try again with the same sequence number, else the
/// error to return.
std::optional<CallError> Client::Impl::after_cut(const ExchangeFailure& cut, bool changes, bool maybe_executed,
                                                 Deadline deadline) {
    const bool is_unknown = changes && maybe_executed;
    const auto unknown = [](std::string_view why) {
        return failure(Kind::OutcomeUnknown,
                       fmt::format("{}: the change may have been made, look before you repeat it", why));
    };
    if (cut.kind == ExchangeFailure::Kind::NotConnected) {
        is_seq_certain = is_seq_certain && !is_unknown;
        return is_unknown ? unknown(cut.text) : failure(Kind::Unreachable, cut.text);
    }
    if (cut.kind == ExchangeFailure::Kind::Stopped) {
        is_seq_certain = is_seq_certain && !is_unknown;
        return failure(Kind::Stopped, cut.text);
    }
    if (cut.kind == ExchangeFailure::Kind::TimedOut || Clock::now() >= deadline) {
        is_seq_certain = is_seq_certain && !is_unknown;
        if (cut.kind == ExchangeFailure::Kind::Stuck) connection.reset();
        return is_unknown ? unknown("no answer in time") : failure(Kind::TimedOut, "no answer in time");
    }
    if (cut.kind == ExchangeFailure::Kind::Stuck) connection.reset();
    const std::optional<Sid> before = sid;
    if (auto renewed = renew(deadline); !renewed) {
        is_seq_certain = is_seq_certain && !changes;
        return is_unknown ? unknown(renewed.error().message) : renewed.error();
    }
    if (is_unknown && sid != before) return unknown("the daemon was restarted or forgot the session");
    return std::nullopt;
}

// --- the public face ----------------------------------------------------------------------------

ReplyBytes read_answer(std::string_view reply, std::string_view kind, bool strict) {
    const auto envelope = decode_reply(reply, strict);
    if (!envelope) {
        const WireError& fault = envelope.error();
        return failure(Kind::Malformed, fmt::format("the reply to {} cannot be read: {}{}{}", kind, fault.path,
                                                    fault.path.empty() ? "" : ": ", fault.message));
    }
    if (!envelope->ok) return refusal(*envelope->err);
    return std::string{envelope->body.bytes()};
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

CallResult<std::unique_ptr<Client>> Client::connect(const ClientOptions& options) {
    auto impl = std::make_unique<Impl>(options);
    const Deadline deadline = Clock::now() + options.timeout;
    YK_CHECKED(impl->open(deadline));
    YK_CHECKED(impl->send_hello(deadline));
    return std::unique_ptr<Client>{new Client(std::move(impl))};
}

CallResult<std::unique_ptr<Client>> Client::attach(const Client& owner) {
    auto impl = std::make_unique<Impl>(owner.impl_->options);
    impl->options.tries_again = {};
    impl->sid = owner.impl_->sid;
    impl->boot_id = owner.impl_->boot_id;
    impl->peer_limit = owner.impl_->peer_limit;
    impl->hello = owner.impl_->hello;
    impl->is_attached = true;
    YK_CHECKED(impl->open(Clock::now() + impl->options.timeout));
    return std::unique_ptr<Client>{new Client(std::move(impl))};
}

CallResult<std::string> Client::call_raw(std::string_view kind, std::string_view body,
                                         std::chrono::milliseconds timeout) {
    const auto given = timeout.count() == 0 ? impl_->options.timeout : timeout;
    return impl_->call(kind, body, Clock::now() + given);
}

CallResult<Value> Client::call(const EncodedRequest& request, std::chrono::milliseconds timeout) {
    auto reply = impl_->call(request.kind, request.body, impl_->deadline_of(request, timeout));
    if (!reply) return std::move(reply).error();
    return decode_value(Body::of_scanned(*reply));
}

CallResult<Value> Client::call_in_session(const EncodedRequest& request, bool again) {
    const Tie tie = again ? Tie::SessionNumber : Tie::Session;
    auto reply = impl_->call(request.kind, request.body, impl_->deadline_of(request, {}), tie);
    if (!reply) return std::move(reply).error();
    return decode_value(Body::of_scanned(*reply));
}

CallResult<Value> Client::call(std::string_view kind, const Value& body, std::chrono::milliseconds timeout) {
    return call(EncodedRequest{kind, body}, timeout);
}

const Value& Client::hello() const {
    return impl_->hello;
}
const std::string& Client::boot_id() const {
    return impl_->boot_id;
}
std::string Client::session_id() const {
    return impl_->sid ? std::string{bytes_of(*impl_->sid)} : std::string{};
}
void Client::set_redials(bool on) {
    impl_->options.redials = on;
    if (impl_->connection) impl_->connection->set_redials(on);
}
const ClientOptions& Client::options() const {
    return impl_->options;
}

void Client::bye() {
    const auto goodbye = call("Bye", Value::object(), std::min(kGoodbyeTime, options().timeout));
    static_cast<void>(goodbye); // a session that cannot be ended ends by itself (I-322)
}

} // namespace yk::wire

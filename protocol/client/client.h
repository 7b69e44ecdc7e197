// SPDX-License-Identifier: Apache-2.0
#pragma once
// Client: one session with a daemon over nng REQ (interface.md sections 4.1 to 4.8).
//
// Blocking and not thread safe: one thread per client; make a second client to poll while sending. Every call carries
// session and sequence number, so that a cut connection is healed by resending the same request (I-306, I-356).

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/si/errors.h"
#include "protocol/transport/byte_stream.h"
#include "protocol/wire/encoded_request.h"
#include "protocol/wire/value.h"

namespace yk::wire {

/// Why a call has no answer of its kind.
struct CallError {
    enum class Kind {
        Refused,        // the daemon answered with an error: code, name, path, details are its own
        Unreachable,    // no daemon at the address
        Denied,         // no permission to connect, or the daemon does not admit this user
        TimedOut,       // no answer in time to something read-only
        OutcomeUnknown, // a change was sent and the connection or the daemon was lost before the answer
        Stopped,        // ClientOptions::stopped said so; a change may have been made
        TooLarge,       // the request exceeds the daemon's message limit
        Malformed       // the answer could not be read
    };
    Kind kind = Kind::Refused;
    std::uint32_t code = 0; // error code of interface.md 4.11
    std::string name;       // E_INVALID, ...
    std::string message;
    std::string path;
    Value details;
    bool retryable = false;
    std::uint32_t retry_after_ms = 0;
};

template <class T>
using CallResult = Result<T, CallError>;

/// Whether the daemon has refused it with this code.
[[nodiscard]] inline bool is(const CallError& error, si::ErrorCode code) {
    return error.kind == CallError::Kind::Refused && error.code == static_cast<std::uint32_t>(code);
}

/// The encoded body of the reply to a request of `kind`, or the error that it is. A Client reads its replies so; for
/// whoever exchanges messages without one. `strict`: unknown keys of the envelope are errors (I-312).
[[nodiscard]] CallResult<std::string> read_answer(std::string_view reply, std::string_view kind, bool strict = false);

struct ClientOptions {
    std::string url;              // ipc://, tcp://, tls+tcp://
    std::string client = "ykctl"; // named in the daemon's log
    std::string role = "admin";   // observer, rm, admin; a lower one is accepted when `any_role`
    bool any_role = true;         // take what the identity grants when the role asked for is refused
    std::string token;
    std::string tls_ca; // file; tls+tcp only
    std::vector<std::string> capabilities;
    std::chrono::milliseconds timeout{5000};
    std::uint32_t max_message = 16U << 20;
    bool wait_for_socket = false; // a missing socket file counts as "not ready yet": for a daemon just started
    bool redials = true;          // a call whose connection was cut looks for a listener until its time-out
    StopCheck stopped = {};       // asked ten times a second while a call waits; true: the call fails as Stopped
    RetryCheck tries_again = {};  // asked before each further try of a call; false: it was the last one
    bool strict = false;          // unknown keys in replies are errors (I-312)
    bool trace = false;           // every message to stderr as JSON
};

class Client {
public:
    /// Connects and sends Hello, again and again for at most `timeout` while the daemon is busy. When nobody listens it
    /// fails at once, unless `wait_for_socket` is set.
    [[nodiscard]] static CallResult<std::unique_ptr<Client>> connect(const ClientOptions& options);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Sends one request and waits for its answer: the reply's `body`. Mutating kinds get their sequence number here;
    /// retryable refusals and cut connections are resent until `timeout` (zero: the option's) is over. What the daemon
    /// is asked to wait comes on top of that.
    [[nodiscard]] CallResult<Value> call(const EncodedRequest& request,
                                         std::chrono::milliseconds timeout = std::chrono::milliseconds{0});
    /// The same with a generic body, whose keys are those of interface.md 4.6.
    [[nodiscard]] CallResult<Value> call(std::string_view kind, const Value& body = Value::object(),
                                         std::chrono::milliseconds timeout = std::chrono::milliseconds{0});

    /// The same for a caller who sends a change until it is answered, whatever happens meanwhile. It is not carried out
    /// in another session: when the session is lost, OutcomeUnknown says so, and the next call is in the new one.
    /// `again`: this request was the last one to be sent and had no answer, or was refused for a while; with the number
    /// that it had it is carried out once. Costs nothing beside call(). (I-331)
    [[nodiscard]] CallResult<Value> call_in_session(const EncodedRequest& request, bool again);

    /// The same with an encoded body (one map) and the encoded body of the answer, for callers who count each byte.
    [[nodiscard]] CallResult<std::string> call_raw(std::string_view kind, std::string_view body,
                                                   std::chrono::milliseconds timeout = std::chrono::milliseconds{0});

    /// A second connection to the session of `owner`, to poll on another thread. For kinds that are not mutating: the
    /// sequence numbers are the owner's. Once the session has ended its calls answer E_SESSION_UNKNOWN. What the owner
    /// has for `tries_again` is not asked on that thread.
    [[nodiscard]] static CallResult<std::unique_ptr<Client>> attach(const Client& owner);

    /// ClientOptions::redials from now on. Without it a call fails at once when the daemon is gone, so that the caller
    /// can say so and decide when to try again; the session is taken up by the first call that reaches the daemon.
    void set_redials(bool on);

    /// The body of the reply to Hello.
    [[nodiscard]] const Value& hello() const;
    /// Which run of the daemon the session belongs to: another one after a restart (I-260).
    [[nodiscard]] const std::string& boot_id() const;
    /// The session: another one after it was lost. Empty between the loss and the next Hello.
    [[nodiscard]] std::string session_id() const;
    [[nodiscard]] const ClientOptions& options() const;
    /// Ends the session (Bye), which takes a second at most; the destructor does not.
    void bye();

private:
    struct Impl;
    explicit Client(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// The address used without -s or YKCTL_SOCKET: the first default path of I-302 that exists, else the first.
[[nodiscard]] std::string default_address();
/// Whether the daemon at a default address can be trusted: the directory /tmp/ykd-UID has to belong to this user alone,
/// which ykd checks as well.
[[nodiscard]] Result<void> check_default_address(const std::string& url);
/// Whether `directory` belongs to this user and nobody else may write in it. A directory that does not exist passes.
[[nodiscard]] Result<void> check_private(const std::string& directory);

} // namespace yk::wire

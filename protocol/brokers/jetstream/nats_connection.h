// SPDX-License-Identifier: Apache-2.0
#pragma once
// NatsConnection: a connection to a server of NATS that comes back by itself, however long the server is away or
// refuses it, and what is asked of the stream that has the change events. Each question has a limit of time; while
// there is no connection it fails at once.
//
// The library connects again while a server is away, but closes a connection for ever when it is refused twice, as with
// a password that was changed. Such a one is replaced here, with growing pauses (rs R-168).

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "libcore/resource_state/backoff.h"
#include "protocol/brokers/time_allowance.h"
#include "protocol/brokers/topics.h"
#include "protocol/simulation/steady_clock.h"

struct __natsConnection;   // NOLINT(bugprone-reserved-identifier): of the library
struct __natsSubscription; // NOLINT(bugprone-reserved-identifier): of the library
struct __natsMsg;          // NOLINT(bugprone-reserved-identifier): of the library
struct __jsCtx;            // NOLINT(bugprone-reserved-identifier): of the library
struct __natsOptions;      // NOLINT(bugprone-reserved-identifier): of the library

namespace yk::rs {

struct NatsSettings {
    std::string url;                                 // nats://HOST:PORT
    std::string prefix = "gns";                      // name of the stream, and beginning of its subjects
    Topics topics;                                   //
    bool create = true;                              // the stream, if it is not there
    std::size_t window = 4096;                       // messages of a relay that are under way
    Duration timeout = std::chrono::seconds{2};      // of a question
    Duration acknowledged = std::chrono::seconds{5}; // a message has to be by then
    Duration look = std::chrono::seconds{1};         // how often the stream is looked at while no event comes
    Duration revive = std::chrono::seconds{5};       // a consumer that gives nothing of what there is is made anew
    std::uint64_t seed = 1;                          // of the pauses between attempts to connect
};

/// What the server says of the stream.
struct StreamState {
    std::int64_t created = 0;     // nanoseconds since 1970: which stream of its name it is
    std::uint64_t first = 0;      // sequence of the first message that it still has; last + 1: it has none
    std::uint64_t last = 0;       // of the last that it ever had
    std::int64_t stored = 0;      // when that was stored, as the server says of the message itself
    std::uint64_t reconnects = 0; // of the connection, when it was asked
};

struct NatsMessageDeleter {
    void operator()(__natsMsg* message) const;
};
using NatsMessage = std::unique_ptr<__natsMsg, NatsMessageDeleter>;
struct NatsSubscriptionDeleter {
    void operator()(__natsSubscription* subscription) const;
};
using NatsSubscription = std::unique_ptr<__natsSubscription, NatsSubscriptionDeleter>;

/// Owner: a log or publisher. Thread: one at a time; the library has threads of its own, which do not come here.
class NatsConnection {
public:
    /// Asks no server yet; an Error is one in the settings.
    [[nodiscard]] static Result<std::unique_ptr<NatsConnection>> open(const NatsSettings& settings);
    ~NatsConnection();
    NatsConnection(const NatsConnection&) = delete;
    NatsConnection& operator=(const NatsConnection&) = delete;

    /// Begins to connect where nothing does that any more, and it is time to.
    [[nodiscard]] bool is_up();
    /// Another number than before: it was lost meanwhile.
    [[nodiscard]] std::uint64_t reconnects() const;
    /// REQUIRES: it was up; valid until the next is_up().
    [[nodiscard]] __natsConnection* handle() const { return connection_; }
    [[nodiscard]] __jsCtx* context() const { return context_; }

    /// The address for messages, without passwords.
    [[nodiscard]] const std::string& place() const { return place_; }
    /// All questions up to the next call of this take no longer than twice the limit of one.
    void begin_call() { allowance_.begin(2 * settings_.timeout); }
    [[nodiscard]] std::int64_t limit_ms() const;

    /// As it is now; the stream is made if it is not there and may be.
    [[nodiscard]] Result<StreamState> stream();
    /// The one with this sequence; nullptr: it is not there.
    [[nodiscard]] Result<NatsMessage> message(std::uint64_t sequence);
    /// "cannot ...: what the library says of the status".
    [[nodiscard]] Error failed(const std::string& what, int status) const;
    /// Why it is not up, and what helps.
    [[nodiscard]] Error no_connection() const;

private:
    explicit NatsConnection(const NatsSettings& settings);
    [[nodiscard]] Result<void> choose();
    void connect();
    void give_up(int status, const char* why);
    void close();
    [[nodiscard]] Result<std::optional<StreamState>> look();
    [[nodiscard]] int add_stream();

    const NatsSettings settings_;
    const std::string place_;
    __natsOptions* options_ = nullptr;
    __natsConnection* connection_ = nullptr; // nullptr: the next one is not due yet
    __jsCtx* context_ = nullptr;
    std::uint64_t generation_ = 0; // of connection_
    Chance chance_;
    TimeAllowance allowance_;
    unsigned refusals_ = 0;            // since it was up
    SteadyClock::time_point next_try_; // to connect
    std::string refusal_;              // the last one; empty: none since it was up
};

} // namespace yk::rs

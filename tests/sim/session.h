// SPDX-License-Identifier: Apache-2.0
#pragma once
// Session: the simulated client's end of the protocol (docs/protocol.md, Sessions and sequence numbers), written from
// that text alone: Hello, sequence numbers, sending again what was not answered, going on after a cut.
//
// Owner: a model. Thread: one.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "protocol/si/kinds.h"
#include "protocol/wire/codec.h"
#include "protocol/wire/envelope.h"
#include "tests/sim/daemon_host.h"
#include "tests/sim/network.h"
#include "tests/sim/world.h"

namespace yk::sim {

/// How a request ended.
struct Answer {
    bool lost = false;                             // the session ended: nobody knows whether it was executed
    bool dup = false;                              // the remembered answer
    std::optional<wire::ReplyEnvelope::Err> error; // refused
    std::string body;                              // one encoded map, of one that was not refused

    [[nodiscard]] bool ok() const { return !lost && !error; }
    [[nodiscard]] bool is(si::ErrorCode code) const { return error && error->code == static_cast<std::uint32_t>(code); }
};

class Session : public std::enable_shared_from_this<Session> {
public:
    using Done = std::function<void(const Answer&)>;

    /// `counters`: of what happens to its messages.
    Session(World& world, DaemonHost& host, std::string client, Connection::Counters counters)
        : world_(world), host_(host), client_(std::move(client)), counters_(std::move(counters)) {}
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Sends a request as soon as there is a session, and again until it is answered. `done` is called once.
    void change(si::Kind kind, std::string body, Done done);
    /// As change(), of a kind without a sequence number: `done` hears of a cut (lost).
    void ask(si::Kind kind, std::string body, Done done);
    /// The client is gone: nothing is called any more.
    void abandon();
    /// The client is stopped until then: what comes waits for it.
    void sleep(Simulator::Clock::time_point until) { awake_at_ = std::max(awake_at_, until); }
    [[nodiscard]] bool is_connected() const { return connection_ != nullptr && connection_->is_alive(); }
    /// REQUIRES is_connected().
    void cut() { connection_->cut(); }

    /// Changes that are not answered.
    [[nodiscard]] std::size_t open_changes() const { return changes_.size(); }
    /// Which session it is: another number after a session was lost. 0: none yet.
    [[nodiscard]] std::uint64_t generation() const { return generation_; }
    [[nodiscard]] bool is_up() const { return state_ == State::Up; }

private:
    enum class State { Down, Connecting, Greeting, Up };
    struct Change {
        si::Kind kind{};
        std::string body;
        Done done;
        bool sent = false;
    };
    struct Sent { // on the present connection
        si::Kind kind{};
        std::optional<std::uint64_t> seq;
        Done done; // of a request without seq
        bool hello = false;
    };

    void connect();
    void connected();
    void hello();
    void on_hello(const std::string& reply);
    void number_anew(std::uint64_t last_seq);
    void on_cut();
    void on_reply(std::uint32_t number, const std::string& bytes);
    void on_change_answered(std::uint64_t seq, Answer answer);
    void send_change(std::uint64_t seq);
    void send_waiting();
    void again(std::uint64_t seq, Nanoseconds delay);
    void lose_session();
    void transmit(Sent sent, const std::string& body);
    void watch(std::uint32_t number);
    void drop_connection();
    [[nodiscard]] bool sleeps(void (Session::*call)());
    [[nodiscard]] std::optional<Answer> read(const std::string& bytes);

    World& world_;
    DaemonHost& host_;
    const std::string client_;
    const Connection::Counters counters_;
    State state_ = State::Down;
    std::shared_ptr<Connection> connection_;
    std::map<std::uint32_t, Sent> sent_;      // by request number
    std::map<std::uint64_t, Change> changes_; // by sequence number
    std::deque<Sent> asks_waiting_;
    std::deque<std::string> bodies_waiting_; // of these
    std::uint64_t next_seq_ = 1, generation_ = 0;
    std::uint32_t last_number_ = 0;
    std::optional<wire::Sid> sid_;
    std::string boot_id_;
    Simulator::Clock::time_point awake_at_{};
    bool abandoned_ = false;
};

} // namespace yk::sim

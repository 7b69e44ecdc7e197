// SPDX-License-Identifier: Apache-2.0
#pragma once
// ServedRm: a simulated resource manager that a process serves: it changes its nodes, applications and asks at random,
// fetches its callbacks, stops what it is asked to stop, and recovers after whatever happens to it or to the daemon.
// What it knows is in its books, which survive the end of its process; its session and what is under way do not.
//
// Owner: run_seed(). Thread: one.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/rm_books.h"
#include "tests/sim/session.h"

namespace yk::sim {

/// How an RM behaves in a run.
struct Manners {
    bool gangs = false, preemption = false;
    bool removes_nodes = true;  // else it repeats asks: of one that is gone with its node that would be a new ask
    bool devices = false;       // some of its nodes have some, and some of its asks want them
    bool slow_reader = false;   // pauses between polls
    double forgetful = 0;       // of a replay: something is left out at first
    bool hopeless = false;      // what it has left out it does not report before the recovery has failed
    std::int64_t most_asks = 6; // in one request
    // Longest times:
    Nanoseconds pace = milliseconds{300};      // between two changes
    Nanoseconds gathering = milliseconds{200}; // until it registers, and until it reports what exists
    Nanoseconds thinking = seconds{15};        // until it does something about a recovery that has failed
    Nanoseconds recovery = seconds{600};       // that a recovery may take, and half of it without an update
};

class ServedRm {
public:
    ServedRm(World& world, DaemonHost& host, std::string rm_id, Manners manners);

    void start();
    /// From now on it changes nothing, and goes on with all else.
    void rest() { resting_ = true; }
    /// The process ends, and another one begins after so long.
    void crash(Nanoseconds absence);
    /// The process is stopped for so long.
    void stall(Nanoseconds time);
    /// It fetches no callbacks for so long, and goes on with all else.
    void stop_reading(Nanoseconds time);
    [[nodiscard]] Session& session() { return *session_; }

    [[nodiscard]] const std::string& id() const { return rm_id_; }
    [[nodiscard]] const char* state() const;
    /// Whether it is registered, has recovered and waits for nothing.
    [[nodiscard]] bool is_calm() const;
    [[nodiscard]] const RmBooks& books() const { return books_; }
    [[nodiscard]] RmBooks& books() { return books_; }

private:
    enum class State { New, Registering, Registered, Recovering, Running, Failed };

    // registration and recovery (served_rm.cpp)
    void start_process(Nanoseconds delay, bool goes_on);
    void begin(const char* why);
    void register_now();
    void on_registered(const Answer& answer, bool recovers);
    [[nodiscard]] bool leaves_configuration_out(bool recovers);
    void judge_configuration(const std::string& checksum);
    [[nodiscard]] si::RecoveryRequest recovery_wish();
    void try_to_resume();
    void replay();
    void recovery_done();
    void on_report(const Answer& answer);
    [[nodiscard]] bool may_fail() const;
    [[nodiscard]] std::uint32_t idle_seconds() const {
        return static_cast<std::uint32_t>(manners_.recovery / seconds{2});
    }
    bool book_again(const si::RecoveryReport& report);
    void resolve();
    void resolve_now();
    void set_state(State state);
    [[nodiscard]] std::function<void()> in_this_life(std::function<void()> call);
    /// Sends a change; whoever answers that the RM is not known makes it register again.
    /// `spares`: with it the ask that a victim has to go for may lose what it waits for.
    void send(si::Kind kind, std::string body, bool spares = false);
    [[nodiscard]] bool starts_anew(const Answer& answer);
    void when_awake(std::function<void()> call);

    // the callback stream
    void poll();
    void on_polled(const Answer& answer, bool is_behind);
    void handle(const si::StreamItem& item);
    void stop_later(const RmBooks::ToStop& stop);
    /// Calls `call` after `delay`, and again until it returns true.
    void retry(std::function<bool()> call, Nanoseconds delay);

    // what it does of its own accord (rm_changes.cpp)
    void plan_change();
    void change();
    void add_node();
    void change_node();
    void remove_node();
    void add_application();
    void add_gang();
    void add_members();
    void remove_application();
    void add_asks();
    [[nodiscard]] std::int64_t some_gpu();
    void release();
    void repeat_ask();
    void look();
    [[nodiscard]] std::string new_id(const char* prefix) { return fmt::format("{}-{}-{}", rm_id_, prefix, ++serial_); }
    [[nodiscard]] std::vector<std::string> live_apps() const;
    [[nodiscard]] std::vector<std::string> live_nodes() const;

    // messages (rm_messages.cpp)
    [[nodiscard]] si::NodeInfo message_of(const std::string& id, const NodeEntry& node) const;
    [[nodiscard]] si::AddApplicationRequest message_of(const std::string& id, const AppEntry& app) const;
    [[nodiscard]] si::AllocationAsk message_of(const std::string& key, const AskEntry& ask) const;
    [[nodiscard]] si::Allocation allocation_of(const std::string& key, const AskEntry& ask) const;
    struct Message {
        si::Kind kind{};
        std::string body;
    };
    [[nodiscard]] si::NodeRecovery booked_on(const std::string& id, const NodeEntry& node) const;
    [[nodiscard]] std::vector<Message> replay_messages();
    [[nodiscard]] std::string body_of(const std::string& app, const std::string& key, si::TerminationType type) const;

    World& world_;
    DaemonHost& host_;
    const std::string rm_id_;
    const Manners manners_;
    RmBooks books_;
    std::shared_ptr<Session> session_;
    State state_ = State::New;
    bool resting_ = false, change_planned_ = false;
    Simulator::Clock::time_point awake_at_{};      // it is stopped until then
    Simulator::Clock::time_point reads_at_{};      // it fetches nothing until then
    Simulator::Clock::time_point recovers_from_{}; // since when the daemon may think that it does
    std::uint64_t life_ = 0;                       // another number after each registration
    std::uint64_t epoch_ = 0, handled_ = 0;
    std::uint32_t attempt_ = 0;
    std::uint64_t serial_ = 0;
    std::set<std::uint64_t> positions_; // of its updates
    std::vector<std::size_t> items_;    // hashes of what was handled, by number
    std::vector<Message> left_out_;     // of the replay
    std::set<std::string> outdated_;    // nodes that something left after the replay said what is booked on them
    std::string recovery_id_;
    std::string checksum_; // of its configuration, which the daemon keeps (I-272); empty: perhaps it does not
    bool without_configuration_ = false; // it registered so
    std::uint64_t strikes_ = 0;          // of the disk, when it registered
    std::uint64_t sparing_ = 0;          // changes that are not answered and spare somebody
    std::uint64_t stopping_ = 0;         // allocations that are being stopped
};

/// The configuration of every RM of the simulation.
[[nodiscard]] std::string configuration_text(const Manners& manners);

} // namespace yk::sim

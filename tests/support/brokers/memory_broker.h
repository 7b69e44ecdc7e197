// SPDX-License-Identifier: Apache-2.0
#pragma once
// MemoryBroker: a broker in memory. What it was given is under way until a test, or a seed, lets it arrive, lane by
// lane in order; what has arrived stays, whoever sent it, and is acknowledged in any order. Receiver: a consumer of all
// its lanes, as the framework looks at chains.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/resource_state/backoff.h"
#include "protocol/brokers/broker_message.h"
#include "protocol/brokers/broker_publisher.h"
#include "protocol/brokers/relay_state.h"

namespace yk::testing {

/// Thrown by a port where a test wants the process to end.
struct Crash {};

/// Counts the calls of ports, and ends the process before or after one of them.
class CrashPoint {
public:
    explicit CrashPoint(std::uint64_t at = UINT64_MAX) : at_(at) {}
    void pass() {
        if (passed_++ == at_) throw Crash{};
    }
    [[nodiscard]] bool was_hit() const { return passed_ > at_; }

private:
    std::uint64_t at_;
    std::uint64_t passed_ = 0;
};

class MemoryBroker {
public:
    struct Message {
        rs::ChangeEvent event;
        std::string epoch;
        rs::Position previous;
        std::uint64_t number = 0;
    };

    std::map<rs::Kind, rs::Lanes> topics;
    std::map<rs::LaneName, std::vector<Message>> lanes; // what has arrived
    std::string name = "memory";

    [[nodiscard]] std::size_t size() const {
        std::size_t all = 0;
        for (const auto& [lane, messages] : lanes) all += messages.size();
        return all;
    }
};

class MemoryPublisher final : public rs::BrokerPublisher {
public:
    MemoryPublisher(MemoryBroker& broker, CrashPoint& crash, std::uint64_t seed)
        : broker_(broker), crash_(crash), chance_(seed) {}

    [[nodiscard]] Result<void, rs::BrokerFault> begin() override {
        crash_.pass();
        lose_some();
        arrived_.clear();
        if (is_down) return down();
        return {};
    }
    [[nodiscard]] std::string identity() const override { return broker_.name; }
    [[nodiscard]] rs::Lanes lanes(rs::Kind kind) const override { return broker_.topics.at(kind); }
    [[nodiscard]] bool still_has(const rs::LaneName& lane, const std::string& epoch,
                                 const rs::Position& last) const override {
        const auto& kept = broker_.lanes[lane];
        return std::any_of(kept.begin(), kept.end(), [&](const MemoryBroker::Message& each) {
            return each.epoch == epoch && each.event.at >= last;
        });
    }
    [[nodiscard]] Result<bool, rs::BrokerFault> send(const rs::RelayedMessage& message) override {
        crash_.pass();
        if (fault) return *std::exchange(fault, std::nullopt);
        if (under_way_.size() + arrived_.size() >= most) return false;
        under_way_.push_back({message.lane, {message.event, message.epoch, message.previous, message.number}});
        crash_.pass();
        return true;
    }
    [[nodiscard]] Result<std::vector<Number>, rs::BrokerFault> take_acknowledged() override {
        crash_.pass();
        if (fault) return *std::exchange(fault, std::nullopt);
        if (is_stuck) return std::vector<Number>{};
        for (auto some = under_way_.empty() ? 0 : chance_.next() % (under_way_.size() + 1); some > 0; --some) arrive();
        std::vector<Number> safe;
        for (std::size_t each = 0; each < arrived_.size();) {
            if (chance_.next() % 4 == 0) {
                ++each;
                continue;
            }
            safe.push_back(arrived_[each]);
            arrived_.erase(arrived_.begin() + static_cast<std::ptrdiff_t>(each));
        }
        crash_.pass();
        return safe;
    }
    /// The process or the connection has ended: some of what was under way arrives nevertheless.
    void lose_some() {
        for (auto some = chance_.next() % (under_way_.size() + 1); some > 0; --some) arrive();
        under_way_.clear();
    }

    std::size_t most = 100; // under way
    bool is_down = false, is_stuck = false;
    std::optional<rs::BrokerFault> fault; // of the next call

private:
    [[nodiscard]] static rs::BrokerFault down() { return {rs::BrokerFault::What::Down, "no broker"}; }
    void arrive() {
        auto& [lane, message] = under_way_.front();
        arrived_.push_back(message.number);
        broker_.lanes[lane].push_back(std::move(message));
        under_way_.pop_front();
    }

    MemoryBroker& broker_;
    CrashPoint& crash_;
    rs::Chance chance_;
    std::deque<std::pair<rs::LaneName, MemoryBroker::Message>> under_way_;
    std::vector<Number> arrived_; // and are not acknowledged
};

/// What a relay writes down, which outlives it.
struct MemoryNotes {
    std::string broker;
    std::optional<rs::RelayState> state;
    std::uint64_t saves = 0;
    std::optional<rs::StoreError> fault;
};
class MemoryRelayStore final : public rs::RelayStateStore {
public:
    MemoryRelayStore(MemoryNotes& notes, CrashPoint& crash) : notes_(notes), crash_(crash) {}

    [[nodiscard]] Result<std::optional<rs::RelayState>, rs::StoreError> load(const std::string& broker) override {
        crash_.pass();
        if (notes_.fault) return *notes_.fault;
        return broker == notes_.broker ? notes_.state : std::nullopt;
    }
    [[nodiscard]] Result<void, rs::StoreError> save(const std::string& broker, const rs::RelayState& state) override {
        crash_.pass();
        if (notes_.fault) return *notes_.fault;
        notes_.broker = broker;
        notes_.state = state;
        ++notes_.saves;
        crash_.pass();
        return {};
    }

private:
    MemoryNotes& notes_;
    CrashPoint& crash_;
};

} // namespace yk::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tools for tests of real brokers: a relay that runs in real time until everything has passed, and a reader that looks
// at events as a consumer does.

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "protocol/brokers/change_relay.h"
#include "tests/support/brokers/memory_broker.h"
#include "tests/support/comes_true.h"
#include "tests/support/resource_state/memory_database.h"

namespace yk::testing {

inline Instant steady_now() {
    return {std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1}};
}

inline rs::RelaySettings quick_relay() {
    rs::RelaySettings settings;
    settings.save_every = std::chrono::milliseconds{1};
    return settings;
}

/// Lets a relay work until the condition holds, or for too long.
template <class Condition>
bool relay_until(rs::ChangeRelay& relay, Condition&& condition) {
    relay.wake();
    return comes_true([&] {
        while (relay.turn(steady_now())) {
        }
        return condition();
    });
}

/// A database in memory with a relay to a real broker; relays end and begin, and it stays.
struct RelayedDatabase {
    explicit RelayedDatabase(rs::BrokerPublisher& to, rs::RelaySettings with = quick_relay())
        : publisher(to), settings(with) {
        begin();
    }
    /// Another relay, in another life of the process.
    void begin() { relay = std::make_unique<rs::ChangeRelay>(log, publisher, store, topics(), settings); }
    static rs::Topics topics() { return {{rs::Kind{1}, "album"}, {rs::Kind{2}, "cover"}}; }

    void change_many(std::uint64_t count) {
        for (; count > 0; --count) {
            ++changes;
            database.append(rs::Kind{changes % 3 == 0 ? 2U : 1U}, "id" + std::to_string(changes * 7 % 31),
                            rs::Op::Update, "u", static_cast<std::int64_t>(changes));
        }
    }
    void pass_on() {
        const bool passed = relay_until(*relay, [this] { return is_settled(); });
        INFO(relay->status().trouble);
        REQUIRE(passed);
    }
    [[nodiscard]] bool is_settled() const {
        const rs::RelayStatus status = relay->status();
        return status.is_running && status.under_way == 0 && status.safe == database.head();
    }

    MemoryDatabase database;
    MemoryChangeLog log{database};
    MemoryNotes notes;
    CrashPoint never;
    MemoryRelayStore store{notes, never};
    rs::BrokerPublisher& publisher;
    rs::RelaySettings settings;
    std::unique_ptr<rs::ChangeRelay> relay;
    std::uint64_t changes = 0;
};

/// What came by a change log, as the framework looks at it.
class EventReader {
public:
    explicit EventReader(rs::ChangeLog& log) : log_(log) {}

    /// Asks until the condition holds, or for too long; stops at a fault that is none of an outage.
    template <class Condition>
    bool read_until(Condition&& condition) {
        return comes_true([&] {
                   if (gap) return true;
                   const auto batch = log_.poll(1000);
                   if (!batch.ok()) {
                       ++(batch.error().what == rs::LogFault::What::Down ? downs : gaps);
                       if (batch.error().what == rs::LogFault::What::Gap) gap = batch.error();
                       return condition();
                   }
                   position = batch->position;
                   for (const rs::ChangeEvent& event : batch->events) take(event);
                   unreadable += batch->unreadable.size();
                   return condition();
               }) &&
               !gap;
    }
    /// Until everything that is there now was read.
    bool read_all() {
        const auto latest = log_.capture();
        INFO((latest.ok() ? "" : latest.error().message));
        REQUIRE(latest.ok());
        return read_until([&] { return rs::reaches(position, latest->cursor()); });
    }
    [[nodiscard]] bool open(const rs::CapturedCursor& from) {
        position = from.cursor();
        gap.reset();
        last_.clear();
        const auto opened = log_.open(from);
        if (!opened.ok()) gap = opened.error();
        return opened.ok();
    }

    rs::Cursor position;
    std::vector<rs::ChangeEvent> events;
    std::set<std::uint64_t> seen; // sequences in the database's log
    std::size_t repeated = 0, broken = 0, unchained = 0, unreadable = 0, downs = 0, gaps = 0;
    std::optional<rs::LogFault> gap;

private:
    void take(const rs::ChangeEvent& event) {
        events.push_back(event);
        if (!event.previous) {
            ++unchained;
            return;
        }
        seen.insert(event.at.sequence);
        const auto [last, is_first] = last_.emplace(event.lane, event.at);
        if (is_first) return;
        if (event.at <= last->second) {
            ++repeated;
            return;
        }
        if (*event.previous != last->second) ++broken;
        last->second = event.at;
    }

    rs::ChangeLog& log_;
    std::map<std::size_t, rs::Position> last_; // by lane
};

} // namespace yk::testing

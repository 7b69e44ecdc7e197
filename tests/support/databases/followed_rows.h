// SPDX-License-Identifier: Apache-2.0
#pragma once
// The framework over a real database, by whichever change log: caches follow what others write, through purges of the
// log and restarts.

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "tests/support/databases/state_database.h"
#include "tests/support/resource_state/world.h"

namespace yk::testing {

inline std::string insert_node(const std::string& id, const std::string& uid) {
    return "INSERT INTO node VALUES('" + id + "', '" + uid + "', 1, '{}', '{}', '{}', 1, 10, 20)";
}

/// Id, uid and version of each, as `SELECT id || uid || version ... ORDER BY id` is listed.
template <rs::Resource T>
std::string cached_rows(const rs::ResourceCache<T>& cache) {
    std::set<std::string> rows;
    cache.for_each([&](const rs::Ptr<T>& one) {
        rows.insert(rs::meta_of(*one).id + rs::meta_of(*one).uid + std::to_string(rs::meta_of(*one).version));
    });
    std::string text;
    for (const std::string& one : rows) text += (text.empty() ? "" : ",") + one;
    return text;
}

/// Three lives of a program. `pass_on`: returns when what was committed until now is where the log finds it.
inline void check_that_caches_follow(const StateDatabase& database, rs::ChangeLog& log,
                                     const std::function<void()>& pass_on) {
    using namespace std::chrono_literals;
    const auto reading = database.open();
    const auto rows = database.store<mcs::Node>(*reading);
    KeptNotices notices;
    Instant now{1'000'000'000'000};
    rs::Settings settings;
    settings.resync.page = 3;
    rs::Chance chance{11};
    const auto run_for = [&](rs::StateManager& manager, Duration time) {
        const Instant end = now + time;
        for (; now < end; now = std::max(now + 1ms, manager.next_due(now).value()))
            while (drive(manager, now)) {
            }
    };
    const auto change = [&](int serial) {
        const std::string id{static_cast<char>('a' + chance.next() % 10)};
        switch (chance.next() % 3) {
        case 0: return database.type("DELETE FROM node WHERE id = '" + id + "'");
        case 1: return database.type("UPDATE node SET version = version + 1, schedulable = 1 WHERE id = '" + id + "'");
        default: static_cast<void>(database.connection->run(insert_node(id, "u" + std::to_string(serial))));
        }
    };
    int serial = 0;
    for (int life = 0; life < 3; ++life) {
        rs::StateManager manager{log, notices, settings, 1};
        auto& nodes = manager.add(*rows);
        KeptCalls<mcs::Node> calls;
        nodes.add_handler(calls, {}, now);
        manager.start(now);
        for (int round = 0; round < 30; ++round) {
            for (int each = 0; each < 5; ++each) change(++serial);
            pass_on();
            if (round % 7 == 3) database.place->purge_log(*database.connection);
            run_for(manager, 100ms);
            CHECK(cached_rows(nodes.cache()) == database.list("SELECT id || uid || version FROM node ORDER BY id"));
        }
        CHECK(manager.is_running());
        CHECK(nodes.reconciler().counters().repairs == 0);
        CHECK_FALSE(calls.calls.empty());
        for (int each = 0; each < 20; ++each) change(++serial); // while nobody looks
    }
}

} // namespace yk::testing

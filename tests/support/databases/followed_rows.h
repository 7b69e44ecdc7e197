// SPDX-License-Identifier: Apache-2.0
#pragma once
// The framework over a real database, by whichever change log: caches follow what others write, through purges of the
// log and restarts.

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

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

/// The rows of a kind, for one who only reads them; counts what is asked.
template <rs::Resource T>
class CountedStore final : public rs::ResourceStore<T> {
public:
    explicit CountedStore(rs::ResourceStore<T>& rows) : rows_(rows) {}
    [[nodiscard]] Result<rs::Rows<T>, rs::StoreError> read_many(std::span<const std::string> ids) override {
        ++reads;
        return rows_.read_many(ids);
    }
    [[nodiscard]] Result<rs::Page<T>, rs::StoreError> read_page(std::string_view after, std::size_t limit) override {
        ++reads;
        return rows_.read_page(after, limit);
    }
    std::uint64_t reads = 0; // calls, whatever the answer was

private:
    [[nodiscard]] static rs::StoreError refusal() { return {rs::StoreFault::Fatal, "a follower writes nothing"}; }
    [[nodiscard]] Result<void, rs::StoreError> do_insert(const rs::WriterIdentity& /*writer*/,
                                                         const T& /*object*/) override {
        return refusal();
    }
    [[nodiscard]] Result<void, rs::StoreError> do_update(const rs::WriterIdentity& /*writer*/, const T& /*object*/,
                                                         const rs::Expect& /*expect*/) override {
        return refusal();
    }
    [[nodiscard]] Result<void, rs::StoreError> do_erase(const rs::WriterIdentity& /*writer*/, std::string_view /*id*/,
                                                        const rs::Expect& /*expect*/) override {
        return refusal();
    }

    rs::ResourceStore<T>& rows_;
};

/// A program that follows the rows of one kind in a database, with a clock that the test moves: time passes only in
/// pass(), and at once. It makes no full read by itself, so whatever is read anew has another reason.
/// Owner: the test; the database and the log outlive it.
template <rs::Resource T>
struct DatabaseFollower {
    DatabaseFollower(const StateDatabase& database, rs::ChangeLog& log)
        : connection(database.open()), stored(database.store<T>(*connection)), manager(log, notices, settings(), 1) {}

    void start() {
        manager.start(now);
        pass(std::chrono::seconds{1});
    }
    /// Lets time pass, and does what becomes due meanwhile.
    void pass(Duration time) {
        const Instant end = now + time;
        for (; now < end; now = std::max(now + std::chrono::milliseconds{1}, manager.next_due(now).value_or(end)))
            while (drive(manager, now)) {
            }
    }
    /// How often everything was read anew for that reason.
    [[nodiscard]] std::uint64_t relists(rs::RelistReason why) const {
        const auto found = manager.events().relists.find(why);
        return found == manager.events().relists.end() ? 0 : found->second;
    }
    [[nodiscard]] static rs::Settings settings() {
        rs::Settings made;
        made.resync.period = {};
        return made;
    }

    const std::unique_ptr<rs::SqlConnection> connection; // that rows are read by
    const std::unique_ptr<rs::ResourceStore<T>> stored;
    CountedStore<T> rows{*stored};
    KeptNotices notices;
    Instant now{1'000'000'000'000};
    rs::StateManager manager;
    rs::ResourceInformer<T>& kind = manager.add(rows);
};

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

// SPDX-License-Identifier: Apache-2.0
// Very many rows that one statement removes, while a program follows them.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/databases/followed_rows.h"
#include "tests/support/databases/heap_size.h"

namespace yk::mcs {

using namespace std::chrono_literals;
using testing::DatabaseFollower, testing::StateDatabase;

namespace {

constexpr std::size_t kCount = 50'000;  // Deployments
constexpr std::size_t kFirst = 100'000; // the number at the end of the first id, so that all have six digits

/// Counts its calls of on_delete by the number at the end of the id. Needs no memory for a call, so that what is
/// measured beside it is not its own.
class CountedDeletes final : public rs::ResourceEventHandler<Deployment> {
public:
    explicit CountedDeletes(std::string name) : name_(std::move(name)) {}
    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& /*context*/,
                                           const rs::Ptr<Deployment>& /*object*/) override {
        ++adds;
        return rs::HandlerResult::ok();
    }
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& /*context*/, const rs::Ptr<Deployment>& /*old*/,
                                              const rs::Ptr<Deployment>& /*current*/) override {
        ++updates;
        return rs::HandlerResult::ok();
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& /*context*/,
                                              const rs::Ptr<Deployment>& last) override {
        const std::string& id = last->meta.id;
        ++deletes.at(std::stoul(id.substr(id.size() - 6)) - kFirst);
        return rs::HandlerResult::ok();
    }
    /// Of how many it was called just once.
    [[nodiscard]] std::size_t seen_once() const {
        return static_cast<std::size_t>(std::count(deletes.begin(), deletes.end(), 1U));
    }

    std::size_t adds = 0, updates = 0;
    std::vector<unsigned> deletes = std::vector<unsigned>(kCount, 0);

private:
    const std::string name_;
};

/// Ids are as long as those that the daemon makes.
std::string insert_many() {
    const std::string first = std::to_string(kFirst), end = std::to_string(kFirst + kCount);
    return "WITH RECURSIVE n(i) AS (SELECT " + first + " UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " + end +
           ") INSERT INTO deployment(id, uid, version, generation, name, queue, usr, resource, min_replicas,"
           " max_replicas, created_ms, updated_ms)"
           " SELECT 'deployment-of-many-' || i, 'uid-of-deployment-' || i, 1, 1, 'name-of-one-of-many-' || i,"
           " 'root.q', 'somebody', '{\"vcore\":1000}', 0, 5, 10, 20 FROM n";
}

} // namespace

TEST_CASE("rs R-073, F-47 rows that one statement removes all go, each once for each handler, in bounded memory") {
    const StateDatabase database{YK_EACH_DATABASE};
    database.type(insert_many());
    const auto log = database.place->open_log();
    CountedDeletes one{"one"}, other{"other"};
    const double before = testing::heap_bytes();
    DatabaseFollower<Deployment> follower{database, *log};
    for (CountedDeletes* const each : {&one, &other}) follower.kind.add_handler(*each, {}, follower.now);
    follower.start();
    REQUIRE(follower.kind.cache().size() == kCount);
    REQUIRE(one.adds == kCount);
    const double steady = testing::heap_bytes() - before;
    // By a connection that is closed before anything else happens: what it needed is not the follower's.
    REQUIRE(database.open()->run("DELETE FROM deployment").ok());

    std::size_t most_keys = 0;
    double most_memory = 0;
    const auto look = [&] {
        most_keys = std::max(most_keys, follower.kind.reconciler().queue().size());
        most_memory = std::max(most_memory, testing::heap_bytes() - before);
    };
    follower.manager.wake();
    for (bool is_at_work = true; is_at_work;) {
        if (follower.manager.turn(follower.now)) continue;
        const auto call = follower.manager.next_call(follower.now);
        is_at_work = call != nullptr;
        if (!call) continue;
        call->run();
        look(); // its answer is there, and all that it will replace
        call->finish(follower.now);
        look();
    }
    follower.pass(1s);

    CHECK(follower.kind.cache().size() == 0);
    CHECK(follower.kind.reconciler().queue().size() == 0);
    for (const CountedDeletes* const each : {&one, &other}) {
        CHECK(each->seen_once() == kCount);
        CHECK(each->updates == 0);
    }
    for (const auto& each : follower.kind.deliveries().handlers()) CHECK(each->backlog() == 0);
    CHECK(follower.manager.events().relists.empty()); // each by its event, not by a full read
    CHECK(follower.kind.reconciler().counters().repairs == 0);
    CHECK(most_keys <= kCount);
    CHECK(most_keys >= rs::Settings{}.poll_batch);
    CAPTURE(steady, most_memory);
    if (testing::kHeapIsCounted) {
        REQUIRE(steady > 100.0 * static_cast<double>(kCount)); // else something else was measured
        CHECK(most_memory < 1.5 * steady);
    }
}

} // namespace yk::mcs

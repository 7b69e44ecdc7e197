// SPDX-License-Identifier: Apache-2.0
// Which writes go together, and what becomes of them when a database does not take them.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "libcore/mcs/group_commit.h"

namespace yk::mcs {

using namespace std::chrono_literals;
using What = GroupOutcome::What;

namespace {

constexpr Instant kStart{1'000'000'000};

/// A backlog, and the ids of what was answered, each with a letter for its outcome.
struct Backlog {
    explicit Backlog(const GroupCommitSettings& settings = {}) : commit(settings, 7) {}

    void add(const std::string& id, WriteCommand command, Instant now = kStart, bool waits = true) {
        commit.add(std::make_unique<WriteCall>(WriteRequest{{"api", 0}, std::move(command), waits},
                                               [this, id](const WriteOutcome& outcome, Instant) {
                                                   answered +=
                                                       id + (std::holds_alternative<Written>(outcome) ? "+" : "-");
                                                   message = message_of(outcome);
                                               }),
                   now);
    }
    void add(const std::string& id, Instant now = kStart) { add(id, DeleteNode{id, {}}, now); }
    void finish(GroupCommit::Calls group, What what, Instant now = kStart) {
        const WriteOutcome each = what == What::Answered ? WriteOutcome{Written{}} : Transient{"the disk"};
        const std::vector<WriteOutcome> outcomes(group.size(), each);
        take_over(commit.finish(std::move(group), {what, outcomes}, now));
    }
    void take_over(const GroupCommit::Calls& calls) {
        for (const auto& call : calls) call->finish(kStart);
    }
    [[nodiscard]] static std::string ids(const GroupCommit::Calls& group) {
        std::string text;
        for (const auto& call : group) text += id_of(call->request().command);
        return text;
    }

    GroupCommit commit;
    std::string answered, message;
};

} // namespace

TEST_CASE("rs R-025 writes wait for others for 2 ms, or until a transaction is full") {
    Backlog backlog{{4, 2ms, 100, {}}};
    CHECK(backlog.commit.next_due() == std::nullopt);
    backlog.add("a");
    backlog.add("b", kStart + 1ms);
    CHECK(backlog.commit.next_due() == kStart + 2ms);
    backlog.add("c", kStart + 1ms);
    CHECK(backlog.commit.next_due() == kStart + 2ms);
    backlog.add("d", kStart + 1ms);
    CHECK(backlog.commit.next_due() <= kStart);
    backlog.add("e", kStart + 1ms);
    auto group = backlog.commit.take();
    CHECK(Backlog::ids(group) == "abcd");
    CHECK(backlog.commit.next_due() == kStart + 3ms);
    backlog.finish(std::move(group), What::Answered);
    CHECK(backlog.answered == "a+b+c+d+");
    CHECK(Backlog::ids(backlog.commit.take()) == "e");
}

TEST_CASE("rs R-025 a transaction is counted in rows, and a write of more rows than it may have goes alone") {
    Backlog backlog{{4, 2ms, 100, {}}};
    const ChangePlacements two{"s", "u", {{1, {}}, {2, {}}}, {}}, nine{"t", "u", std::vector<PlacementChange>(8), {}};
    backlog.add("s", two);
    CHECK(backlog.commit.next_due() == kStart + 2ms);
    backlog.add("s", two);
    CHECK(backlog.commit.next_due() <= kStart);
    backlog.add("t", nine);
    backlog.add("a");
    for (const char* expected : {"s", "s", "t", "a"}) {
        auto group = backlog.commit.take();
        CHECK(Backlog::ids(group) == expected);
        backlog.finish(std::move(group), What::Answered);
    }
    CHECK(backlog.commit.next_due() == std::nullopt);
}

TEST_CASE("rs R-034 while a database is away writes keep their order, and it is asked with growing pauses") {
    Backlog backlog;
    for (const char* id : {"a", "b", "c"}) backlog.add(id);
    Instant now = kStart;
    Duration least = 50ms;
    for (int failures = 0; failures < 8; ++failures) {
        backlog.finish(backlog.commit.take(), What::Away, now);
        const Instant due = backlog.commit.next_due().value();
        CHECK(due - now >= least);
        CHECK(due - now <= 2 * least);
        now = due;
        least = std::min<Duration>(2 * least, 500ms);
    }
    CHECK(backlog.commit.fault() == "the disk");
    CHECK(backlog.answered.empty());
    backlog.add("d", now);
    CHECK(backlog.commit.next_due() == now); // also for what comes now
    backlog.finish(backlog.commit.take(), What::Answered, now);
    CHECK(backlog.answered == "a+b+c+d+");
    CHECK(backlog.commit.fault().empty());
    backlog.add("e", now);
    CHECK(backlog.commit.next_due() == now + 2ms);
}

TEST_CASE("rs R-158 rs R-034 a write that does not wait is answered while the database is away, the others stay") {
    Backlog backlog;
    backlog.add("a");
    backlog.add("u", DeleteNode{"u", {}}, kStart, false);
    backlog.add("b");
    backlog.finish(backlog.commit.take(), What::Away);
    CHECK(backlog.answered == "u-");
    CHECK(backlog.message == "the disk");
    CHECK(backlog.commit.fault() == "the disk");
    const Instant due = backlog.commit.next_due().value();
    backlog.finish(backlog.commit.take(), What::Answered, due);
    CHECK(backlog.answered == "u-a+b+");

    backlog.add("v", DeleteNode{"v", {}}, due, false);
    backlog.finish(backlog.commit.take(), What::Away, due);
    CHECK(backlog.answered == "u-a+b+v-");
    CHECK(backlog.commit.fault().empty()); // nothing waits, so nobody asks: the next one is to find out
    CHECK(backlog.commit.next_due() == std::nullopt);
    backlog.add("w", DeleteNode{"w", {}}, due, false);
    CHECK(backlog.commit.next_due().value() > due); // after a pause
    backlog.finish(backlog.commit.take(), What::Answered, due + 1s);
    CHECK(backlog.answered == "u-a+b+v-w+");
}

TEST_CASE("rs R-025 of a group that was undone only what cannot be written fails, and the order stays") {
    Backlog backlog;
    for (const char* id : {"a", "b", "c"}) backlog.add(id);
    backlog.finish(backlog.commit.take(), What::Undone);
    backlog.add("d");
    backlog.add("e");
    CHECK(backlog.answered.empty());
    for (const char* id : {"a", "b", "b", "c"}) { // b: away in between
        CHECK(backlog.commit.next_due().has_value());
        auto group = backlog.commit.take();
        CHECK(Backlog::ids(group) == id);
        const bool is_first_b = backlog.answered == "a+" && backlog.commit.fault().empty();
        backlog.finish(std::move(group), *id == 'b' ? (is_first_b ? What::Away : What::Undone) : What::Answered);
    }
    CHECK(backlog.answered == "a+b-c+");
    CHECK(Backlog::ids(backlog.commit.take()) == "de");
}

TEST_CASE("rs R-034 no more writes wait than may, and each that is given up says why") {
    Backlog backlog{{4, 2ms, 2, {100ms, 1s}}};
    backlog.add("a");
    CHECK_FALSE(backlog.commit.is_full());
    backlog.add("b");
    CHECK(backlog.commit.is_full());
    auto group = backlog.commit.take();
    CHECK(backlog.commit.is_full()); // those under way count
    backlog.finish(std::move(group), What::Away);
    CHECK(backlog.commit.size() == 2);
    backlog.take_over(backlog.commit.give_up("the end"));
    CHECK(backlog.answered == "a-b-");
    CHECK(backlog.message == "the end: the disk");
    CHECK(backlog.commit.size() == 0);
    CHECK(backlog.commit.next_due() == std::nullopt);
    CHECK(backlog.commit.take().empty()); // asks nobody whether it is back
    backlog.add("c");
    CHECK(backlog.commit.next_due().has_value());
}

} // namespace yk::mcs

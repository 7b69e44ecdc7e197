// SPDX-License-Identifier: Apache-2.0
// The end of a recovery (interface.md 3.2, 3.4 and I-255): timers, attempts, and what is compared.

#include "ykd/owner/rm_recovery.h"

#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <string>
#include <vector>

using namespace yk;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Instant kStart{1'000'000'000'000'000'000};
constexpr auto kRecovering = si::CoreState::Recovering;

enum class In { Both, RmOnly, CoreOnly, Quarantine }; // Quarantine: the RM counts it, the core has set it aside

/// What an RM counts, and what the core has.
struct Sides {
    si::RecoveryDoneRequest claim;
    RecoveryView view;

    Sides() {
        claim.rm_id = "rm";
        claim.id = "restart-7";
        view.partitions["default"];
    }

    Sides& node(const std::string& id, In in = In::Both) {
        add(RecoveryKind::Nodes, recovery::bucket_of("default", id),
            recovery::line_hash(recovery::node_line("default", id, "vcore=10", true)), in, {id, {}, {}});
        return *this;
    }
    Sides& application(const std::string& id, In in = In::Both) {
        add(RecoveryKind::Applications, recovery::bucket_of("default", id),
            recovery::line_hash(recovery::application_line("default", id)), in, {{}, id, {}});
        return *this;
    }
    Sides& allocation(const std::string& key, In in = In::Both, const std::string& size = "vcore=1") {
        add(RecoveryKind::Allocations, recovery::bucket_of("default", "app", key),
            recovery::line_hash(recovery::allocation_line("default", "app", key, "n", size, false)), in,
            {"n", "app", key});
        return *this;
    }
    Sides& attempt(std::uint32_t number) {
        claim.attempt = number;
        return *this;
    }

private:
    struct Ids {
        std::string node, application, key;
    };
    void add(RecoveryKind kind, std::uint8_t bucket, std::uint64_t hash, In in, const Ids& ids) {
        const auto at = static_cast<std::size_t>(kind);
        if (in != In::CoreOnly) {
            const std::array<std::uint64_t*, 3> counts{&claim.expected.nodes, &claim.expected.applications,
                                                       &claim.expected.allocations};
            const std::array<std::uint64_t*, 3> sums{&claim.digest.nodes, &claim.digest.applications,
                                                     &claim.digest.allocations};
            ++*counts[at];
            *sums[at] += hash;
        }
        if (in == In::Both || in == In::CoreOnly) view.partitions["default"].restored[at].add(bucket, hash);
        if (in != In::Quarantine) return;
        view.quarantined[at].add(bucket, hash);
        view.quarantine.push_back(
            {kind, "default", ids.node, ids.application, ids.key, QuarantineReason::AppUnknown, kStart});
        ++view.quarantine_total;
    }
};

/// A node, an application and two allocations that both sides have.
Sides sound() {
    Sides sides;
    sides.node("n").application("app").allocation("k").allocation("l");
    return sides;
}

struct Recovery : RmRecovery {
    explicit Recovery(std::uint32_t max_quarantined = 0, std::uint32_t max_attempts = 5)
        : RmRecovery("rm", {std::chrono::seconds{600}, std::chrono::seconds{120}, max_attempts}) {
        si::RecoveryRequest wish;
        wish.id = "restart-7";
        wish.timeout_seconds = 600;
        wish.idle_seconds = 120;
        wish.auto_accept.max_quarantined = max_quarantined;
        begin(wish, kStart);
    }
    /// As the owner does it.
    const si::RecoveryReport& done(const Sides& sides, Instant now = kStart, si::CoreState state = kRecovering) {
        REQUIRE(check(sides.claim, state).ok());
        REQUIRE(answered(sides.claim) == nullptr);
        note_update(now);
        return compare(sides.claim, sides.view, state, now);
    }
};

std::string refused(const RmRecovery& recovery, const si::RecoveryDoneRequest& claim,
                    si::CoreState state = kRecovering) {
    const auto outcome = recovery.check(claim, state);
    return outcome.ok() ? "" : outcome.error().where + ": " + outcome.error().message;
}

} // namespace

// --- success --------------------------------------------------------------------------------------------------------

TEST_CASE("I-236 I-237 a recovery succeeds when both sides have the same, and the report says what that is") {
    Recovery recovery;
    const Sides sides = sound();
    const si::RecoveryReport& report = recovery.done(sides, kStart + milliseconds{1500});
    CHECK(report.rm_id == "rm");
    CHECK(report.id == "restart-7");
    CHECK(report.attempt == 1);
    CHECK(report.result == "running");
    CHECK(report.counts.nodes == si::RecoveryCountPair{1, 1});
    CHECK(report.counts.applications == si::RecoveryCountPair{1, 1});
    CHECK(report.counts.allocations == si::RecoveryCountPair{2, 2});
    CHECK(!report.counts.asks);
    CHECK(report.digest_match == si::RecoveryMatches{true, true, true});
    CHECK(!report.buckets);
    CHECK(report.incomplete_nodes.empty());
    CHECK(report.quarantine.empty());
    CHECK(report.quarantine_total == 0);
    CHECK(report.unused_tombstones == 0);
    CHECK(report.duration_ms == 1500);
    CHECK(!report.truncated);
    CHECK(report.faults.empty());
}

TEST_CASE("I-236 an RM that has nothing succeeds, too; so does one with several partitions") {
    Recovery empty, two;
    CHECK(empty.done(Sides{}).result == "running");
    Sides sides = sound();
    const std::uint64_t hash = recovery::line_hash(recovery::application_line("gpu", "app"));
    sides.view.partitions["gpu"].restored[1].add(recovery::bucket_of("gpu", "app"), hash);
    ++sides.claim.expected.applications; // totals over all of them
    sides.claim.digest.applications += hash;
    const si::RecoveryReport& report = two.done(sides);
    CHECK(report.result == "running");
    CHECK(report.counts.applications == si::RecoveryCountPair{2, 2});
}

TEST_CASE("I-236 asks are compared by their number, and only if the RM counts them") {
    for (const bool counted : {false, true}) {
        Recovery recovery;
        Sides sides = sound();
        sides.view.partitions["default"].pending_asks = 3;
        if (counted) sides.claim.expected.asks = 2;
        CHECK(recovery.done(sides).result == (counted ? "retry" : "running"));
        if (!counted) continue;
        sides.claim.expected.asks = 3;
        const si::RecoveryReport& report = recovery.done(sides.attempt(2));
        CHECK(report.result == "running");
        CHECK(report.counts.asks == si::RecoveryCountPair{3, 3});
    }
}

// --- mismatch -------------------------------------------------------------------------------------------------------

TEST_CASE("I-236 I-239 whatever differs, or is not as it should be, is a mismatch") {
    struct Row {
        const char* what;
        std::function<void(Sides&)> spoil;
    };
    const Row rows[] = {
        {"a node is missing", [](Sides& s) { s.node("m", In::RmOnly); }},
        {"an application is missing", [](Sides& s) { s.application("b", In::RmOnly); }},
        {"an allocation is missing", [](Sides& s) { s.allocation("m", In::RmOnly); }},
        {"a node is too much", [](Sides& s) { s.node("m", In::CoreOnly); }},
        {"an application is too much", [](Sides& s) { s.application("b", In::CoreOnly); }},
        {"an allocation is too much", [](Sides& s) { s.allocation("m", In::CoreOnly); }},
        {"an allocation has another size",
         [](Sides& s) { s.allocation("m", In::RmOnly).allocation("m", In::CoreOnly, "vcore=2"); }},
        {"a number of nodes", [](Sides& s) { ++s.claim.expected.nodes; }},
        {"a number of applications", [](Sides& s) { --s.claim.expected.applications; }},
        {"a number of allocations", [](Sides& s) { ++s.claim.expected.allocations; }},
        {"a digest of nodes", [](Sides& s) { ++s.claim.digest.nodes; }},
        {"a digest of applications", [](Sides& s) { --s.claim.digest.applications; }},
        {"a digest of allocations", [](Sides& s) { ++s.claim.digest.allocations; }},
        {"an incomplete node",
         [](Sides& s) {
             s.view.incomplete.push_back({"default", "n", {}, {}, 2, 1});
             s.view.incomplete_total = 1;
         }},
        {"something in quarantine", [](Sides& s) { s.allocation("m", In::Quarantine); }},
        {"something in quarantine that the RM does not count", [](Sides& s) { s.view.quarantine_total = 1; }},
        {"an unused tombstone", [](Sides& s) { s.view.unused_tombstones = 1; }},
        {"a health check", [](Sides& s) { s.view.faults = {"check: n is wrong"}; }},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        Recovery recovery;
        Sides sides = sound();
        row.spoil(sides);
        CHECK(recovery.done(sides).result == "retry");
        CHECK(recovery.done(sound().attempt(2)).result == "running"); // it was mended
    }
}

TEST_CASE("I-237 the report of a mismatch has the buckets of the kinds whose digests differ, and both counts") {
    Recovery recovery;
    Sides sides = sound();
    sides.allocation("m", In::RmOnly);
    ++sides.claim.expected.nodes; // its digest does not differ
    const si::RecoveryReport& report = recovery.done(sides);
    CHECK(report.counts.nodes == si::RecoveryCountPair{2, 1});
    CHECK(report.counts.allocations == si::RecoveryCountPair{3, 2});
    CHECK(report.digest_match == si::RecoveryMatches{true, true, false});
    REQUIRE(report.buckets);
    CHECK(!report.buckets->nodes);
    CHECK(!report.buckets->applications);
    REQUIRE(report.buckets->allocations);
    CHECK(report.buckets->allocations == si::Binary{sides.view.restored(RecoveryKind::Allocations).bucket_bytes()});
}

TEST_CASE("I-237 the report lists incomplete nodes, the quarantine and faults; what is cut counts on") {
    Recovery recovery;
    Sides sides = sound();
    sides.view.incomplete.push_back({"gpu", "n", {{"vcore", 2}}, {{"memory", 1}}, 3, 1});
    sides.view.incomplete_total = 1;
    sides.allocation("m", In::Quarantine);
    sides.view.unused_tombstones = 4;
    sides.view.faults = {"check: n is wrong"};
    const si::RecoveryReport first = recovery.done(sides);
    REQUIRE(first.incomplete_nodes.size() == 1);
    CHECK(first.incomplete_nodes[0] ==
          si::IncompleteNode{"n", "gpu", si::Resources{{"vcore", 2}}, si::Resources{{"memory", 1}}, 3, 1});
    REQUIRE(first.quarantine.size() == 1);
    CHECK(first.quarantine[0] ==
          si::QuarantinedObject{"allocations", "default", "n", "app", "m", "APP_UNKNOWN", kStart.ns});
    CHECK(first.quarantine_total == 1);
    CHECK(first.unused_tombstones == 4);
    CHECK(first.faults == std::vector<std::string>{"check: n is wrong"});
    CHECK(!first.truncated);
    sides.view.quarantine_total = 1001;
    CHECK(recovery.done(sides.attempt(2)).truncated);
    CHECK(recovery.done(sides.attempt(3)).quarantine_total == 1001);
    sides.view.quarantine_total = 1;
    sides.view.incomplete_total = 1001;
    CHECK(recovery.done(sides.attempt(4)).truncated);
}

TEST_CASE("I-230 what the RM claims of single partitions is compared with these") {
    using Claims = si::PartitionClaims;
    const Sides right = sound();
    const si::PartitionClaim both{right.claim.expected, right.claim.digest};
    si::PartitionClaim count = both, digest = both;
    ++count.expected->allocations;
    ++digest.digest->nodes;
    struct Row {
        Claims claims;
        const char* result;
    };
    const Row rows[] = {{{}, "running"},
                        {{{"default", both}}, "running"},
                        {{{"default", {}}}, "running"},
                        {{{"default", {both.expected, {}}}}, "running"},
                        {{{"default", {{}, both.digest}}}, "running"},
                        {{{"default", count}}, "retry"},
                        {{{"default", digest}}, "retry"},
                        {{{"default", both}, {"gpu", both}}, "retry"}};
    for (const Row& row : rows) {
        Recovery recovery;
        Sides sides = right;
        sides.claim.partitions = row.claims;
        CHECK(recovery.done(sides).result == row.result);
    }
}

// --- attempts -------------------------------------------------------------------------------------------------------

TEST_CASE("I-239 a mismatch may be tried again until the last attempt") {
    Recovery recovery, once{0, 1};
    Sides sides = sound();
    sides.node("m", In::RmOnly);
    for (const std::uint32_t attempt : {1U, 2U, 3U, 4U}) {
        CHECK(recovery.done(sides.attempt(attempt)).result == "retry");
        CHECK(recovery.attempt() == attempt);
    }
    CHECK(recovery.done(sides.attempt(5)).result == "failed");
    CHECK(once.done(sides.attempt(1)).result == "failed");
    Recovery last;
    CHECK(last.done(sound().attempt(5)).result == "running"); // the last one may succeed
}

TEST_CASE("I-239 a mismatch after the total time is the last one") {
    for (const int after : {599, 600}) {
        Recovery recovery;
        Sides sides = sound();
        sides.node("m", In::RmOnly);
        CHECK(recovery.done(sides, kStart + seconds{after}).result == (after == 600 ? "failed" : "retry"));
    }
}

TEST_CASE("I-202 I-241 a recovery that failed is compared, but goes on only when it is resolved") {
    Recovery recovery;
    const si::RecoveryReport& report = recovery.done(sound(), kStart, si::CoreState::Failed);
    CHECK(report.result == "failed");
    CHECK(report.digest_match == si::RecoveryMatches{true, true, true});
}

TEST_CASE("I-241 the same claim again has the same report, whatever is there by now and whatever the state is") {
    Recovery recovery;
    Sides sides = sound();
    const si::RecoveryReport first = recovery.done(sides, kStart + seconds{1});
    for (const auto state : {kRecovering, si::CoreState::Running, si::CoreState::Suspended, si::CoreState::Failed}) {
        CHECK(refused(recovery, sides.claim, state).empty());
        const si::RecoveryReport* same = recovery.answered(sides.claim);
        REQUIRE(same != nullptr);
        CHECK(*same == first);
    }
    CHECK(recovery.answered(sides.attempt(2).claim) == nullptr);
}

TEST_CASE("I-241 a claim for another recovery, of an older attempt or in another state is refused") {
    Recovery recovery;
    Sides sides = sound();
    sides.node("m", In::RmOnly);
    recovery.done(sides.attempt(2));
    CHECK(refused(recovery, sides.attempt(1).claim).substr(0, 9) == "attempt: ");
    CHECK(refused(recovery, sides.attempt(2).claim).empty()); // the same again
    CHECK(refused(recovery, sides.attempt(3).claim).empty());
    CHECK(refused(recovery, sides.attempt(9).claim).empty());
    sides.claim.id = "restart-6";
    CHECK(refused(recovery, sides.claim).substr(0, 4) == "id: ");
    CHECK(recovery.answered(sides.attempt(2).claim) == nullptr);
    sides.claim.id = "restart-7";
    sides.attempt(3);
    for (const auto state : {si::CoreState::New, si::CoreState::Running, si::CoreState::Suspended, si::CoreState::Lost})
        CHECK(!refused(recovery, sides.claim, state).empty());
    for (const auto state : {kRecovering, si::CoreState::Failed}) CHECK(refused(recovery, sides.claim, state).empty());
}

TEST_CASE("I-241 an RM without recovery has none to end; attempts count from 1") {
    const RmRecovery none{"rm", {}};
    CHECK(refused(none, sound().claim, si::CoreState::Running).substr(0, 6) == "rmID: ");
    CHECK(refused(none, sound().claim).empty()); // one that lost its consistency and is tried again (I-245)
    Recovery recovery;
    CHECK(!refused(recovery, sound().attempt(0).claim).empty());
    recovery.clear();
    CHECK(!refused(recovery, sound().claim, si::CoreState::Running).empty());
}

TEST_CASE("I-241 I-245 an RM that registered without recovery and lost its consistency may end one, once per attempt") {
    RmRecovery recovery{"rm", {}};
    const Sides sides = sound();
    recovery.begin_again(kStart); // ResolveRecovery: retry
    CHECK(refused(recovery, sides.claim).empty());
    const si::RecoveryReport report = recovery.compare(sides.claim, sides.view, kRecovering, kStart);
    CHECK(report.result == "running");
    CHECK(report.id == "restart-7");
    CHECK(refused(recovery, sides.claim, si::CoreState::Running).empty()); // the same again
    const si::RecoveryReport* same = recovery.answered(sides.claim);
    CHECK((same != nullptr && *same == report));
}

TEST_CASE("I-254 a recovery that begins again has fresh timers and attempts, and no report of before") {
    Recovery recovery;
    Sides sides = sound();
    sides.node("m", In::RmOnly);
    recovery.done(sides.attempt(5));
    const Instant later = kStart + seconds{1000};
    recovery.begin_again(later);
    CHECK(recovery.attempt() == 0);
    CHECK(recovery.started() == later);
    CHECK(recovery.deadline() == later + seconds{120});
    CHECK(recovery.answered(sides.claim) == nullptr);
    CHECK(recovery.done(sides.attempt(1), later).result == "retry");
    CHECK(recovery.wish().id == "restart-7");
}

// --- timers ---------------------------------------------------------------------------------------------------------

TEST_CASE("I-213 a recovery takes too long when no update comes, or in total") {
    Recovery recovery;
    CHECK(recovery.deadline() == kStart + seconds{120});
    CHECK(!recovery.timed_out(kStart + seconds{120} - milliseconds{1}));
    CHECK(recovery.timed_out(kStart + seconds{120}) == "timeout: no update came for 120 s");
    for (int at = 100; at < 600; at += 100) recovery.note_update(kStart + seconds{at});
    CHECK(recovery.deadline() == kStart + seconds{600}); // not 620
    CHECK(!recovery.timed_out(kStart + seconds{599}));
    CHECK(recovery.timed_out(kStart + seconds{600}) == "timeout: it took longer than 600 s");
}

TEST_CASE("I-213 the report of a recovery that took too long compares with the forecast of the registration") {
    for (const bool forecast : {false, true}) {
        Recovery recovery;
        si::RecoveryRequest wish = recovery.wish();
        if (forecast) wish.expected = si::RecoveryCounts{7, 8, 9, {}};
        recovery.begin(wish, kStart);
        Sides sides = sound();
        sides.allocation("m", In::Quarantine);
        sides.view.faults = {"check: n is wrong"};
        const si::RecoveryReport report = recovery.report_failure(sides.view, "timeout: why", kStart + seconds{2});
        CHECK(report.rm_id == "rm");
        CHECK(report.id == "restart-7");
        CHECK(report.attempt == 0);
        CHECK(report.result == "failed");
        CHECK(report.counts.nodes == si::RecoveryCountPair{forecast ? 7U : 0U, 1});
        CHECK(report.counts.applications == si::RecoveryCountPair{forecast ? 8U : 0U, 1});
        CHECK(report.counts.allocations == si::RecoveryCountPair{forecast ? 9U : 0U, 2});
        CHECK(report.quarantine.size() == 1);
        CHECK(report.faults == std::vector<std::string>{"timeout: why", "check: n is wrong"});
        CHECK(report.duration_ms == 2000);
    }
}

TEST_CASE("I-212 I-213 the settings say how long a recovery may take when its registration does not") {
    RmRecovery recovery{"rm", {seconds{60}, milliseconds{1500}, 5}};
    si::RecoveryRequest wish;
    wish.id = "r";
    recovery.begin(wish, kStart);
    CHECK(recovery.deadline() == kStart + milliseconds{1500});
    CHECK(recovery.timed_out(kStart + milliseconds{1500}) == "timeout: no update came for 1.5 s");
    CHECK(recovery.timed_out(kStart + seconds{60}) == "timeout: it took longer than 60 s");
    wish.idle_seconds = 7;
    recovery.begin(wish, kStart);
    CHECK(recovery.deadline() == kStart + seconds{7});
    wish.timeout_seconds = 3;
    recovery.begin(wish, kStart);
    CHECK(recovery.deadline() == kStart + seconds{3});
}

TEST_CASE("I-237 the last report is that of the last claim, or of the timer that was over") {
    Recovery recovery;
    CHECK(recovery.last_report() == nullptr);
    Sides sides = sound();
    sides.claim.expected.nodes = 9;
    recovery.done(sides);
    REQUIRE(recovery.last_report() != nullptr);
    CHECK(recovery.last_report()->result == "retry");
    recovery.report_failure(sides.view, "timeout: why", kStart + seconds{2});
    CHECK(recovery.last_report()->result == "failed");
    REQUIRE(recovery.answered(sides.claim) != nullptr); // the claim has the answer that it had
    CHECK(recovery.answered(sides.claim)->result == "retry");
    recovery.begin_again(kStart + seconds{3});
    CHECK(recovery.last_report() == nullptr);
}

// --- auto accept ----------------------------------------------------------------------------------------------------

TEST_CASE("I-255 as many as the RM announced may be in quarantine, if they are all that is missing") {
    Recovery recovery{2};
    Sides sides = sound();
    sides.allocation("m", In::Quarantine).application("b", In::Quarantine);
    const si::RecoveryReport& report = recovery.done(sides);
    CHECK(report.result == "running");
    CHECK(report.counts.applications == si::RecoveryCountPair{2, 1});
    CHECK(report.counts.allocations == si::RecoveryCountPair{3, 2});
    CHECK(report.quarantine.size() == 2);
    CHECK(report.quarantine_total == 2);
}

TEST_CASE("I-255 nothing else may be missing, and nothing else may be wrong") {
    struct Row {
        const char* what;
        std::function<void(Sides&)> spoil;
    };
    const Row rows[] = {
        {"one too many", [](Sides& s) { s.node("m", In::Quarantine); }},
        {"another one is missing", [](Sides& s) { s.allocation("o", In::RmOnly); }},
        {"a node is missing", [](Sides& s) { s.node("m", In::RmOnly); }},
        {"a node is too much", [](Sides& s) { s.node("m", In::CoreOnly); }},
        {"the RM has it with another size", // the numbers add up, the digests do not
         [](Sides& s) {
             --s.claim.expected.allocations;
             s.claim.digest.allocations -=
                 recovery::line_hash(recovery::allocation_line("default", "app", "m", "n", "vcore=1", false));
             s.allocation("m", In::RmOnly, "vcore=2");
         }},
        {"the RM does not count one of them",
         [](Sides& s) {
             --s.claim.expected.allocations;
             s.claim.digest.allocations -=
                 recovery::line_hash(recovery::allocation_line("default", "app", "m", "n", "vcore=1", false));
         }},
        {"an incomplete node", [](Sides& s) { s.view.incomplete_total = 1; }},
        {"an unused tombstone", [](Sides& s) { s.view.unused_tombstones = 1; }},
        {"a health check", [](Sides& s) { s.view.faults = {"check: n is wrong"}; }},
        {"asks", [](Sides& s) { s.claim.expected.asks = 1; }},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        Recovery recovery{2};
        Sides sides = sound();
        sides.allocation("m", In::Quarantine).application("b", In::Quarantine);
        row.spoil(sides);
        CHECK(recovery.done(sides).result == "retry");
    }
}

TEST_CASE("I-255 an RM that announced some succeeds as ever when there are none") {
    Recovery recovery{2};
    Sides sides = sound();
    sides.allocation("m", In::RmOnly);
    CHECK(recovery.done(sides).result == "retry"); // missing without being in quarantine
    CHECK(recovery.done(sound().attempt(2)).result == "running");
}

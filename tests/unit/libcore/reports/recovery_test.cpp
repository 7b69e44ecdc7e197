// SPDX-License-Identifier: Apache-2.0
// What a core reports of a recovery: digests and lists of what was restored (I-230 to I-235, I-240).

#include "libcore/reports/recovery.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/support/cluster.h"

namespace yk::testing {

namespace {

constexpr auto kNodes = RecoveryKind::Nodes;
constexpr auto kApplications = RecoveryKind::Applications;
constexpr auto kAllocations = RecoveryKind::Allocations;

/// The node, the application and both allocations of I-234, and the same in a second partition.
Cluster sample() {
    const std::string queues = "queues: [{name: root, submitacl: '*', queues: [{name: a}]}]";
    Cluster c;
    c.play(fmt::format("config partitions: [{{name: default, {}}}, {{name: gpu, {}}}]", queues, queues));
    c.begin_recovery();
    for (const std::string part : {"default", "gpu"}) {
        c.play(fmt::format("nodes create id=node-1 part={} res=vcore:10,memory:1000,gpu:0", part));
        c.play(fmt::format("apps new id=app-1 part={} queue=root.a", part));
        c.play(fmt::format("alloc place part={} app=app-1 key=alloc-1 res=vcore:1,memory:100 node=node-1", part));
        c.play(fmt::format("alloc place part={} app=app-1 key=alloc-2 res=vcore:1,memory:100 node=node-1 placeholder=1 "
                           "group=g",
                           part));
    }
    return c;
}

std::string text_of(const RecoveryItem& item) {
    return fmt::format("{} {}{} {} {}", item.partition, item.node,
                       item.application.empty() ? "" : " " + item.application, item.key, item.hash % 1000);
}

/// `partition node application key` of all, with blanks where there is none; by pages of `size`.
std::vector<RecoveryItem> all(Cluster& c, RecoveryKind kind, std::size_t size,
                              std::optional<std::uint8_t> bucket = std::nullopt) {
    std::vector<RecoveryItem> items;
    std::optional<RecoveryItem> after;
    while (true) {
        const auto page = c.core().recovery().items(kind, bucket, after, size);
        CHECK(page.size() <= size);
        items.insert(items.end(), page.begin(), page.end());
        if (page.size() < size) return items;
        after = page.back();
    }
}

Lines lines_of(const std::vector<RecoveryItem>& items) {
    Lines lines;
    for (const RecoveryItem& item : items) lines.push_back(text_of(item));
    return lines;
}

} // namespace

TEST_CASE("I-233 I-234 the digests of what was restored are those of the specification") {
    Cluster c = sample();
    const RecoveryView view = c.core().recovery().view();
    const RecoveryDigests& digests = view.partitions.at("default").restored;
    CHECK(digests[0].sum() == 0xbed12ac409fee920);
    CHECK(digests[1].sum() == 0x4759723375206710);
    CHECK(digests[2].sum() == 0xfade705232fafc03);
    CHECK(digests[2].count() == 2);
    CHECK(view.restored(kAllocations).count() == 4); // of both partitions
    CHECK(view.restored(kNodes).sum() != 2 * digests[0].sum());
}

TEST_CASE(
    "I-233 a drained node has another line, a resized allocation as well; foreign ones count without application") {
    Cluster c;
    c.begin_recovery().node("n", "vcore:10").application("a").existing("a", "k", "vcore:1", "n");
    const auto sum = [&c](RecoveryKind kind) { return c.core().recovery().view().restored(kind).sum(); };
    CHECK(sum(kNodes) == recovery::line_hash("N\tdefault\tn\tvcore=10\t1\n"));
    CHECK(sum(kAllocations) == recovery::line_hash("L\tdefault\ta\tk\tn\tvcore=1\t0\n"));
    c.play("nodes drain id=n | update id=n res=vcore:11,gpu:2");
    c.existing("a", "k", "vcore:2", "n");
    CHECK(sum(kNodes) == recovery::line_hash("N\tdefault\tn\tgpu=2,vcore=11\t0\n"));
    CHECK(sum(kAllocations) == recovery::line_hash("L\tdefault\ta\tk\tn\tvcore=2\t0\n"));
    c.release("a", "k");
    c.play("alloc place key=f app=ignored res=vcore:0 node=n tags=foreign:default");
    CHECK(sum(kAllocations) == recovery::line_hash("L\tdefault\t\tf\tn\t\t0\n"));
    CHECK(c.core().recovery().progress().allocations == 1);
}

TEST_CASE("I-230 I-255 what is in quarantine has digests of its own, over the lines that its RM counts") {
    Cluster c;
    c.begin_recovery(false)
        .application("late", "root.nowhere")
        .existing("a", "k", "vcore:1", "n", "placeholder=1 group=g");
    c.play("alloc place key=f res=vcore:3 node=m tags=foreign:default");
    c.play("nodes create id=x res=vcore:-1");
    const RecoveryView view = c.core().recovery().view();
    CHECK(view.quarantine_total == 4);
    CHECK(view.quarantined[0].sum() == recovery::line_hash("N\tdefault\tx\tvcore=-1\t1\n"));
    CHECK(view.quarantined[1].sum() == recovery::line_hash("A\tdefault\tlate\n"));
    CHECK(view.quarantined[2].sum() == recovery::line_hash("L\tdefault\ta\tk\tn\tvcore=1\t1\n") +
                                           recovery::line_hash("L\tdefault\t\tf\tm\tvcore=3\t0\n"));
    CHECK(view.quarantined[2].count() == 2);
    for (const RecoveryKind kind : kRecoveryKinds) CHECK(view.restored(kind).count() == 0);
    CHECK(c.core().recovery().progress().quarantined == 4);
    c.ask("a", "l", "vcore:1"); // an ask that waits is no object
    CHECK(c.core().recovery().progress().quarantined == 4);
    CHECK(c.core().recovery().view().quarantine_total == 4);
}

TEST_CASE("I-240 lists are sorted by their ids, whatever the size of their pages") {
    Cluster c = sample();
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{100}}) {
        INFO(size);
        CHECK(lines_of(all(c, kNodes, size)).size() == 2);
        CHECK(lines_of(all(c, kNodes, size))[0] == fmt::format("default node-1  {}", 0xbed12ac409fee920 % 1000));
        const auto applications = all(c, kApplications, size);
        REQUIRE(applications.size() == 2);
        CHECK(applications[0].partition == "default");
        CHECK(applications[0].application == "app-1");
        CHECK(applications[0].hash == 0x4759723375206710);
        CHECK(applications[1].partition == "gpu");
        const auto allocations = all(c, kAllocations, size);
        REQUIRE(allocations.size() == 4);
        CHECK(allocations[0].key == "alloc-1");
        CHECK(allocations[0].node == "node-1");
        CHECK(allocations[0].hash == 0x904b3b91d577c385);
        CHECK(allocations[1].key == "alloc-2");
        CHECK(allocations[1].hash == 0x6a9334c05d83387e);
        CHECK(allocations[2].partition == "gpu");
    }
}

TEST_CASE("I-235 I-240 a list of one bucket has what adds up to its sum") {
    Cluster c = sample();
    const RecoveryView view = c.core().recovery().view();
    for (const RecoveryKind kind : kRecoveryKinds) {
        std::size_t listed = 0;
        std::uint64_t sum = 0;
        for (unsigned bucket = 0; bucket < 256; ++bucket)
            for (const RecoveryItem& item : all(c, kind, 1, static_cast<std::uint8_t>(bucket))) {
                ++listed;
                sum += item.hash;
            }
        CHECK(listed == view.restored(kind).count());
        CHECK(sum == view.restored(kind).sum());
    }
    const auto bucket = recovery::bucket_of("default", "app-1", "alloc-1");
    const auto items = all(c, kAllocations, 10, bucket);
    CHECK(std::any_of(items.begin(), items.end(), [](const RecoveryItem& item) { return item.key == "alloc-1"; }));
}

TEST_CASE("I-240 lists have what was restored, in every state, and nothing that waits") {
    Cluster c;
    c.node("n", "vcore:10").application("a").ask("a", "k", "vcore:1").begin_recovery();
    c.existing("b", "l", "vcore:1", "n");
    c.end_recovery();
    CHECK(all(c, kAllocations, 10).empty());
    CHECK(all(c, kNodes, 10).size() == 1);
    c.cycles(1);
    CHECK(all(c, kAllocations, 10).size() == 1);
}

TEST_CASE("I-236 health checks that fail are reported by name, over-commitment is none of them") {
    Cluster c;
    c.begin_recovery().node("n", "vcore:2").application("a").existing("a", "k", "vcore:5", "n");
    CHECK(c.node_view("n").available == ResourceMapView{{"vcore", -3}});
    CHECK(c.core().recovery().view().faults.empty()); // trap (f)
}

} // namespace yk::testing

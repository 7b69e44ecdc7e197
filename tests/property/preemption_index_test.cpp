// SPDX-License-Identifier: Apache-2.0
// The search for victims in the index and what its boards remember, against a plain walk over all nodes with
// candidates: the same commands, the same decisions, word for word (section 5 no. 15 of the preemption specification).

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/support/cluster.h"
#include "tests/support/random_commands.h"
#include "tests/support/random_config.h"
#include "tests/support/shrink.h"

namespace yk::testing {

namespace {

constexpr std::size_t kPlain = std::numeric_limits<std::size_t>::max();

Settings with_listed(std::size_t listed) {
    Settings settings = Cluster::manual_settings();
    settings.shortcuts.listed_victims = listed;
    return settings;
}

/// A cluster of leaves that borrow, and starved ones that ask for a few sizes again and again.
class Story {
public:
    explicit Story(std::uint64_t seed) : random_(seed) {
        queues_ = queues();
        for (const std::size_t listed : {std::size_t{0}, kPlain})
            twins_.push_back(std::make_unique<Cluster>(queues_, "", "", with_listed(listed)));
        for (int i = 0; i < kNodes; ++i) nodes_.push_back(fmt::format("n-{:02}", i));
        for (const std::string& node : nodes_) play(fmt::format("nodes create id={} res=memory:24,gpu:8", node));
        for (const char* leaf : {"low.l0", "low.l1", "low.l2", "low.l3", "m", "u0", "u1"})
            play(fmt::format("apps new id={} queue=root.{}", name_of(leaf), leaf));
        for (int i = 0; i < kNodes * 7; ++i) borrow();
    }

    void step() {
        const auto what = random_.between(1, 100);
        if (what <= 55)
            ask();
        else if (what <= 70)
            borrow();
        else if (what <= 78)
            play(fmt::format("nodes {} id={}", random_.chance(40) ? "drain" : "schedulable", random_.of(nodes_)));
        else if (what <= 86)
            advance(std::chrono::seconds{16});
        else
            finish();
        play("cycle 2");
        const std::string leaving = twins_[0]->preempted();
        for (std::size_t from = 0; from < leaving.size();) {
            const std::size_t to = std::min(leaving.find(' ', from), leaving.size());
            victims_ += random_.chance(70) ? release(leaving.substr(from, to - from), 3) : 0;
            from = to + 1;
        }
    }

    /// Empty, or how the two differ.
    [[nodiscard]] std::string difference() {
        const auto fast = twins_[0]->notices_in_full(), plain = twins_[1]->notices_in_full();
        if (fast != plain) return fmt::format("{}\nand plainly\n{}", fmt::join(fast, "\n"), fmt::join(plain, "\n"));
        return twins_[0]->preempted() == twins_[1]->preempted() ? "" : "other victims";
    }
    [[nodiscard]] int victims() const { return victims_; }

private:
    static constexpr int kNodes = 20;

    std::string queues() {
        const auto leaf = [this](const char* name, int least, int most) {
            std::string text = fmt::format("{{name: {}", name);
            if (random_.chance(70))
                text += fmt::format(", resources: {{guaranteed: {{memory: {}, gpu: {}}}}}",
                                    random_.between(least, most), random_.between(least, most) / 3);
            return text + fmt::format(", properties: {{priority.offset: '{}', priority.policy: {}}}}}",
                                      random_.chance(30) ? random_.between(-2, 2) : 0,
                                      random_.chance(20) ? "fence" : "default");
        };
        std::string text = "[{name: low, parent: true, queues: [";
        for (const char* name : {"l0", "l1", "l2", "l3"}) text += leaf(name, 5, 80) + ",";
        text += "]}," + leaf("m", 20, 100) + ",";
        for (const char* name : {"u0", "u1"})
            text += fmt::format("{{name: {}, resources: {{guaranteed: {{memory: {}, gpu: {}}}}}, properties: "
                                "{{preemption.leastharm: {}, preemption.charge: {}}}}},",
                                name, random_.between(20, 300), random_.between(10, 90),
                                random_.chance(25) ? "enabled" : "disabled", random_.chance(25) ? "ask" : "victim");
        return text + "]";
    }

    static std::string name_of(const std::string& leaf) { return leaf.substr(leaf.find('.') + 1); }
    void play(const std::string& command) {
        for (auto& twin : twins_) twin->play(command);
    }
    void advance(Duration by) {
        for (auto& twin : twins_) twin->advance(by);
    }
    /// Something on a node, in a leaf that may have to give it back.
    void borrow() {
        const char* leaves[] = {"l0", "l1", "l2", "l3", "m"};
        const std::string app = leaves[random_.between(0, 4)];
        keys_.push_back(fmt::format("{}/{}", app, keys_.size()));
        const std::string size = fmt::format("memory:{},gpu:{}", random_.between(1, 6), random_.between(0, 3));
        const std::string more =
            fmt::format("self={} originator={} prio={} tags=creationTime:{}", random_.chance(75) ? 1 : 0,
                        random_.chance(10) ? 1 : 0, random_.between(0, 3), random_.between(1, 4));
        play(fmt::format("alloc place app={} key={} res={} node={} {}", app, keys_.back(), size, random_.of(nodes_),
                         more));
    }
    void ask() {
        const char* sizes[] = {"memory:6,gpu:1", "memory:3,gpu:3", "memory:10", "gpu:5", "memory:16,gpu:6"};
        const std::string app = random_.chance(60) ? "u0" : "u1";
        keys_.push_back(fmt::format("{}/{}", app, keys_.size()));
        play(fmt::format("alloc ask app={} key={} res={} prio={} other=1 tags=creationTime:1000", app, keys_.back(),
                         sizes[random_.between(0, 4)], random_.between(1, 4)));
    }
    void finish() {
        if (!keys_.empty()) release(random_.of(keys_), 1);
    }
    int release(const std::string& key, int type) {
        play(fmt::format("alloc release app={} key={} type={}", key.substr(0, key.find('/')), key, type));
        return 1;
    }

    Random random_;
    std::string queues_;
    std::vector<std::unique_ptr<Cluster>> twins_; // with the index, without
    std::vector<std::string> nodes_, keys_;
    int victims_ = 0;
};

} // namespace

TEST_CASE("P section 5 no. 15: the search in the index takes whom a walk over all nodes takes") {
    int victims = 0;
    for (const std::uint64_t seed : seeds(12)) {
        Story story{seed};
        for (int step = 0; step < 100; ++step) {
            story.step();
            const std::string difference = story.difference();
            INFO("YK_SEED=" << seed << ", step " << step);
            REQUIRE(difference == "");
        }
        victims += story.victims();
    }
    CHECK(victims > 200); // else this proves nothing
}

TEST_CASE("P section 5 no. 15: and whatever else happens in the cluster") {
    for (const std::uint64_t seed : seeds(12)) {
        Cluster fast{"[{name: a}]", "", "", with_listed(0)}, plain{"[{name: a}]", "", "", with_listed(kPlain)};
        for (const Command& command : RandomCommands(seed, RandomCommands::Mix::Preemption).run(200)) {
            const std::string text = print(command);
            INFO("YK_SEED=" << seed << ": " << text);
            fast.play(text);
            plain.play(text);
            REQUIRE(fast.notices_in_full() == plain.notices_in_full());
        }
    }
}

} // namespace yk::testing

// SPDX-License-Identifier: Apache-2.0
// Random configurations on a core: what the loader accepts the core applies, whole or not at all, and where it came
// from makes no difference.

#include <cstdlib>
#include <random>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/cluster/cluster_context.h"
#include "libcore/config_yaml/dump.h"
#include "libcore/config_yaml/load.h"
#include "libcore/reports/snapshot.h"
#include "tests/support/player.h"
#include "tests/support/recorder.h"
#include "tests/support/state_text.h"
#include "tests/support/valid_configuration.h"

namespace yk::testing {

namespace {

constexpr std::uint32_t kRounds = 40;
constexpr int kReloads = 6;

struct Run {
    Recorder said;
    ClusterContext core{"rm", Settings{}, said.callbacks, said.events};
    Instant now = kStart;
};

/// As it comes out of the loader, from the text that the daemon would print of it.
config::Configuration loaded(const config::Configuration& made) {
    const std::string text = config_yaml::dump(made);
    config_yaml::LoadOutcome outcome = config_yaml::load(text, "config");
    INFO(text);
    INFO(config_yaml::render(outcome, text));
    REQUIRE(outcome.configuration);
    return *outcome.configuration;
}

/// Below the queues of ValidConfiguration, some of them two levels that placement makes.
const char* const kDynamic[] = {"root.q1.x",    "root.q2.x.y",    "root.x",           "root.q1.q1.x",
                                "root.q2.q1.x", "root.q1.q2.x.y", "root.q1.q1.q1.x.y"};

/// One application to each; one in two sets something by tags.
void submit(Run& run) {
    int number = 0;
    for (const char* path : kDynamic) {
        const std::string tags = ++number % 2 == 0 ? " tagmax=vcore:77 tagapps=3" : "";
        static_cast<void>(
            play(run.core, *parse_command(fmt::format("apps new id=a{} queue={}{}", number, path, tags)), run.now));
    }
}

/// Whether all above it and itself are configured in both, or in none: a queue that drains keeps what it has.
bool same_kinds(Run& a, Run& b, const std::string& path) {
    for (std::size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
        const std::string part = path.substr(0, dot);
        if (queue_view(*a.core.read("default"), part, false)->managed !=
            queue_view(*b.core.read("default"), part, false)->managed)
            return false;
        if (dot == std::string::npos) return true;
    }
}

void always_apply(config::Queue& queue) {
    if (queue.child_template) queue.child_template->apply_to_existing = true;
    for (config::Queue& child : queue.children) always_apply(child);
}

std::uint32_t first_seed() {
    const char* given = std::getenv("YK_SEED");
    return given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
}

} // namespace

TEST_CASE("C-471 C-440 what validates is applied, whole or not at all, and only for a change of type refused") {
    const std::uint32_t first = first_seed();
    int applied = 0, refused = 0;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
        INFO("YK_SEED=" << first + round);
        Run run;
        for (std::uint32_t i = 0; i < kReloads; ++i) {
            const config::Configuration next = loaded(ValidConfiguration{(first + round) * kReloads + i}.make());
            const std::string before = state_text(run.core);
            const bool possible = run.core.check_configuration(next).ok();
            const Result<void> done = run.core.configure(next, run.now);
            CHECK(done.ok() == possible);
            CHECK(run.core.check().empty());
            if (done.ok()) {
                ++applied;
            } else {
                ++refused;
                CHECK_THAT(done.error().message, Catch::Contains("cannot become a"));
                CHECK(state_text(run.core) == before);
            }
        }
    }
    CHECK(applied > static_cast<int>(kRounds));
}

TEST_CASE("B-13 A and then B is B, for queues without applications") {
    const std::uint32_t first = first_seed();
    int compared = 0;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
        INFO("YK_SEED=" << first + round);
        const config::Configuration a = loaded(ValidConfiguration{(first + round) * 2}.make());
        const config::Configuration b = loaded(ValidConfiguration{(first + round) * 2 + 1}.make());
        Run both, one;
        REQUIRE(both.core.configure(a, both.now).ok());
        if (!both.core.configure(b, both.now).ok()) continue;
        REQUIRE(one.core.configure(b, one.now).ok());
        for (Run* run : {&both, &one}) advance(run->core, run->now, std::chrono::seconds{20}); // the sweep
        CHECK(state_text(both.core) == state_text(one.core));
        ++compared;
    }
    CHECK(compared > 0);
}

TEST_CASE("B-10 a template that is applied again leaves dynamic queues as if they were made after it") {
    const std::uint32_t first = first_seed();
    int compared = 0;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
        INFO("YK_SEED=" << first + round);
        const auto made = [&](std::uint32_t which) {
            config::Configuration configuration = ValidConfiguration{(first + round) * 2 + which}.make();
            configuration.partitions.resize(1);
            config::Partition& partition = configuration.partitions[0];
            partition.placement_rules = {{"provided", true, {}, {}, {}, {}}};
            partition.root.submit_acl = "*";
            if (!partition.root.child_template) partition.root.child_template = config::ChildTemplate{3, {}, {}};
            always_apply(partition.root);
            return loaded(configuration);
        };
        Run before, after;
        const config::Configuration next = made(1);
        REQUIRE(before.core.configure(made(0), before.now).ok());
        submit(before);
        if (!before.core.configure(next, before.now).ok()) continue;
        REQUIRE(after.core.configure(next, after.now).ok());
        submit(after);
        for (const char* path : kDynamic) {
            const auto older = queue_view(*before.core.read("default"), path, false);
            const auto newer = queue_view(*after.core.read("default"), path, false);
            if (!older || !newer || !newer->leaf || newer->managed || !same_kinds(before, after, path)) continue;
            INFO(path);
            CHECK(older->max == newer->max);
            CHECK(older->guaranteed == newer->guaranteed);
            CHECK(older->max_applications == newer->max_applications);
            CHECK(older->properties == newer->properties);
            CHECK(older->sort_policy == newer->sort_policy);
            CHECK(older->preemption_delay == newer->preemption_delay);
            ++compared;
        }
    }
    CHECK(compared > 0);
}

TEST_CASE("B-13 the order of map entries changes nothing") {
    const auto text_of = [](bool turned) {
        const std::string limit = "limits: [{users: [u], maxapplications: 2, limit: x}]";
        const std::string resources = turned ? "resources: {max: {vcore: 2, memory: 1G}, guaranteed: {vcore: 1}}"
                                             : "resources: {guaranteed: {vcore: 1}, max: {memory: 1G, vcore: 2}}";
        const std::string leaf = turned ? "{" + resources + ", properties: {b: '2', a: '1'}, name: a, " + limit + "}"
                                        : "{name: a, " + limit + ", properties: {a: '1', b: '2'}, " + resources + "}";
        return turned ? "partitions: [{queues: [{queues: [" + leaf + "], name: root}], name: default}]"
                      : "partitions: [{name: default, queues: [{name: root, queues: [" + leaf + "]}]}]";
    };
    Run plain, turned;
    REQUIRE(play_configuration(plain.core, text_of(false), plain.now) == "ok");
    REQUIRE(play_configuration(turned.core, text_of(true), turned.now) == "ok");
    CHECK(state_text(plain.core) == state_text(turned.core));
}

} // namespace yk::testing

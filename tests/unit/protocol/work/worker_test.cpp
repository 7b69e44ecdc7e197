// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/worker.h"

#include <poll.h>

#include <catch2/catch.hpp>

namespace yk::work {
namespace {

constexpr std::chrono::seconds kDeadline{30};

std::unique_ptr<Worker> started() {
    Commands::Options commands;
    commands.may_be_root = true;
    commands.uses_cgroups = false;
    AllocationWork::Options work;
    work.rm_id = "rm";
    work.executes = true;
    work.base_environment = {"PATH=/usr/bin:/bin"};
    auto worker = Worker::start(std::move(commands), std::move(work));
    REQUIRE(worker.ok());
    return std::move(worker).value();
}

Announced<si::Allocation> allocation(const std::string& key, const std::string& command) {
    si::Allocation made;
    made.application_id = "app";
    made.allocation_key = key;
    made.allocation_tags = {{"command", command}};
    return {made, "{}\n"};
}

std::vector<si::AllocationRelease> releases_of(Worker& worker, std::size_t wanted) {
    std::vector<si::AllocationRelease> all;
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (all.size() < wanted) {
        REQUIRE(std::chrono::steady_clock::now() < end);
        for (auto& each : worker.take_releases(100)) all.push_back(std::move(each));
        static_cast<void>(::poll(nullptr, 0, 1));
    }
    return all;
}

TEST_CASE("commands run beside whoever gave them, and what has ended can be fetched") {
    const auto worker = started();
    CHECK_FALSE(worker->is_busy());
    for (int i = 0; i < 20; ++i) worker->placed(allocation("k" + std::to_string(i), "exit 3"));
    CHECK(worker->is_busy());
    const auto releases = releases_of(*worker, 20);
    CHECK(releases.size() == 20);
    CHECK(releases[0].message == "exit code 3");
    CHECK(worker->take_notes().size() == 20);
    worker->put_back({releases[0]});
    CHECK(worker->is_busy());
    CHECK(worker->take_releases(100).size() == 1);
    CHECK_FALSE(worker->is_busy());
}

TEST_CASE("its stop ends all of them, and can be waited for") {
    const auto worker = started();
    worker->had(allocation("a", "exec sleep 1000").message);
    worker->placed(allocation("b", "exec sleep 1000"));
    CHECK_FALSE(worker->wait_until_idle(std::chrono::milliseconds{1}));
    worker->stop();
    CHECK(worker->wait_until_idle(kDeadline));
    CHECK(worker->take_releases(100).empty());
}

TEST_CASE("a worker that goes takes what runs with it") {
    auto worker = started();
    worker->placed(allocation("a", "trap '' TERM; while :; do sleep 1; done"));
    worker.reset();
}

} // namespace
} // namespace yk::work

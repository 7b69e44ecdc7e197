// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/allocation_command.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace yk::work {
namespace {

si::Allocation allocation(si::StringMap tags) {
    si::Allocation made;
    made.allocation_key = "key";
    made.application_id = "app";
    made.partition_name = "[rm]gpu";
    made.node_id = "n1";
    made.allocation_tags = std::move(tags);
    made.resource_per_alloc = si::Resources{{"memory", 1024}, {"vcore", 500}, {"nvidia.com/gpu", 2}};
    return made;
}

TEST_CASE("the tag command is the command") {
    CHECK(command_of(allocation({{"command", "exit 1"}})) == "exit 1");
    CHECK(command_of(allocation({{"Command", "exit 1"}})) == std::nullopt);
}

TEST_CASE("an allocation is described by variables") {
    const Variables wanted{{"YK_RM_ID", "rm"},           {"YK_PARTITION", "gpu"},
                           {"YK_APPLICATION_ID", "app"}, {"YK_ALLOCATION_KEY", "key"},
                           {"YK_NODE_ID", "n1"},         {"YK_RESOURCE_MEMORY", "1024"},
                           {"YK_RESOURCE_VCORE", "500"}, {"YK_RESOURCE_NVIDIA_COM_GPU", "2"}};
    CHECK(variables_of(allocation({}), "rm") == wanted);
}

TEST_CASE("tags may add variables, but not those of the resource manager") {
    Variables variables;
    CHECK(
        add_tagged_variables(allocation({{"env.A_1", "x=y\nz"}, {"env.PATH", "/p"}, {"other", "o"}}), variables).ok());
    CHECK(variables == Variables{{"A_1", "x=y\nz"}, {"PATH", "/p"}});
    for (const char* tag : {"env.", "env.1A", "env.A-B", "env.A=B", "env.YK_NODE_ID", "env.A\nB"})
        CHECK_FALSE(add_tagged_variables(allocation({{tag, "x"}}), variables).ok());
    CHECK(environment({"PATH=/usr/bin", "HOME=/h"}, variables) ==
          std::vector<std::string>{"HOME=/h", "A_1=x=y\nz", "PATH=/p"});
}

TEST_CASE("the environment of this process is not handed on but for four variables") {
    ::setenv("YK_TEST_SECRET", "1", 1);
    const auto base = base_environment();
    ::unsetenv("YK_TEST_SECRET");
    std::vector<std::string> names;
    names.reserve(base.size());
    for (const std::string& each : base) names.push_back(each.substr(0, each.find('=')));
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"HOME", "LANG", "PATH", "USER"});
}

TEST_CASE("tags say when and how often a command is started again") {
    const auto policy = restart_policy_of(allocation({{"restart", "on-failure"}, {"restarts", "3"}}), Restart::Always);
    REQUIRE(policy.ok());
    CHECK(policy->when == Restart::OnFailure);
    CHECK(policy->most == 3U);
    const auto standard = restart_policy_of(allocation({}), Restart::Always);
    CHECK(standard->when == Restart::Always);
    CHECK_FALSE(standard->most.has_value());
    CHECK(restart_policy_of(allocation({{"restart", "ever"}}), Restart::Never).error().message ==
          "tag restart is 'ever'; it can be never, on-failure or always");
    for (const char* text : {"", "-1", "x", "1x", "99999999999"})
        CHECK_FALSE(restart_policy_of(allocation({{"restarts", text}}), Restart::Never).ok());
}

TEST_CASE("a tag is refused by itself if no command is started with it") {
    for (const auto& [tag, value] :
         si::StringMap{{"command", "true"}, {"env.A", ""}, {"restart", "never"}, {"restarts", "0"}, {"other", ""}})
        CHECK(check_tag(tag, value).ok());
    for (const auto& [tag, value] : si::StringMap{{"command", ""},
                                                  {"command", std::string("a\0b", 3)},
                                                  {"command", std::string((64U << 10U) + 1, 'x')},
                                                  {"env.YK_A", "1"},
                                                  {"env.A B", "c"},
                                                  {"env.A", std::string("a\0b", 3)},
                                                  {"env.A", std::string(256U << 10U, 'x')},
                                                  {"restart", "sometimes"},
                                                  {"restarts", "many"}}) {
        INFO(tag);
        CHECK_FALSE(check_tag(tag, value).ok());
    }
    CHECK(check_tag("env.YK_A", "1").error().message ==
          "tag env.YK_A: a variable has letters, digits and _, and does not begin with a digit or YK_");
}

TEST_CASE("limits are what the ask wants of memory and vcore") {
    const Limits limits = limits_of(allocation({}));
    CHECK(limits.memory_bytes == 1024);
    CHECK(limits.cpu_milli == 500);
    si::Allocation none;
    CHECK_FALSE(limits_of(none).memory_bytes.has_value());
}

} // namespace
} // namespace yk::work

// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/allocation_command.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "libcore/base/text.h"
#include "protocol/work/commands.h"

namespace yk::work {
namespace {

constexpr std::string_view kVariable = "env."; // how such a tag begins
constexpr std::string_view kOwn = "YK_";       // how variables begin that no tag may set
constexpr std::size_t kLongestShown = 60;      // of a value in a message

const std::string* tag_of(const si::Allocation& allocation, std::string_view name) {
    for (const auto& [key, value] : allocation.allocation_tags)
        if (key == name) return &value;
    return nullptr;
}

bool is_variable_name(std::string_view name) {
    const auto fits = [](char c) {
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !name.empty() && std::all_of(name.begin(), name.end(), fits) && !(name[0] >= '0' && name[0] <= '9');
}

/// `YK_RESOURCE_NVIDIA_COM_GPU` of `nvidia.com/gpu`.
std::string resource_variable(const std::string& resource) {
    std::string name = "YK_RESOURCE_";
    for (const char c : resource) {
        const bool is_lower = c >= 'a' && c <= 'z', is_other = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name += is_lower ? static_cast<char>(c - 'a' + 'A') : is_other ? c : '_';
    }
    return name;
}

std::string short_partition(const std::string& name) {
    const auto bracket = name.find(']');
    const std::string rest = name.rfind('[', 0) == 0 && bracket != std::string::npos ? name.substr(bracket + 1) : name;
    return rest.empty() ? "default" : rest;
}

std::optional<std::int64_t> amount_of(const si::Allocation& allocation, std::string_view resource) {
    if (!allocation.resource_per_alloc) return std::nullopt;
    for (const auto& [name, amount] : *allocation.resource_per_alloc)
        if (name == resource) return amount;
    return std::nullopt;
}

} // namespace

std::optional<Restart> find_restart(std::string_view text) {
    if (text == "never") return Restart::Never;
    if (text == "on-failure") return Restart::OnFailure;
    if (text == "always") return Restart::Always;
    return std::nullopt;
}

std::vector<std::string> base_environment() {
    const passwd* const user = ::getpwuid(::geteuid());
    const auto given = [](const char* name, const std::string& otherwise) {
        const char* const value = std::getenv(name);
        return std::string{name} + "=" + (value != nullptr ? value : otherwise);
    };
    return {given("PATH", "/usr/local/bin:/usr/bin:/bin"), given("HOME", user != nullptr ? user->pw_dir : "/"),
            given("LANG", "C.UTF-8"), given("USER", user != nullptr ? user->pw_name : std::to_string(::geteuid()))};
}

std::optional<std::string> command_of(const si::Allocation& allocation) {
    const std::string* const text = tag_of(allocation, "command");
    return text == nullptr ? std::nullopt : std::optional{*text};
}

Variables variables_of(const si::Allocation& allocation, const std::string& rm_id) {
    Variables variables{{"YK_RM_ID", rm_id},
                        {"YK_PARTITION", short_partition(allocation.partition_name)},
                        {"YK_APPLICATION_ID", allocation.application_id},
                        {"YK_ALLOCATION_KEY", allocation.allocation_key},
                        {"YK_NODE_ID", allocation.node_id}};
    if (allocation.resource_per_alloc)
        for (const auto& [name, amount] : *allocation.resource_per_alloc)
            variables[resource_variable(name)] = std::to_string(amount);
    return variables;
}

Result<void> add_tagged_variables(const si::Allocation& allocation, Variables& variables) {
    for (const auto& [tag, value] : allocation.allocation_tags) {
        if (tag.rfind(kVariable, 0) != 0) continue;
        const std::string name = tag.substr(kVariable.size());
        if (!is_variable_name(name) || name.rfind(kOwn, 0) == 0)
            return Error::of("tag " + shortened(tag, kLongestShown) +
                             ": a variable has letters, digits and _, and does not begin with a digit or YK_");
        variables[name] = value;
    }
    return {};
}

std::vector<std::string> environment(const std::vector<std::string>& base, const Variables& variables) {
    std::vector<std::string> all;
    for (const std::string& each : base)
        if (variables.count(each.substr(0, each.find('='))) == 0) all.push_back(each);
    for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
    return all;
}

Result<RestartPolicy> restart_policy_of(const si::Allocation& allocation, Restart standard) {
    RestartPolicy policy{standard, std::nullopt};
    if (const std::string* const text = tag_of(allocation, "restart")) {
        const auto found = find_restart(*text);
        if (!found)
            return Error::of("tag restart is '" + shortened(*text, kLongestShown) +
                             "'; it can be never, on-failure or always");
        policy.when = *found;
    }
    if (const std::string* const text = tag_of(allocation, "restarts")) {
        std::uint32_t number = 0;
        const auto [rest, fault] = std::from_chars(text->data(), text->data() + text->size(), number);
        if (fault != std::errc{} || rest != text->data() + text->size())
            return Error::of("tag restarts is '" + shortened(*text, kLongestShown) + "'; it is a number");
        policy.most = number;
    }
    return policy;
}

Result<void> check_tag(const std::string& tag, const std::string& value) {
    si::Allocation one;
    one.allocation_tags = {{tag, value}};
    if (const auto text = command_of(one)) YK_CHECKED(check_command_text(*text));
    Variables variables;
    YK_CHECKED(add_tagged_variables(one, variables));
    YK_CHECKED(check_environment(environment({}, variables)));
    YK_CHECKED(restart_policy_of(one, Restart::Never));
    return {};
}

Limits limits_of(const si::Allocation& allocation) {
    return {amount_of(allocation, "memory"), amount_of(allocation, "vcore")};
}

} // namespace yk::work

// SPDX-License-Identifier: Apache-2.0
#include "ykd/explain/what_helps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace yk::service {
namespace {

constexpr std::string_view kRoot = "root"; // whose maximum is what the nodes have

struct Help {
    std::string_view code;
    std::string_view text; // {} is the object of the reason
};
constexpr std::array kHelps{
    Help{"QUEUE_STOPPED", "name {} in the configuration again: a queue that it does not name takes nothing new"},
    Help{"QUEUE_MAX", "a larger max of {}, or the end of something that runs there"},
    Help{"QUEUE_MAX_APPS", "a larger maxapplications of {}, or the end of an application there"},
    Help{"APP_LIMIT", "a larger maxapplications in the limit, or the end of an application that counts for it"},
    Help{"USER_LIMIT", "a larger limit for the user, or the end of something that the user runs"},
    Help{"GROUP_LIMIT", "a larger limit for the group, or the end of something that its users run"},
    Help{"NODE_FIT", "another node, the end of something on those that are there, or an ask for less"},
    Help{"NODE_UNSCHEDULABLE", "ykctl node undrain NODE, for nodes that may take something again"},
    Help{"RESERVED_OTHER", "that the asks for which nodes are kept are placed or removed"},
    Help{"REQUIRED_NODE", "the node that the ask requires, with enough left; or an ask that does not require it"},
    Help{"RM_PREDICATE", "what keeps the resource manager from taking the nodes; its own log says that"},
    Help{"IMPOSSIBLE", "a node that could take it when empty, or an ask for less"},
    Help{"SORT", "a higher priority, or the end of what comes first"},
};

} // namespace

std::string what_helps(const ExplainReason& reason) {
    if (reason.code == "QUEUE_MAX" && reason.object == kRoot)
        return "another node, or the end of something that runs in the cluster";
    const auto found =
        std::find_if(kHelps.begin(), kHelps.end(), [&](const Help& help) { return help.code == reason.code; });
    return found == kHelps.end() ? std::string{} : fmt::format(fmt::runtime(found->text), reason.object);
}

} // namespace yk::service

// SPDX-License-Identifier: Apache-2.0
#include "ykd/explain/what_helps.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace yk::service {
namespace {

constexpr std::string_view kRoot = "root"; // whose maximum is what the nodes have

struct Help {
    std::string_view code;
    std::string_view text; // ends with the object of the reason, where that is named
    bool names_object = false;
    std::string_view end = {}; // what else helps, unless one ask alone is more than the limit
};
constexpr std::array kHelps{
    Help{"QUEUE_MAX", "a larger max of ", true, ", or the end of something that runs there"},
    Help{"QUEUE_MAX_APPS", "a larger maxapplications of ", true, ", or the end of an application there"},
    Help{"APP_LIMIT", "a larger maxapplications in the limit, or the end of an application that counts for it"},
    Help{"USER_LIMIT", "a larger limit for the user", false, ", or the end of something that the user runs"},
    Help{"GROUP_LIMIT", "a larger limit for the group", false, ", or the end of something that its users run"},
    Help{"NODE_FIT", "another node, the end of something on those that are there, or an ask for less"},
    Help{"DEVICE_SHAPE", "an ask for a part of one device, for whole devices, or for fewer of them"},
    Help{"DEVICE_CONFLICT",
         "ykctl explain node NODE names what has no device there; it has to go, or be reported anew"},
    Help{"NODE_UNSCHEDULABLE", "ykctl node undrain NODE, for nodes that may take something again"},
    Help{"RESERVED_OTHER", "the end of the asks for which nodes are kept: placed, or removed"},
    Help{"REQUIRED_NODE", "the node that the ask requires, with enough left; or an ask that does not require it"},
};

/// Whether one ask alone is more than the limit.
bool is_more_than_limit(const ExplainReason& reason) {
    if (!reason.need || !reason.limit) return false;
    return std::any_of(reason.need->begin(), reason.need->end(), [&](const auto& each) {
        const auto limit = reason.limit->find(each.first);
        return limit != reason.limit->end() && each.second > limit->second;
    });
}

} // namespace

std::string what_helps(const ExplainReason& reason, std::int64_t nodes) {
    const bool is_too_large = is_more_than_limit(reason);
    if (reason.code == "IMPOSSIBLE")
        return nodes == 0 ? "a node" : "a larger node, where it may run; or an ask for less";
    if (reason.code == "SORT")
        return reason.sort && reason.sort->by_priority ? "a higher priority, or the end of what comes first"
                                                       : "the end of what comes first";
    if (reason.code == "QUEUE_MAX" && reason.object == kRoot)
        return is_too_large ? "another node" : "another node, or the end of something that runs in the cluster";
    const auto found =
        std::find_if(kHelps.begin(), kHelps.end(), [&](const Help& help) { return help.code == reason.code; });
    if (found == kHelps.end()) return {};
    std::string text{found->text};
    if (found->names_object) text += reason.object;
    if (!is_too_large) text += found->end;
    return text;
}

} // namespace yk::service

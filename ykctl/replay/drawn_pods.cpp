// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/drawn_pods.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "ykctl/replay/csv.h"
#include "ykctl/replay/random.h"

namespace yk::replay {
namespace {

constexpr const char* kQueue = "all"; // one application in one queue: asks are tried in the order in which they came

std::int64_t gpu_of(const Amounts& amounts) {
    const auto found = amounts.find(kGpu);
    return found == amounts.end() ? 0 : found->second;
}

/// Sends the pods, has them placed, and takes those back that found no place. Returns how much GPU was placed.
wire::CallResult<std::int64_t> try_once(Session& session, const std::vector<const TracePod*>& pods) {
    YK_CHECKED(session.ask(pods));
    YK_CHECKED(session.sync());
    YK_CHECKED(session.schedule());
    YK_TRY(notifications, session.read());
    std::map<std::string, const TracePod*> waiting;
    for (const TracePod* pod : pods) waiting.emplace(pod->name, pod);
    std::int64_t placed = 0;
    for (const Notification& each : notifications) {
        const auto found = waiting.find(each.pod);
        if (found == waiting.end() || each.kind != Notification::Kind::Placed) continue;
        placed += gpu_of(found->second->request);
        waiting.erase(found);
    }
    std::vector<const TracePod*> left;
    left.reserve(waiting.size());
    for (const auto& [name, pod] : waiting) left.push_back(pod);
    YK_CHECKED(session.release(left));
    return placed;
}

} // namespace

std::vector<TracePod> drawn(const Trace& trace, std::uint64_t seed) {
    std::vector<const TracePod*> list;
    list.reserve(trace.pods.size());
    for (const TracePod& pod : trace.pods) list.push_back(&pod);
    std::sort(list.begin(), list.end(), [](const TracePod* a, const TracePod* b) { return a->name < b->name; });
    Random random{seed};
    for (std::size_t left = list.size(); left > 1; --left) std::swap(list[left - 1], list[random.below(left)]);
    const std::int64_t most = gpu_of(trace.capacity()) / 100 * static_cast<std::int64_t>(kMostArrived);
    std::vector<TracePod> pods;
    std::int64_t asked = 0;
    // all of the list first, then any of them, again and again
    for (std::size_t at = 0; !list.empty(); ++at) {
        TracePod pod = at < list.size() ? *list[at] : *list[random.below(list.size())];
        asked += gpu_of(pod.request);
        if (asked > most || at > kMaxRows) return pods;
        pod.name = fmt::format("{:07d}-{}", at, pod.name); // asks that came at once are tried by name
        pod.queue = kQueue;
        pods.push_back(std::move(pod));
    }
    return pods;
}

wire::CallResult<std::vector<CurvePoint>> play_drawn(Session& session, const Trace& trace,
                                                     const std::vector<TracePod>& pods, const std::string& node_order) {
    const auto capacity = static_cast<double>(gpu_of(trace.capacity()));
    session.use_devices();
    YK_CHECKED(session.open({kQueue}, node_order, 4 * (trace.nodes.size() + pods.size()) + 1000));
    YK_CHECKED(session.add_applications({kQueue}));
    YK_CHECKED(session.add_nodes(trace.nodes));
    YK_CHECKED(session.sync());
    YK_CHECKED(session.read());
    std::vector<CurvePoint> points{{}};
    std::vector<const TracePod*> batch;
    std::int64_t asked = 0, placed = 0;
    for (std::size_t at = 0; points.size() <= kMostArrived;) {
        const double mark = capacity * static_cast<double>(points.size()) / 100;
        if (at < pods.size() && static_cast<double>(asked + gpu_of(pods[at].request)) <= mark) {
            asked += gpu_of(pods[at].request);
            batch.push_back(&pods[at++]);
            continue;
        }
        YK_TRY(more, try_once(session, batch));
        batch.clear();
        placed += more;
        YK_TRY(unusable, session.unusable_gpu());
        points.push_back({static_cast<double>(placed) / capacity, unusable / capacity});
    }
    return points;
}

} // namespace yk::replay

// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/metric_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "libcore/model/application_state.h"

namespace yk::service {
namespace {

constexpr std::array<std::pair<ApplicationState, std::string_view>, 9> kStates{
    {{ApplicationState::New, "new"},
     {ApplicationState::Accepted, "accepted"},
     {ApplicationState::Running, "running"},
     {ApplicationState::Rejected, "rejected"},
     {ApplicationState::Failing, "failing"},
     {ApplicationState::Failed, "failed"},
     {ApplicationState::Resuming, "resuming"},
     {ApplicationState::Completing, "completing"},
     {ApplicationState::Completed, "completed"}}};

std::uint64_t in_state(const std::array<std::uint64_t, QueueMetrics::kStates>& states, ApplicationState state) {
    return states[static_cast<std::size_t>(state)];
}

// --- scheduler ----------------------------------------------------------------------------------

constexpr std::array<std::string_view, PartitionMetrics::kBands> kBandNames{
    "[0,10%]",   "(10%,20%]", "(20%,30%]", "(30%,40%]", "(40%,50%]",
    "(50%,60%]", "(60%,70%]", "(70%,80%]", "(80%,90%]", "(90%,100%]"};

/// Writes a family twice: under the original's name and with its help, and under one that names the unit (I-505).
/// `write` adds the histograms.
template <class Write>
void write_latency(MetricWriter& to, std::string_view name, std::string_view what, std::string_view help,
                   Write&& write) {
    const std::string full = fmt::format("yunikorn_scheduler_{}", name);
    to.family(full + "_milliseconds", MetricType::Histogram, help);
    write();
    to.family(full + "_seconds", MetricType::Histogram, fmt::format("{}, in seconds.", what));
    write();
}

void write_latency(MetricWriter& to, std::string_view name, const Histogram& histogram, std::string_view what,
                   std::string_view help) {
    write_latency(to, name, what, help, [&] { to.histogram({}, histogram); });
}

void write_stages(MetricWriter& to, const Tally& tally) {
    const auto of = [&](Stage stage) -> const Histogram& { return tally.stages[static_cast<std::size_t>(stage)]; };
    const auto sampled = [](std::string_view what) {
        return fmt::format("{}, of one cycle in {}", what, CycleWatch::kSampled);
    };
    write_latency(to, "node_sorting_latency", sampled("Bringing what changed into order"),
                  "Latency of all nodes sorting, in seconds.", [&] {
                      to.histogram({{"level", "app"}}, of(Stage::SortApplications));
                      to.histogram({{"level", "queue"}}, of(Stage::SortQueues));
                  });
    write_latency(to, "trynode_latency", of(Stage::TryNode), sampled("Checking one node"),
                  "Latency of node condition checks for container allocations, such as placement constraints, in "
                  "seconds.");
    write_latency(to, "trynode_evaluation", of(Stage::FindNode), sampled("Looking for a node for one ask"),
                  "Time taken to evaluate nodes for a pod, in seconds.");
    write_latency(to, "trypreemption_latency", of(Stage::Preempt), sampled("One attempt to preempt"),
                  "Latency of preemption condition checks for container allocations, in seconds.");
}

void write_counters(MetricWriter& to, const Tally& tally) {
    const CoreCounters& core = tally.core;
    to.family("yunikorn_scheduler_container_allocation_attempt_total", MetricType::Counter,
              "Total number of attempts to allocate containers. State of the attempt includes `allocated`, `rejected`, "
              "`error`, `released`");
    to.count({{"state", "allocated"}}, core.allocated);
    to.count({{"state", "rejected"}}, core.rejected);
    to.count({{"state", "error"}}, core.scheduling_errors);
    to.count({{"state", "released"}}, core.released);
    to.family("yunikorn_scheduler_application_submission_total", MetricType::Counter,
              "Total number of application submissions. State of the attempt includes `new`, `accepted` and "
              "`rejected`.");
    to.count({{"result", "new"}}, core.submitted);
    to.count({{"result", "accepted"}}, core.accepted);
    to.count({{"result", "rejected"}}, core.refused);
    to.family("yunikorn_scheduler_preemption_victims_total", MetricType::Counter,
              "Allocations announced as victims; of them: those whose room the ask that they were chosen for did not "
              "take.");
    to.count({{"state", "announced"}}, core.victims);
    to.count({{"state", "unused"}}, core.victims_unused);
    to.family("yunikorn_scheduler_releases_announced_again_total", MetricType::Counter,
              "Releases that a resource manager had not confirmed in time and was told of once more.");
    to.count({}, core.reannounced);
    write_latency(to, "scheduling_latency", tally.partitions, "One partition's part of a scheduling cycle",
                  "Latency of the main scheduling routine, in seconds.");
    write_latency(to, "scheduling_cycle", tally.cycles, "A whole scheduling cycle",
                  "Time taken for a scheduling cycle, in seconds.");
    write_stages(to, tally);
}

void write_states(MetricWriter& to, const std::vector<PartitionNumbers>& partitions, std::uint64_t nodes_removed) {
    to.family("yunikorn_scheduler_application_total", MetricType::Gauge,
              "Total number of applications. State of the application includes `running`, `resuming`, `failing`, "
              "`completing`, `completed` and `failed`.");
    for (const auto& [state, name] : kStates) {
        if (state == ApplicationState::New || state == ApplicationState::Accepted ||
            state == ApplicationState::Rejected)
            continue; // they are counted by application_submission_total
        std::uint64_t sum = 0;
        for (const PartitionNumbers& one : partitions) sum += in_state(one.metrics.states, state);
        to.count({{"state", name}}, sum);
    }
    std::uint64_t open = 0, draining = 0;
    for (const PartitionNumbers& one : partitions) {
        open += one.metrics.nodes_open;
        draining += one.metrics.nodes_draining;
    }
    to.family("yunikorn_scheduler_node", MetricType::Gauge,
              "Total number of nodes. State of the node includes `active` and `failed`.");
    to.count({{"state", "active"}}, open + draining); // those that are draining work still
    to.count({{"state", "failed"}}, 0);               // a failed node is removed at once
    to.count({{"state", "draining"}}, draining);
    to.count({{"state", "decommissioned"}}, nodes_removed);
}

/// Calls `visit` with the name and the bands of each type that nodes have, by name.
template <class Visit>
void for_each_usage(const PartitionMetrics& metrics, Visit&& visit) {
    std::map<std::string_view, std::size_t> positions;
    for (std::size_t i = 0; i < metrics.node_usage.size(); ++i) positions.emplace(metrics.resource_names[i], i);
    for (const auto& [name, position] : positions) {
        const PartitionMetrics::Bands& bands = metrics.node_usage[position];
        if (std::any_of(bands.begin(), bands.end(), [](std::uint64_t nodes) { return nodes != 0; }))
            visit(metrics.resource_names[position], bands);
    }
}

void write_node_usage(MetricWriter& to, const std::vector<PartitionNumbers>& partitions) {
    std::map<std::string, PartitionMetrics::Bands> usage; // by name as of I-501
    for (const PartitionNumbers& one : partitions)
        for_each_usage(one.metrics, [&](const std::string& resource, const PartitionMetrics::Bands& bands) {
            PartitionMetrics::Bands& sums = usage[metric_name_part(resource)];
            for (std::size_t i = 0; i < bands.size(); ++i) sums.at(i) += bands.at(i);
        });
    for (const auto& [resource, bands] : usage) {
        to.family(fmt::format("yunikorn_scheduler_{}_node_usage_total", resource), MetricType::Gauge,
                  "Total resource usage of node, by resource name.");
        for (std::size_t i = 0; i < bands.size(); ++i) to.count({{"range", kBandNames[i]}}, bands[i]);
    }
    // the same with the resource as a label, whose name it has as it is, and of each partition
    to.family("yunikorn_scheduler_node_usage", MetricType::Gauge,
              "Nodes by how much of a resource is used on them, by resource.");
    for (const PartitionNumbers& one : partitions) {
        if (!one.is_visible) continue;
        for_each_usage(one.metrics, [&](const std::string& resource, const PartitionMetrics::Bands& bands) {
            for (std::size_t i = 0; i < bands.size(); ++i)
                to.count({{"partition", one.label}, {"resource", resource}, {"range", kBandNames.at(i)}}, bands.at(i));
        });
    }
}

/// Of partitions whose nodes are chosen against fragmentation.
void write_fragmentation(MetricWriter& to, const std::vector<PartitionNumbers>& partitions) {
    const auto has = [](const PartitionNumbers& one) { return one.is_visible && one.metrics.fragmentation_ratio; };
    if (!std::any_of(partitions.begin(), partitions.end(), has)) return;
    to.family("yunikorn_scheduler_fragmentation_ratio", MetricType::Gauge,
              "The share of what is idle that none of the expected asks can use, of the resource with devices.");
    for (const PartitionNumbers& one : partitions)
        if (has(one)) to.real({{"partition", one.label}}, *one.metrics.fragmentation_ratio);
}

// --- queues -------------------------------------------------------------------------------------

void write_queue_applications(MetricWriter& to, const std::vector<PartitionNumbers>& partitions) {
    if (to.family("yunikorn_queue_app", MetricType::Gauge,
                  "Queue application metrics. State of the application includes `new`, `accepted`, `rejected`, "
                  "`running`, `failing`, `failed`, `resuming`, `completing`, `completed`."))
        for (const PartitionNumbers& one : partitions) {
            if (!one.is_visible) continue;
            for (const QueueMetrics& queue : one.metrics.queues) {
                if (to.is_full()) return;
                if (!queue.leaf || to.skip(kStates.size())) continue;
                to.common({{"partition", one.label}, {"queue", queue.path}});
                for (const auto& [state, name] : kStates) to.count({{"state", name}}, in_state(queue.states, state));
            }
            to.common({{"partition", one.label}, {"queue", ""}});
            if (one.metrics.rejected_by_none != 0) to.count({{"state", "rejected"}}, one.metrics.rejected_by_none);
        }
    if (to.family("yunikorn_queue_app_total", MetricType::Counter,
                  "Total number of applications that reached a terminal state. State includes `completed`, `failed`, "
                  "`rejected`."))
        for (const PartitionNumbers& one : partitions)
            for (const auto& [path, ended] : one.metrics.ended) {
                if (!one.is_visible || to.is_full()) break;
                to.common({{"partition", one.label}, {"queue", path}});
                to.count({{"state", "completed"}}, ended.completed);
                to.count({{"state", "failed"}}, ended.failed);
                to.count({{"state", "rejected"}}, ended.rejected);
            }
}

void write_queue_containers(MetricWriter& to, const std::vector<PartitionNumbers>& partitions) {
    if (!to.family("yunikorn_queue_container", MetricType::Counter, "Allocations of a queue, made and given up."))
        return;
    for (const PartitionNumbers& one : partitions)
        for (const QueueMetrics& queue : one.metrics.queues) {
            if (to.is_full()) return;
            if (!queue.leaf || !one.is_visible || to.skip(2)) continue;
            to.common({{"partition", one.label}, {"queue", queue.path}});
            to.count({{"state", "allocated"}}, queue.placed);
            to.count({{"state", "released"}}, queue.released);
        }
}

/// Families with the queue's path in their names, off by default: unrelated paths may get the same name. Queues whose
/// names collide become one family with their sum (I-508).
void write_legacy_containers(MetricWriter& to, const std::vector<PartitionNumbers>& partitions) {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> families;
    for (const PartitionNumbers& one : partitions)
        for (const QueueMetrics& queue : one.metrics.queues) {
            if (!queue.leaf || !one.is_visible) continue;
            auto& [placed, released] = families["yunikorn_" + metric_name_part(queue.path) + "_queue_container"];
            placed += queue.placed;
            released += queue.released;
        }
    for (const auto& [name, counts] : families) {
        to.family(name, MetricType::Counter,
                  "Queue container metrics. State of the attempt includes `allocated`, `released`.");
        to.count({{"state", "allocated"}}, counts.first);
        to.count({{"state", "released"}}, counts.second);
    }
}

/// Writes the limits and the usage of queues of one partition.
class QueueResources {
public:
    QueueResources(MetricWriter& to, const PartitionNumbers& partition) : to_(to), partition_(partition) {}

    void write(const QueueMetrics& queue) {
        const bool has_most = queue.managed || queue.max_applications != 0;
        const std::size_t limits =
            (queue.guaranteed ? queue.guaranteed->size() : 0) + (queue.max ? queue.max->size() : 0);
        if (to_.skip(limits + 3 * partition_.metrics.resource_names.size() + (has_most ? 1 : 0))) return;
        to_.common({{"partition", partition_.label}, {"queue", queue.path}});
        if (queue.guaranteed) limit("guaranteed", *queue.guaranteed);
        if (queue.max) limit("max", *queue.max);
        usage("allocated", queue.allocated);
        usage("pending", queue.pending);
        usage("preempting", queue.preempting);
        if (has_most) to_.count({{"state", "maxRunningApps"}, {"resource", "apps"}}, queue.max_applications);
    }

private:
    void one(std::string_view state, const std::string& resource, std::int64_t value) {
        to_.sample({{"state", state}, {"resource", resource}}, value);
    }
    void limit(std::string_view state, const MetricAmounts& amounts) {
        for (const auto& [id, value] : amounts) one(state, partition_.metrics.resource_names[id], value);
    }
    /// Writes every type that the partition knows, so that a usage that falls to zero is shown as 0 (I-509).
    void usage(std::string_view state, const MetricAmounts& amounts) {
        auto next = amounts.begin(); // amounts are sorted by id
        for (std::uint32_t id = 0; id < partition_.metrics.resource_names.size(); ++id) {
            const bool there = next != amounts.end() && next->first == id;
            one(state, partition_.metrics.resource_names[id], there ? next->second : 0);
            if (there) ++next;
        }
    }

    MetricWriter& to_;
    const PartitionNumbers& partition_;
};

void write_queue_resources(MetricWriter& to, const std::vector<PartitionNumbers>& partitions) {
    if (!to.family("yunikorn_queue_resource", MetricType::Gauge,
                   "Queue resource metrics. State of the resource includes `guaranteed`, `max`, `allocated`, "
                   "`pending`, `preempting`, `maxRunningApps`."))
        return;
    for (const PartitionNumbers& one : partitions) {
        if (!one.is_visible) continue;
        QueueResources resources(to, one);
        for (const QueueMetrics& queue : one.metrics.queues) {
            if (to.is_full()) return;
            resources.write(queue);
        }
    }
}

// --- events, RMs, requests, process -------------------------------------------------------------

void write_events(MetricWriter& to, const EventTally& events, std::uint64_t processed) {
    const auto write = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        to.family(fmt::format("yunikorn_event_{}", name), MetricType::Counter, help);
        to.count({}, value);
    };
    write("total_created", "Event records made.", events.created);
    write("total_channeled", "Event records taken by the event service.", events.channeled);
    write("total_not_channeled", "Event records that the event service did not take.",
          events.created - events.channeled);
    write("total_processed", "Event records in the ring buffer, ever.", processed);
    write("total_stored", "Event records stored for a resource manager.", events.stored);
    write("total_not_stored", "Event records that no room was left for.", events.not_stored);
    write("total_collected", "Event records sent to a resource manager.", events.collected);
}

/// Writes the calls that the daemon made to RMs (interface.md 4.9).
void write_calls(MetricWriter& to, const std::vector<RmLine>& rms) {
    to.family("yunikorn_rm_calls_total", MetricType::Counter, "Calls to a resource manager, by how they ended.");
    for (const RmLine& rm : rms)
        for (std::size_t kind = 0; kind < kCallKinds.size(); ++kind)
            for (std::size_t end = 0; end < kCallEnds.size(); ++end)
                to.count({{"rm", rm.id}, {"call", kCallKinds[kind]}, {"result", kCallEnds[end]}},
                         rm.calls.ended[kind][end]);
    to.family("yunikorn_rm_call_seconds", MetricType::Histogram, "From a call to a resource manager to its answer.");
    for (const RmLine& rm : rms)
        for (std::size_t kind = 0; kind < kCallKinds.size(); ++kind)
            to.histogram({{"rm", rm.id}, {"call", kCallKinds[kind]}}, rm.calls.seconds[kind]);
}

void write_rms(MetricWriter& to, const MetricNumbers& numbers) {
    const std::vector<RmLine>& rms = numbers.rms;
    to.family("yunikorn_rm_state", MetricType::Gauge, "1 for the state that a resource manager is in.");
    const auto write_state = [&to](const std::string& id, si::CoreState is) {
        for (const auto state : StateTransitions::kStates)
            to.count({{"rm", id}, {"state", si::text(state)}}, is == state ? 1 : 0);
    };
    for (const RmLine& rm : rms) write_state(rm.id, rm.state);
    for (const std::string& id : numbers.new_rms) write_state(id, si::CoreState::New);
    to.family("yunikorn_rm_transitions_total", MetricType::Counter,
              "Transitions of a resource manager from one state to another; without a name those of all that left.");
    const auto write_transitions = [&to](const std::string& id, const StateTransitions& transitions) {
        transitions.for_each([&](si::CoreState from, si::CoreState into, std::uint64_t count) {
            to.count({{"rm", id}, {"from", si::text(from)}, {"to", si::text(into)}}, count);
        });
    };
    for (const RmLine& rm : rms) write_transitions(rm.id, rm.transitions);
    write_transitions({}, numbers.gone_transitions);
    const auto write = [&](std::string_view name, MetricType type, std::string_view help, auto value) {
        to.family(fmt::format("yunikorn_rm_{}", name), type, help);
        for (const RmLine& rm : rms) to.count({{"rm", rm.id}}, value(rm));
    };
    write("inbound_items", MetricType::Gauge, "Elements of updates that wait for the owner thread.",
          [](const RmLine& rm) { return rm.inbound; });
    write("outbound_items", MetricType::Gauge, "Callback items that are not acknowledged.",
          [](const RmLine& rm) { return rm.stream.items; });
    write("outbound_bytes", MetricType::Gauge, "Their bytes.", [](const RmLine& rm) { return rm.stream.bytes; });
    write("stream_overflow_total", MetricType::Counter, "Times the callback stream was full and broke.",
          [](const RmLine& rm) { return rm.stream.overflows; });
    write("redelivered_total", MetricType::Counter, "Callback items delivered more than once.",
          [](const RmLine& rm) { return rm.stream.redelivered; });
    to.family("yunikorn_rm_restored_total", MetricType::Counter,
              "Allocations that a resource manager reported, which were not decided here.");
    for (const RmLine& rm : rms) to.count({{"rm", rm.id}, {"kind", "allocations"}}, rm.core.restored);
    to.family("yunikorn_rm_quarantined", MetricType::Gauge,
              "What a resource manager reported and what could not be restored yet, by reason.");
    for (const RmLine& rm : rms)
        for (std::size_t reason = 0; reason < rm.core.quarantined.size(); ++reason)
            to.count({{"rm", rm.id}, {"reason", text_of(static_cast<QuarantineReason>(reason))}},
                     rm.core.quarantined[reason]);
}

void write_requests(MetricWriter& to, const RequestMeter::Reading& requests) {
    to.family("yunikorn_requests_total", MetricType::Counter, "Requests answered, by kind and result.");
    for (const auto& [what, count] : requests.results)
        to.count({{"kind", what.first ? si::info(*what.first).name : "unknown"},
                  {"result", what.second ? si::name(*what.second) : "ok"}},
                 count);
    to.family("yunikorn_rm_request_seconds", MetricType::Histogram, "From the arrival of a request to its answer.");
    for (std::size_t i = 0; i < requests.seconds.size(); ++i) {
        const auto kind = static_cast<si::Kind>(i);
        const bool seen = requests.results.lower_bound({kind, std::nullopt}) != requests.results.end() &&
                          requests.results.lower_bound({kind, std::nullopt})->first.first == kind;
        if (seen) to.histogram({{"kind", si::info(kind).name}}, requests.seconds[i]);
    }
    to.family("yunikorn_decode_errors_total", MetricType::Counter, "Messages that could not be decoded.");
    for (const auto& [reason, count] : requests.undecoded) to.count({{"reason", si::name(reason)}}, count);
}

void write_process(MetricWriter& to, const MetricNumbers& numbers) {
    to.family("yunikorn_sessions", MetricType::Gauge, "Sessions whose client is connected.");
    to.count({}, numbers.sessions.connected);
    to.family("yunikorn_sessions_kept", MetricType::Gauge, "Sessions whose client is gone, until their time is over.");
    to.count({}, numbers.sessions.kept);
    to.family("yunikorn_degraded", MetricType::Gauge,
              "Things that are wrong with the daemon itself, by what they are.");
    for (const auto& [reason, count] : numbers.degraded) to.count({{"reason", reason}}, count);
    if (numbers.boots > 0) {
        to.family("yunikorn_boots_total", MetricType::Counter,
                  "Starts of the daemon with its state directory, this one included.");
        to.count({}, numbers.boots);
    }
    to.family("yunikorn_build_info", MetricType::Gauge, "1; what runs is in the labels.");
    to.count({{"version", numbers.version}, {"revision", YK_REVISION}}, 1);
    to.family("process_resident_memory_bytes", MetricType::Gauge, "Resident memory size in bytes.");
    to.count({}, numbers.resident);
    if (numbers.heap) {
        to.family("process_heap_in_use_bytes", MetricType::Gauge,
                  "Bytes allocated and not freed; sanitizer builds only.");
        to.count({}, *numbers.heap);
    }
    to.family("process_cpu_seconds_total", MetricType::Counter, "Total user and system CPU time spent in seconds.");
    to.real({}, numbers.cpu);
    to.family("process_open_fds", MetricType::Gauge, "Number of open file descriptors.");
    to.count({}, numbers.files);
    to.family("process_start_time_seconds", MetricType::Gauge, "Start time of the process, seconds since the epoch.");
    to.real({}, numbers.started);
}

} // namespace

void write_families(MetricWriter& to, const MetricNumbers& numbers) {
    write_counters(to, numbers.tally);
    write_states(to, numbers.partitions, numbers.tally.core.nodes_removed);
    write_node_usage(to, numbers.partitions);
    write_fragmentation(to, numbers.partitions);
    write_queue_applications(to, numbers.partitions);
    write_queue_containers(to, numbers.partitions);
    write_queue_resources(to, numbers.partitions);
    if (numbers.legacy_queues) write_legacy_containers(to, numbers.partitions);
    write_events(to, numbers.tally.events, numbers.events_processed);
    write_rms(to, numbers);
    write_calls(to, numbers.rms);
    write_requests(to, numbers.requests);
    if (numbers.mcs) write_mcs(to, *numbers.mcs);
    write_process(to, numbers);
}

} // namespace yk::service

// SPDX-License-Identifier: Apache-2.0
#include "tests/property/sums.h"
#include "libcore/reports/pages.h"
#include "libcore/reports/snapshot.h"

#include <algorithm>

#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace yk::testing {

namespace {

using Sum = ResourceMapView;

void add(Sum& sum, const Sum& other, std::int64_t sign = 1) {
    for (const auto& [type, value] : other) sum[type] += sign * value;
}

bool same(const Sum& a, const Sum& b) {
    Sum difference = a;
    add(difference, b, -1);
    for (const auto& [type, value] : difference)
        if (value != 0) return false;
    return true;
}

bool negative(const Sum& sum) {
    for (const auto& [type, value] : sum)
        if (value < 0) return true;
    return false;
}

struct LeafSums {
    Sum pending, allocated;
    std::uint64_t running = 0;
    std::int64_t applications = 0;
};

class Audit {
public:
    Audit(ClusterContext& core, const std::string& partition) : core_(core), partition_(partition) {}

    std::vector<std::string> run() {
        applications();
        queue(*queue_view(*core_.read(partition_), "root", true));
        nodes();
        partition();
        usage(usage_views(*core_.read(partition_), false), users_, "user");
        usage(usage_views(*core_.read(partition_), true), groups_, "group");
        return std::move(faults_);
    }

private:
    void expect(bool holds, std::string_view what, std::string_view where) {
        if (!holds) faults_.push_back(fmt::format("{} of {}", what, where));
    }

    /// C-400: usage and running set of one name at one queue and below, by (name, path).
    struct Usage {
        Sum used;
        std::vector<std::string> running;
        std::vector<std::string> perhaps; // without allocation, kept while it waits, or on its way out (C-406)
    };
    using Usages = std::map<std::pair<std::string, std::string>, Usage>;

    static bool contains(const std::vector<std::string>& list, const std::string& id) {
        return std::find(list.begin(), list.end(), id) != list.end();
    }

    static void count(const ApplicationView& app, const std::string& name, Usages& usages) {
        for (std::string path = app.queue;; path.resize(path.rfind('.'))) {
            Usage& here = usages[{name, path}];
            add(here.used, app.allocated);
            add(here.used, app.placeholder);
            (app.allocations.empty() || app.state == "Failing" ? here.perhaps : here.running).push_back(app.id);
            if (path == "root") return;
        }
    }

    void usage(const std::vector<UsageView>& views, Usages& usages, std::string_view kind) {
        for (const UsageView& view : views) usage(view.name, view.root, usages, kind);
        for (const auto& [where, usage] : usages) // what no tracker told of
            expect(usage.running.empty() && same(usage.used, {}), "missing tracker",
                   fmt::format("{} {}", kind, where.first));
    }

    void usage(const std::string& name, const UsageQueueView& view, Usages& usages, std::string_view kind) {
        const Usage& expected = usages[{name, view.path}];
        const std::string where = fmt::format("{} {} at {}", kind, name, view.path);
        expect(same(view.usage, expected.used), "usage", where);
        auto running = view.running;
        running.erase(std::remove_if(running.begin(), running.end(),
                                     [&](const std::string& id) { return contains(expected.perhaps, id); }),
                      running.end());
        expect(running == expected.running, "running set", where);
        expect(!negative(view.usage), "negative usage", where);
        usages.erase({name, view.path});
        for (const UsageQueueView& child : view.children) usage(name, child, usages, kind);
    }

    void applications() { // no. 1 and the application's half of no. 5
        std::map<std::string, std::string> group_of;
        for (const UsageView& user : usage_views(*core_.read(partition_), false))
            group_of.insert(user.groups.begin(), user.groups.end());
        for (const ApplicationView& app : application_views(*core_.read(partition_), ApplicationList::Active, true)) {
            Sum pending, real, placeholders;
            for (const AskView& ask : app.asks) add(pending, ask.resource);
            for (const AllocationView& a : app.allocations) {
                add(a.placeholder ? placeholders : real, a.resource);
                placements_[{a.node, app.id, a.key}] = a.resource;
                placeholders_ += a.placeholder ? 1 : 0;
                if (a.placeholder) gangs_.insert(app.id);
            }
            expect(same(pending, app.pending), "pending", app.id);
            expect(same(real, app.allocated), "allocated", app.id);
            expect(same(placeholders, app.placeholder), "placeholder", app.id);
            expect(!negative(pending) && !negative(real), "negative sum", app.id);
            count(app, app.user, users_);
            if (group_of.count(app.id) != 0) count(app, group_of.at(app.id), groups_);
            LeafSums& leaf = leaves_[app.queue];
            add(leaf.pending, app.pending);
            add(leaf.allocated, app.allocated);
            add(leaf.allocated, app.placeholder);
            leaf.running += app.state == "Running" ? 1U : 0U;
            ++leaf.applications;
            reservations_ += static_cast<std::int64_t>(app.reservations.size());
            pending_asks_ += static_cast<std::int64_t>(app.asks.size());
        }
    }

    /// Sums of a queue are those of its children, of a leaf those of its applications (no. 2).
    LeafSums queue(const QueueView& view) {
        LeafSums sums = leaves_[view.path];
        expect(sums.applications == view.applications, "application count", view.path);
        for (const QueueView& child : view.children) {
            const LeafSums below = queue(child);
            add(sums.pending, below.pending);
            add(sums.allocated, below.allocated);
            sums.running += below.running;
        }
        expect(same(sums.pending, view.pending), "pending", view.path);
        expect(same(sums.allocated, view.allocated), "allocated", view.path);
        expect(sums.running == view.running_applications, "running count", view.path);
        expect(!negative(view.pending) && !negative(view.allocated), "negative sum", view.path);
        if (view.path == "root") root_ = view;
        return sums;
    }

    /// What those on a node have of its devices of one resource.
    struct OnDevices {
        std::vector<std::int64_t> used;
        std::set<std::uint32_t> foreign; // the devices of what the core did not place
        std::int64_t placed = 0;
    };

    void add_devices(const NodeView& node, const std::string& type, const AllocationView& allocation, bool foreign,
                     OnDevices& on) {
        if (const auto amount = allocation.resource.find(type); amount != allocation.resource.end())
            on.placed += amount->second;
        for (const DeviceUseView& each : allocation.devices) {
            if (each.resource != type) continue;
            expect(each.index < on.used.size(), "device of " + allocation.key, node.id);
            if (each.index < on.used.size()) on.used[each.index] += each.amount;
            if (foreign) on.foreign.insert(each.index);
        }
    }

    /// F-009, from what is on the node. `available`: gets what lost devices hold (F-008).
    void check_devices(const NodeView& node, const std::string& type, const std::vector<DeviceView>& devices,
                       Sum& available) {
        OnDevices on{std::vector<std::int64_t>(devices.size()), {}, 0};
        for (const AllocationView& each : node.allocations) add_devices(node, type, each, false, on);
        for (const AllocationView& each : node.foreign) add_devices(node, type, each, true, on);
        std::int64_t on_devices = 0;
        for (std::uint32_t index = 0; index < devices.size(); ++index) {
            const DeviceView& device = devices[index];
            expect(device.used == on.used[index], fmt::format("use of device {} of {}", index, type), node.id);
            expect(device.used >= 0 && (device.used <= device.size || device.lost || on.foreign.count(index) != 0),
                   fmt::format("size of device {} of {}", index, type), node.id);
            on_devices += device.used;
            if (device.lost) available[type] += device.used - device.size;
        }
        expect(on_devices == on.placed || (node.device_conflict && on_devices < on.placed), "devices of " + type,
               node.id);
    }

    void nodes() { // no. 3, 4 and the node's half of no. 5
        for (const NodeView& node : node_views(*core_.read(partition_), true)) {
            Sum allocated, foreign, available = node.capacity;
            for (const AllocationView& a : node.allocations) {
                add(allocated, a.resource);
                const auto found = placements_.find({node.id, a.application, a.key});
                if (found == placements_.end() && gangs_.count(a.application) > 0) continue; // a swap in flight
                expect(found != placements_.end() && same(found->second, a.resource), "allocation " + a.key, node.id);
                if (found != placements_.end()) placements_.erase(found);
                ++allocations_;
            }
            for (const AllocationView& a : node.foreign) add(foreign, a.resource);
            add(available, node.allocated, -1);
            add(available, node.occupied, -1);
            for (const auto& [type, devices] : node.devices) check_devices(node, type, devices, available);
            expect(same(allocated, node.allocated), "allocated", node.id);
            expect(same(available, node.available), "available", node.id);
            add(foreign, node.occupied, -1);
            for (const auto& [type, value] : foreign) expect(value <= 0, "occupied", node.id); // the rest was reported
            add(capacity_, node.capacity);
            node_reservations_ += static_cast<std::int64_t>(node.reservations.size());
        }
        expect(placements_.empty(), "allocations without node", partition_);
    }

    /// The partition has the sums of its nodes and of the root, and its counters count what there is (no. 6 and 7).
    void partition() {
        const PartitionView view = partition_view(*core_.read(partition_));
        expect(same(view.capacity, capacity_), "capacity", partition_);
        expect(same(view.allocated, root_.allocated), "allocated", partition_);
        bool any = false;
        for (const auto& [type, value] : capacity_) any = any || value > 0;
        expect(any == root_.max.has_value() && (!any || same(*root_.max, capacity_)), "root max", partition_);
        expect(view.allocations == allocations_, "allocation count", partition_);
        expect(view.placeholders == placeholders_, "placeholder count", partition_);
        expect(view.pending_asks == pending_asks_, "pending count", partition_);
        expect(view.reservations == reservations_ && reservations_ == node_reservations_, "reservations", partition_);
        const auto listed = reservation_views(*core_.read(partition_));
        expect(static_cast<std::int64_t>(listed.size()) == reservations_, "reservation list", partition_);
    }

    ClusterContext& core_;
    const std::string& partition_;
    std::vector<std::string> faults_;
    std::map<std::string, LeafSums> leaves_;
    std::map<std::tuple<std::string, std::string, std::string>, Sum> placements_; // node, application, key
    std::set<std::string> gangs_;                                                 // applications that hold placeholders
    QueueView root_;
    Usages users_, groups_;
    Sum capacity_;
    std::int64_t allocations_ = 0, placeholders_ = 0, pending_asks_ = 0, reservations_ = 0, node_reservations_ = 0;
};

} // namespace

std::vector<std::string> wrong_sums(ClusterContext& core) {
    std::vector<std::string> all;
    for (const std::string& name : core.partition_names()) {
        const auto faults = Audit(core, name).run();
        all.insert(all.end(), faults.begin(), faults.end());
    }
    return all;
}

} // namespace yk::testing

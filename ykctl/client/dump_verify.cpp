// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/dump_verify.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "libcore/base/saturate.h"
#include "ykctl/client/context.h"
#include "ykctl/client/states.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

using Amounts = std::map<std::string, std::int64_t>; // without zeros

void add(Amounts& sum, const Value& resource, bool minus = false) {
    for (const auto& [name, value] : resource.items()) {
        if (!value.is_number_integer()) continue;
        std::int64_t& amount = sum[name];
        amount = minus ? sat_sub(amount, value.get<std::int64_t>()) : sat_add(amount, value.get<std::int64_t>());
        if (amount == 0) sum.erase(name);
    }
}

Amounts sum_of(const Value& list, const char* member = "resource") {
    Amounts sum;
    for (const auto& element : list) add(sum, member_of(element, member));
    return sum;
}

std::string amounts_text(const Amounts& amounts) {
    Value map = Value::object();
    for (const auto& [name, amount] : amounts) map[name] = amount;
    return resource_text(map);
}

class Verification {
public:
    explicit Verification(const Value& full) : full_(full) {}

    std::vector<DumpFault> run() {
        for (const auto& partition : member_of(full_, "partitions")) {
            rm_ = text_of(partition, "clusterId");
            partition_ = text_of(partition, "name");
            partition_name_ = "[" + rm_ + "]" + partition_;
            nodes_.clear();
            queues_.clear();
            placed_.clear();
            gangs_.clear();
            collect();
            check_applications();
            check_nodes();
            check_queues();
            check_reservations();
            check_partition(partition);
        }
        return std::move(faults_);
    }

private:
    void fail(const std::string& object, const std::string& text) {
        faults_.push_back({partition_name_, printable(object), printable(text)});
    }
    void expect(const std::string& object, const char* what, const Value& reported, const char* of,
                const Amounts& sum) {
        Amounts amounts;
        add(amounts, reported);
        if (amounts != sum)
            fail(object,
                 fmt::format("{} is {}, but {} add up to {}", what, amounts_text(amounts), of, amounts_text(sum)));
    }
    void expect(const std::string& object, const char* what, std::int64_t reported, std::size_t counted) {
        if (reported != static_cast<std::int64_t>(counted))
            fail(object, fmt::format("{} is {}, but there are {}", what, reported, counted));
    }
    [[nodiscard]] bool is_here(const Value& element) const {
        return text_of(element, "clusterId") == rm_ && text_of(element, "partition") == partition_;
    }
    /// Whether an application is to be checked: an ended or rejected one has nothing, and its queue may not exist any
    /// more.
    [[nodiscard]] static bool is_live(const Value& application) {
        return !has_ended(text_of(application, "applicationState"));
    }
    /// Calls f(const Value&) for each live application of the partition.
    template <class F>
    void for_each_application(F&& f) const {
        for (const auto& application : member_of(full_, "applications"))
            if (is_here(application) && is_live(application)) f(application);
    }
    /// The name of an allocation: `app/key`.
    [[nodiscard]] static std::string name_of(const Value& allocation) {
        return text_of(allocation, "applicationId") + "/" + text_of(allocation, "allocationKey");
    }

    void collect() {
        for (const auto& part : member_of(full_, "nodes")) {
            if (text_of(part, "clusterId") != rm_ || text_of(part, "partitionName") != partition_) continue;
            for (const auto& node : member_of(part, "nodesInfo")) nodes_.emplace(text_of(node, "nodeID"), &node);
        }
        for (const auto& root : member_of(full_, "queues"))
            if (is_here(root)) collect_queue(root);
        for_each_application([this](const Value& application) {
            for (const auto& allocation : member_of(application, "allocations")) {
                placed_[text_of(allocation, "nodeId")].insert(name_of(allocation));
                if (flag_of(allocation, "placeholder"))
                    gangs_.emplace(text_of(allocation, "applicationId"), text_of(allocation, "taskGroupName"));
            }
        });
    }
    void collect_queue(const Value& queue) {
        queues_.emplace(text_of(queue, "queuename"), &queue);
        for (const auto& child : member_of(queue, "children")) collect_queue(child);
    }

    void check_applications() {
        for_each_application([this](const Value& application) {
            const auto name = "app " + text_of(application, "applicationID");
            Amounts real, placeholders;
            for (const auto& allocation : member_of(application, "allocations")) {
                add(flag_of(allocation, "placeholder") ? placeholders : real, member_of(allocation, "resource"));
                const auto node = text_of(allocation, "nodeId");
                if (nodes_.count(node) == 0)
                    fail("alloc " + name_of(allocation), "is on node " + node + ", which is not there");
            }
            expect(name, "usedResource", member_of(application, "usedResource"), "its allocations", real);
            expect(name, "placeholderResource", member_of(application, "placeholderResource"), "its placeholders",
                   placeholders);
            const auto& requests = member_of(application, "requests");
            expect(name, "pendingResource", member_of(application, "pendingResource"), "its asks", sum_of(requests));
            expect(name, "pendingAsks", number_of(application, "pendingAsks"), requests.size());
            if (const auto queue = text_of(application, "queueName"); queues_.count(queue) == 0)
                fail(name, "is in queue " + queue + ", which is not there");
        });
    }

    void check_nodes() {
        for (const auto& [id, node] : nodes_) {
            const auto name = "node " + id;
            const auto& allocations = member_of(*node, "allocations");
            expect(name, "allocated", member_of(*node, "allocated"), "its allocations", sum_of(allocations));
            std::set<std::string> listed;
            for (const auto& allocation : allocations) {
                listed.insert(name_of(allocation));
                if (placed_[id].count(name_of(allocation)) == 0 && !is_on_its_way(allocation))
                    fail("alloc " + name_of(allocation), "is listed by " + name + " and by no application there");
            }
            for (const auto& allocation : placed_[id])
                if (listed.count(allocation) == 0) fail("alloc " + allocation, "is not listed by its " + name);
            Amounts expected;
            add(expected, member_of(*node, "capacity"));
            for (const char* used : {"occupied", "allocated"}) add(expected, member_of(*node, used), true);
            expect(name, "available", member_of(*node, "available"), "capacity without what is used", expected);
        }
    }

    /// Whether an allocation may replace a placeholder of another node whose release the RM has not confirmed yet:
    /// until then no application lists it (G-040).
    [[nodiscard]] bool is_on_its_way(const Value& allocation) const {
        const auto group = std::pair{text_of(allocation, "applicationId"), text_of(allocation, "taskGroupName")};
        return !group.second.empty() && gangs_.count(group) != 0;
    }

    void check_queues() {
        std::map<std::string, Amounts> used, pending; // sums over the applications of a leaf, the children of a parent
        for_each_application([&](const Value& application) {
            const auto queue = text_of(application, "queueName");
            for (const char* what : {"usedResource", "placeholderResource"})
                add(used[queue], member_of(application, what));
            add(pending[queue], member_of(application, "pendingResource"));
        });
        for (const auto& [path, queue] : queues_) {
            const auto& children = member_of(*queue, "children");
            if (children.size() != member_of(*queue, "childNames").size())
                continue; // the dump leaves children out below its greatest depth
            for (const auto& child : children) {
                add(used[path], member_of(child, "allocatedResource"));
                add(pending[path], member_of(child, "pendingResource"));
            }
            const char* of = flag_of(*queue, "isLeaf") ? "its applications" : "its children";
            expect("queue " + path, "allocatedResource", member_of(*queue, "allocatedResource"), of, used[path]);
            expect("queue " + path, "pendingResource", member_of(*queue, "pendingResource"), of, pending[path]);
        }
    }

    void check_reservations() {
        for (const auto& reservation : member_of(full_, "reservations")) {
            if (!is_here(reservation)) continue;
            const auto node = text_of(reservation, "nodeID");
            if (nodes_.count(node) == 0)
                fail("reservation of " + text_of(reservation, "allocationKey"),
                     "is on node " + node + ", which is not there");
        }
    }

    void check_partition(const Value& partition) {
        Amounts capacity;
        for (const auto& [id, node] : nodes_) add(capacity, member_of(*node, "capacity"));
        expect("partition", "capacity", member_of(member_of(partition, "capacity"), "capacity"), "its nodes", capacity);
        std::size_t allocations = 0;
        for (const auto& [node, names] : placed_) allocations += names.size();
        expect("partition", "totalNodes", number_of(partition, "totalNodes"), nodes_.size());
        expect("partition", "totalContainers", number_of(partition, "totalContainers"), allocations);
    }

    const Value& full_;
    std::string rm_, partition_, partition_name_;
    std::map<std::string, const Value*> nodes_, queues_;
    std::map<std::string, std::set<std::string>> placed_; // by node, the allocations that applications list there
    std::set<std::pair<std::string, std::string>> gangs_; // application and task group of those with placeholders
    std::vector<DumpFault> faults_;
};

} // namespace

std::vector<DumpFault> verify_dump(const Value& full) {
    return Verification{full}.run();
}

} // namespace yk::cli

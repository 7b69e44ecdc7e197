// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <unordered_map>

#include "ykctl/apply/object_kind.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/existing.h"

namespace yk::cli {
namespace {

using wire::Value;
using Step = Plan::Step;
using State = Whereabouts::State;

si::AskName name_of(const Context& context, const Value& ask) {
    return {text_of(ask, "applicationID"), text_of(ask, "allocationKey"),
            partition_or(context, text_of(ask, "partitionName"))};
}

std::vector<si::AskName> names_of(const Context& context, const std::vector<Value>& asks) {
    std::vector<si::AskName> names;
    names.reserve(asks.size());
    for (const Value& ask : asks) names.push_back(name_of(context, ask));
    return names;
}

/// The asks and allocations of applications, each read when the first of it is looked for.
class KnownAsks {
public:
    /// The ask or allocation with that key; null: it is not there any more.
    Answer<Value> find(Context& context, const si::AskName& name) {
        auto& asks = by_application_[{name.partition_name, name.application_id}];
        if (asks.empty()) {
            for (const char* list : {"asks", "allocations"})
                if (auto failure = read(context, list, name, asks)) return *std::move(failure);
        }
        const auto found = asks.find(name.allocation_key);
        return found == asks.end() ? Value{} : found->second;
    }

private:
    using Asks = std::unordered_map<std::string, Value>; // by key, with the members that may differ

    static std::optional<Failure> read(Context& context, const char* list, const si::AskName& name, Asks& into) {
        const auto rm = context.rm();
        if (!rm.ok()) return rm.error();
        si::DumpRequest filter{.application = name.application_id, .limit = 4000};
        filter.partition = '[' + rm->id + ']' + name.partition_name;
        return list_objects(context, list, filter, [&into](const std::vector<Value>& items) {
            for (const Value& item : items) {
                Value& kept = into[text_of(item, "allocationKey")];
                for (const char* member : {"resource", "priority", "allocationTags", "taskGroupName", "devices"})
                    if (item.contains(member)) kept[member] = item[member];
            }
        });
    }

    std::map<PartitionKey, Asks> by_application_;
};

class AskKind final : public ObjectKind {
public:
    const MessageSpec& spec() const override { return ask_spec(); }
    const char* noun() const override { return "ask"; }
    std::string identity(const Context& context, const Value& wanted) const override {
        const auto name = name_of(context, wanted);
        return name.partition_name + '\x1f' + name.application_id + '\x1f' + name.allocation_key;
    }

    Answer<std::vector<Plan>> plan(Context& context, std::vector<Value> wanted) override {
        const auto names = names_of(context, wanted);
        YK_TRY(there, find_asks(context, names));
        std::vector<Plan> plans;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const auto& name = names[i];
            const auto key = element_key(name.application_id, name.allocation_key);
            Plan plan{"ask " + name.allocation_key, name.allocation_key, key, Step::Create, {}, {}};
            wanted[i]["partitionName"] = name.partition_name;
            if (const State state = there[key].state; state != State::Absent) {
                YK_TRY(known, known_.find(context, name));
                plan.differences = differences_of(known, wanted[i], state == State::Placed);
                plan.step = plan.differences.empty() ? Step::None : Step::Change;
            }
            if (plan.step != Step::None) plan.messages.push_back(std::move(wanted[i]));
            plans.push_back(std::move(plan));
        }
        return plans;
    }

    Answer<ElementOutcomes> send(Context& context, Value messages) const override {
        return send_asks(context, messages);
    }
    Done created(const ElementOutcomes& outcomes, const Plan& plan) const override {
        auto result = ask_done(outcomes, plan.key, "ask", plan.id);
        if (result.outcome == "added") result.outcome = "created";
        return result;
    }

    /// One that is placed is released.
    std::optional<Failure> remove(Context& context, const std::vector<Value>& wanted, bool,
                                  Report& report) const override {
        const auto names = names_of(context, wanted);
        auto there = find_asks(context, names);
        if (!there.ok()) return there.error();
        si::AllocationReleasesRequest releases;
        for (const auto& name : names) {
            const auto key = element_key(name.application_id, name.allocation_key);
            const State state = (*there)[key].state;
            if (state == State::Absent) {
                report.add({"ask " + name.allocation_key, name.allocation_key, kAbsent, {}, {}, {}});
            } else if (state == State::Placed) {
                put_name(releases.allocations_to_release.emplace_back(), name);
            } else {
                put_name(releases.allocation_asks_to_release.emplace_back(), name);
            }
        }
        const auto sent = releases;
        if (sent.allocations_to_release.empty() && sent.allocation_asks_to_release.empty()) return std::nullopt;
        const auto outcomes = send_update(context, std::move(releases));
        if (!outcomes.ok()) return outcomes.error();
        const auto add = [&](const auto& release, const char* outcome) {
            const auto& id = release.allocation_key;
            report.add(done(*outcomes, element_key(release.application_id, id), "ask " + id, id, outcome));
        };
        for (const auto& release : sent.allocations_to_release) add(release, "released");
        for (const auto& release : sent.allocation_asks_to_release) add(release, "removed");
        return std::nullopt;
    }

private:
    template <class Release>
    static void put_name(Release& release, const si::AskName& name) {
        release.partition_name = name.partition_name;
        release.application_id = name.application_id;
        release.allocation_key = name.allocation_key;
        release.termination_type = si::TerminationType::StoppedByRm;
    }

    /// Of one that is placed only the size can change (I-144).
    static std::vector<Difference> differences_of(const Value& there, const Value& ask, bool is_placed) {
        Differences differences;
        if (there.is_null()) return {};
        const auto has = [&ask](const char* field) { return ask.contains(field); };
        if (has("resourceAsk"))
            differences.compare("size", amounts_text(member_of(there, "resource")), amounts_text(ask["resourceAsk"]));
        if (is_placed) return differences.take();
        if (has("priority"))
            differences.compare("priority", text_of(there, "priority"), std::to_string(number_of(ask, "priority")));
        if (has("devices"))
            differences.compare("devices", devices_text(member_of(there, "devices")), devices_text(ask["devices"]));
        if (has("tags"))
            differences.compare("tags", pairs_text(member_of(there, "allocationTags")), pairs_text(ask["tags"]));
        if (has("taskGroupName"))
            differences.compare("task group", text_of(there, "taskGroupName"), text_of(ask, "taskGroupName"));
        return differences.take();
    }

    KnownAsks known_;
};

} // namespace

std::unique_ptr<ObjectKind> ask_kind() {
    return std::make_unique<AskKind>();
}

} // namespace yk::cli

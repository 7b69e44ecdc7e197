// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ykctl/apply/object_kind.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/existing.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;
using Step = Plan::Step;

PartitionKey key_of(const Context& context, const Value& application) {
    return {partition_or(context, text_of(application, "partitionName")), text_of(application, "applicationID")};
}

/// A queue as the daemon names it.
std::string full_path(const std::string& queue) {
    return queue == "root" || queue.starts_with("root.") ? queue : "root." + queue;
}

/// Why one that is there cannot be what the file wants, since an application stays as it was submitted; empty: it is.
std::string mismatch_of(const Value& there, const Value& wanted) {
    const Value& owner = member_of(wanted, "ugi");
    const auto user = text_of(owner, "user");
    if (!user.empty() && user != text_of(there, "user"))
        return fmt::format("it belongs to the user {}, and in the file to {}", text_of(there, "user"), user);
    if (owner.contains("groups") && names_text(member_of(owner, "groups")) != names_text(member_of(there, "groups")))
        return fmt::format("its user is in the groups {}, and in the file in {}",
                           or_dash(names_text(member_of(there, "groups"))),
                           or_dash(names_text(member_of(owner, "groups"))));
    return {};
}

class ApplicationKind final : public ObjectKind {
public:
    const MessageSpec& spec() const override { return application_spec(); }
    const char* noun() const override { return "app"; }
    std::string identity(const Context& context, const Value& wanted) const override {
        const auto [partition, id] = key_of(context, wanted);
        return partition + '\x1f' + id;
    }

    Answer<std::vector<Plan>> plan(Context& context, std::vector<Value> wanted) override {
        YK_TRY(there, existing_applications(context, wanted));
        std::vector<Plan> plans;
        for (Value& application : wanted) {
            const auto key = key_of(context, application);
            const auto found = there.find(key);
            Plan plan{"app " + key.second, key.second, id_key(key.second), Step::None, {}, {}};
            if (found == there.end()) {
                plan.step = Step::Create;
                application["partitionName"] = key.first;
                if (!member_of(application, "ugi").contains("user")) application["ugi"]["user"] = login_name();
                plan.messages.push_back(std::move(application));
            } else if (const auto why = mismatch_of(found->second, application); !why.empty()) {
                plan.refusal = {
                    why + "; an application stays as it was submitted, and may be removed:  ykctl app remove " +
                        key.second,
                    0};
            } else if (const auto queue = text_of(application, "queueName");
                       !queue.empty() && full_path(queue) != text_of(found->second, "queueName")) {
                plan.remark = fmt::format(" in {} (the file wishes {})", text_of(found->second, "queueName"), queue);
            }
            plans.push_back(std::move(plan));
        }
        return plans;
    }

    Answer<ElementOutcomes> send(Context& context, Value messages) const override {
        return send_update(context, "UpdateApplication", {{"new", std::move(messages)}});
    }
    Done created(const ElementOutcomes& outcomes, const Plan& plan) const override {
        auto result = added(outcomes, plan.key, plan.what, plan.id, "created");
        const auto accepted = outcomes.accepted.find(plan.key);
        if (accepted != outcomes.accepted.end()) result.detail = " in " + text_of(accepted->second, "queueName");
        return result;
    }

    std::optional<Failure> remove(Context& context, const std::vector<Value>& wanted, bool,
                                  Report& report) const override {
        const auto there = existing_applications(context, wanted);
        if (!there.ok()) return there.error();
        si::ApplicationRequest update;
        for (const Value& application : wanted) {
            const auto [partition, id] = key_of(context, application);
            if (there->contains({partition, id}))
                update.remove.push_back({id, partition});
            else
                report.add({"app " + id, id, kAbsent, {}, {}, {}});
        }
        if (update.remove.empty()) return std::nullopt;
        const auto removals = update.remove;
        const auto outcomes = send_update(context, std::move(update));
        if (!outcomes.ok()) return outcomes.error();
        for (const auto& removal : removals) {
            const auto& id = removal.application_id;
            report.add(done(*outcomes, id_key(id), "app " + id, id, "removed"));
        }
        return std::nullopt;
    }
};

} // namespace

std::unique_ptr<ObjectKind> application_kind() {
    return std::make_unique<ApplicationKind>();
}

} // namespace yk::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once
// ObjectKind: what apply, diff and delete do with nodes, with applications, and with asks.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/apply/differences.h"
#include "ykctl/client/context.h"
#include "ykctl/client/updates.h"
#include "ykctl/files/si_schema.h"

namespace yk::cli {

/// What is to be done so that one object is as its file says.
struct Plan {
    enum class Step { None, Create, Change };

    std::string what; // `node n-1`
    std::string id;   // `n-1`
    ElementKey key;
    Step step = Step::None;
    std::vector<Difference> differences; // of a Change
    std::vector<wire::Value> messages;   // to be sent, in order
    std::optional<Refusal> refusal = {}; // it cannot be made so
    std::string remark = {};             // for people, of one that stays
};

/// A kind of objects. Has no state but what it has read of the daemon to compare with; for one command.
class ObjectKind {
public:
    virtual ~ObjectKind() = default;

    [[nodiscard]] virtual const MessageSpec& spec() const = 0;
    [[nodiscard]] virtual const char* noun() const = 0; // `node`
    /// Partition, application and id, which only one object of a file may have.
    [[nodiscard]] virtual std::string identity(const Context& context, const wire::Value& wanted) const = 0;

    /// One plan for each of `wanted`, at most a thousand objects. Sends only questions.
    [[nodiscard]] virtual Answer<std::vector<Plan>> plan(Context& context, std::vector<wire::Value> wanted) = 0;
    /// Sends the messages of plans.
    [[nodiscard]] virtual Answer<ElementOutcomes> send(Context& context, wire::Value messages) const = 0;
    /// What became of one that was created.
    [[nodiscard]] virtual Done created(const ElementOutcomes& outcomes, const Plan& plan) const = 0;

    /// Removes those of `wanted`, at most a thousand, that are there. `force`: with what runs there.
    [[nodiscard]] virtual std::optional<Failure> remove(Context& context, const std::vector<wire::Value>& wanted,
                                                        bool force, Report& report) const = 0;
};

[[nodiscard]] std::unique_ptr<ObjectKind> node_kind();
[[nodiscard]] std::unique_ptr<ObjectKind> application_kind();
[[nodiscard]] std::unique_ptr<ObjectKind> ask_kind();

/// What delete says of one that is not there.
inline constexpr const char* kAbsent = "absent";

/// The partition of a message that says none is that of -p.
[[nodiscard]] std::string partition_or(const Context& context, const std::string& partition);

} // namespace yk::cli

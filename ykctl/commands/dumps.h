#pragma once
// Objects out of dumps (interface.md 5.2, 5.3), by the identity a person types.

#include <string>
#include <vector>

#include "ykctl/commands/context.h"

namespace yk::cli {

/// The daemon's clock, in nanoseconds: ages are relative to it.
[[nodiscard]] Answer<std::int64_t> daemon_now(Context& context);

/// All nodes of the visible partitions, each with its `partition`.
[[nodiscard]] Answer<std::vector<wire::Value>> all_nodes(Context& context);
[[nodiscard]] Answer<wire::Value> find_node(Context& context, const std::string& id);

/// Applications of the lists named: active, completed, rejected.
[[nodiscard]] Answer<std::vector<wire::Value>> all_applications(Context& context,
                                                                const std::vector<std::string>& lists);
[[nodiscard]] Answer<wire::Value> find_application(Context& context, const std::string& id);

/// The queue trees of the visible partitions.
[[nodiscard]] Answer<std::vector<wire::Value>> queue_trees(Context& context);
[[nodiscard]] Answer<wire::Value> find_queue(Context& context, const std::string& path);

[[nodiscard]] Answer<std::vector<wire::Value>> all_partitions(Context& context);

/// Users or groups with their usage; `what` is `users` or `groups`.
[[nodiscard]] Answer<std::vector<wire::Value>> all_usages(Context& context, const std::string& what);
/// One of them; `noun` is `user` or `group`.
[[nodiscard]] Answer<wire::Value> find_usage(Context& context, const std::string& noun, const std::string& name);

/// The members of `list` (`requests` or `allocations`) of the active applications, or of one; each with its
/// `applicationId`, `queueName` and `partition`.
[[nodiscard]] Answer<std::vector<wire::Value>> all_of_applications(Context& context, const char* list,
                                                                   const std::optional<std::string>& application);

/// The one ask or allocation with this key; a usage error names the candidates when several applications have it.
[[nodiscard]] Answer<wire::Value> find_key(Context& context, const std::vector<const char*>& lists,
                                           const std::string& key, const std::optional<std::string>& application);

[[nodiscard]] ListLayout allocation_layout();
[[nodiscard]] ListLayout ask_layout(std::int64_t now);

} // namespace yk::cli

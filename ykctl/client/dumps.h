// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds objects in dumps (interface.md 5.2, 5.3) by the names that a person types.

#include <string>
#include <vector>

#include "ykctl/client/context.h"
#include "ykctl/client/watch.h"

namespace yk::cli {

/// The time of the daemon in Unix nanoseconds. Ages are computed with it.
[[nodiscard]] Answer<std::int64_t> daemon_now(Context& context);

/// The most asks or allocations that are fetched along with an application or node.
inline constexpr std::uint32_t kMaxInline = 1000;

/// All nodes of the visible partitions, each with its `partition`, page by page. One with more allocations than
/// kFewObjects comes without them, marked `brief`.
[[nodiscard]] std::optional<Failure> list_nodes(Context& context, const TakeItems& take);
/// One node, with its allocations when they are at most `objects`, else marked `brief`.
[[nodiscard]] Answer<wire::Value> find_node(Context& context, const std::string& id,
                                            std::uint32_t objects = kMaxInline);

/// One application, with its asks and allocations when they are at most `objects`, else marked `brief`.
[[nodiscard]] Answer<wire::Value> find_application(Context& context, const std::string& id,
                                                   std::uint32_t objects = kMaxInline);

/// Many of them without asks and allocations, in the order of `ids`. The failure names the first that does not exist or
/// is in several partitions. Takes a small number of requests even for many ids.
[[nodiscard]] Answer<std::vector<wire::Value>> find_nodes(Context& context, const std::vector<std::string>& ids);
[[nodiscard]] Answer<std::vector<wire::Value>> find_applications(Context& context, const std::vector<std::string>& ids);
/// Those of them that there are, in every partition that may be meant.
[[nodiscard]] Answer<std::vector<wire::Value>> named_nodes(Context& context, const std::vector<std::string>& ids);
[[nodiscard]] Answer<std::vector<wire::Value>> named_applications(Context& context,
                                                                  const std::vector<std::string>& ids);

/// The queues of the visible partitions, each before those below it, without children.
[[nodiscard]] std::optional<Failure> list_queues(Context& context, const TakeItems& take);
[[nodiscard]] Answer<wire::Value> find_queue(Context& context, const std::string& path);

[[nodiscard]] Answer<std::vector<wire::Value>> all_partitions(Context& context);
/// The RMs of Status.
[[nodiscard]] Answer<std::vector<wire::Value>> all_rms(Context& context);

/// Users or groups with their usage, page by page; `what` is `users` or `groups`.
[[nodiscard]] std::optional<Failure> list_usages(Context& context, const char* what, const TakeItems& take);
/// One of them; `noun` is `user` or `group`.
[[nodiscard]] Answer<wire::Value> find_usage(Context& context, const std::string& noun, const std::string& name);

/// The items of each page of a list of MCS.
[[nodiscard]] std::optional<Failure> read_items(Context& context, const si::McsReadRequest& request,
                                                const TakeItems& take);

/// Asks or allocations (`what`) that `filter` takes, page by page.
[[nodiscard]] std::optional<Failure> list_objects(Context& context, const char* what, const si::DumpRequest& filter,
                                                  const TakeItems& take);
/// The filter for --app; a not-found failure when there is no such application.
[[nodiscard]] Answer<si::DumpRequest> application_filter(Context& context,
                                                         const std::optional<std::string>& application);

/// The one ask or allocation with this key, of these lists (`asks`, `allocations`); a usage error names the candidates
/// when several applications have it, or those of several RMs or partitions.
[[nodiscard]] Answer<wire::Value> find_key(Context& context, const std::vector<const char*>& lists,
                                           const std::string& key, const std::optional<std::string>& application);

/// Why an ask of a dump was not placed when it was last tried; empty: it was not tried.
[[nodiscard]] std::string last_reason(const wire::Value& ask);

[[nodiscard]] ListLayout allocation_layout();
[[nodiscard]] ListLayout ask_layout(std::int64_t now);

} // namespace yk::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What several nouns show: states as text, columns of tables, the table of RMs.

#include <cstdint>
#include <string>
#include <vector>

#include "ykctl/cli/failure.h"
#include "ykctl/render/output.h"

namespace yk::cli {

/// The names of the states as they are spelt; people may write them in upper or lower case.
[[nodiscard]] const std::vector<std::string>& application_states();

/// The states of a node, and that of one in a dump: it is Draining while allocations are left on one that takes nothing
/// new.
[[nodiscard]] const std::vector<std::string>& node_states();
[[nodiscard]] std::string node_state_text(const wire::Value& node);

/// A state as it is spelt, for one that was typed in any case; a usage error of `option` says what there is.
[[nodiscard]] Answer<std::string> known_state(const std::string& option, const std::string& state,
                                              const std::string& noun, const std::vector<std::string>& known);

/// Whether an application in this state has ended and is kept only to be looked at.
[[nodiscard]] bool has_ended(const std::string& application_state);

/// `Running` for 1 (interface.md 3.1); the number itself for a state that this program does not know.
[[nodiscard]] std::string core_state_text(std::int64_t state);

/// How far the recovery of an RM of Status is, while it is Recovering or Failed: `120 of 500 nodes, 3 applications, 40
/// allocations, 12 asks, begun 4s ago (recovery r1, attempt 1)`. Else empty.
[[nodiscard]] std::string recovery_progress(const wire::Value& rm);

/// A bar for that, when the RM announced how much there is, and how long it may still last: `[######--------------] 31
/// %, failed in 1m 50s without an update, in 9m 50s at the latest`. Else empty.
[[nodiscard]] std::string recovery_bar(const wire::Value& rm);

/// The table of the RMs of Status.
[[nodiscard]] ListLayout rm_layout();

/// A column with the member `key` of each item, printable, a dash when it has none.
[[nodiscard]] Column text_column(const std::string& heading, const char* key, bool wide = false);
/// The columns for partition and RM, which a table has when the items differ in them.
[[nodiscard]] Column partition_column();
[[nodiscard]] Column rm_column();
[[nodiscard]] Column number_column(const std::string& heading, const char* key, bool wide = false);
[[nodiscard]] Column resource_column(const std::string& heading, const char* key, bool wide = false);
/// A column with how long before `now` the time in `key` is; both in Unix nanoseconds.
[[nodiscard]] Column age_column(const std::string& heading, const char* key, std::int64_t now, bool wide = false);

/// The column, but sorted by `order` instead of by its text.
[[nodiscard]] Column ordered(Column column, std::function<SortKey(const wire::Value&)> order);

/// What is free on a node, with a 0 for each resource of its capacity that is used up (dumps leave those out).
[[nodiscard]] std::string free_text(const wire::Value& node);

/// The largest share of `used` in `capacity` over the resources of `capacity`; negative when there is none.
[[nodiscard]] double dominant_share(const wire::Value& used, const wire::Value& capacity);

} // namespace yk::cli

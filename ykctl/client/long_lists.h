// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes applications and nodes whose lists the daemon left out because they are long (`brief`). The lists are fetched
// page by page and are never held as a whole.

#include <string>
#include <vector>

#include "ykctl/client/context.h"
#include "ykctl/render/json_stream.h"

namespace yk::cli {

/// Writes one element of the dumps apps or nodes with its lists; `partition` of a node is that of the map around it.
[[nodiscard]] std::optional<Failure> write_whole(Context& context, JsonStream& to, const wire::Value& element,
                                                 const std::string& partition);

/// A table of the asks or allocations of an application or node; `what` is the dump that lists them.
struct LongTable {
    const char* what;
    ListLayout layout;
};
/// Shows an application or node that is `brief`, in every format but names. `text` is printed above the tables.
[[nodiscard]] Outcome show_long(Context& context, const wire::Value& element, const std::string& text,
                                const std::vector<LongTable>& tables);

/// Writes a list of the queue trees of the visible partitions.
[[nodiscard]] std::optional<Failure> write_queue_trees(Context& context, JsonStream& to);

/// Writes the data of the dump `what`.
[[nodiscard]] std::optional<Failure> write_dump(Context& context, JsonStream& to, const std::string& what);

} // namespace yk::cli

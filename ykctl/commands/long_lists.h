#pragma once
// Applications and nodes whose lists the daemon left out because they are long (`brief`), written as if it had not: the
// lists are fetched page by page and never held whole.

#include <string>
#include <vector>

#include "ykctl/commands/context.h"
#include "ykctl/render/json_stream.h"

namespace yk::cli {

/// One element of the dumps apps or nodes; `partition` of a node is that of the map around it.
[[nodiscard]] std::optional<Failure> write_whole(Context& context, JsonStream& to, const wire::Value& element,
                                                 const std::string& partition);

/// A table of what an application or node has; `what` is the dump that lists it.
struct LongTable {
    const char* what;
    ListLayout layout;
};
/// One of them, which is `brief`, as `show` does it in every format but names. `text` stands above the tables.
[[nodiscard]] Outcome show_long(Context& context, const wire::Value& element, const std::string& text,
                                const std::vector<LongTable>& tables);

/// A list of the queue trees of the visible partitions.
[[nodiscard]] std::optional<Failure> write_queue_trees(Context& context, JsonStream& to);

/// The data of a dump. `what` as Dump has it.
[[nodiscard]] std::optional<Failure> write_dump(Context& context, JsonStream& to, const std::string& what);

} // namespace yk::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Columns that are named by a path into the JSON of an item: `.attributes.rack`.

#include <string>
#include <string_view>

#include "ykctl/render/output.h"

namespace yk::cli {

/// Whether a name of --columns or --sort-by is a path: it has a dot, which no heading has.
[[nodiscard]] bool is_path(std::string_view name);

/// The member of an item at a path; null when there is none. Names are parted by dots, and may have dots themselves
/// (`.capacity.nvidia.com/gpu`); members of lists are numbers from 0 on.
[[nodiscard]] const wire::Value& member_at(const wire::Value& item, std::string_view path);

/// A column of what is there: texts and numbers as they are, maps and lists as JSON, `-` for nothing.
[[nodiscard]] Column path_column(const std::string& path);

} // namespace yk::cli

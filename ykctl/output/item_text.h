// SPDX-License-Identifier: Apache-2.0
#pragma once
// Callback items and event records as lines for a person.

#include <string>

#include "protocol/wire/value.h"

namespace yk::cli {

/// The text of one item of an RM's stream: a line with number, time and kind, then a line per element.
[[nodiscard]] std::string item_line(const wire::Value& item);

/// The widths of the columns for RM and partition in lines of events; 0 for a column that is left out.
struct EventWidths {
    std::size_t rm = 0, partition = 0;
};
/// The short name of an event's partition.
[[nodiscard]] std::string event_partition(const wire::Value& record);

/// One event record as a line.
[[nodiscard]] std::string event_line(const wire::Value& record, const EventWidths& widths = {});

/// The type of a record: `REQUEST`, `APP`, ...
[[nodiscard]] std::string event_type_text(const wire::Value& record);

} // namespace yk::cli

#pragma once
// Callback items and event records as lines for a person.

#include <string>

#include "protocol/wire/value.h"

namespace yk::cli {

/// One item of an RM's stream: a line with number, time and kind, and a line per element.
[[nodiscard]] std::string item_line(const wire::Value& item);

/// What lines of events say about where it was: widths of columns, 0 for one that is left out.
struct EventPlaces {
    std::size_t rm = 0, partition = 0;
};
/// The short name of an event's partition.
[[nodiscard]] std::string event_partition(const wire::Value& record);

/// One event record.
[[nodiscard]] std::string event_line(const wire::Value& record, const EventPlaces& places = {});

/// `REQUEST`, `APP`, ... of a record.
[[nodiscard]] std::string event_type_text(const wire::Value& record);

} // namespace yk::cli

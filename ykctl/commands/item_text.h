#pragma once
// Callback items and event records as lines for a person.

#include <string>

#include "protocol/wire/value.h"

namespace yk::cli {

/// One item of an RM's stream: a line with number, time and kind, and a line per element.
[[nodiscard]] std::string item_line(const wire::Value& item);

/// One event record.
[[nodiscard]] std::string event_line(const wire::Value& record);

/// `REQUEST`, `APP`, ... of a record.
[[nodiscard]] std::string event_type_text(const wire::Value& record);

} // namespace yk::cli

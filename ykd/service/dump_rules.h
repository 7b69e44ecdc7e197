#pragma once
// Placement rules as dump objects (C-475).

#include "libcore/config/config.h"
#include "protocol/wire/value.h"

namespace yk::service {

/// The rules of a partition in order, the internal ones included (C-315):
/// [{name, parameters {str: str}, filter {type, userList, groupList, userExp, groupExp}, parentRule}].
[[nodiscard]] wire::Value rules_value(const config::Partition& partition);

} // namespace yk::service

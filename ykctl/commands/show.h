// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `node show` and `app show` show, for ykctl top, too.

#include <string>

#include "ykctl/client/watch.h"

namespace yk::cli {

[[nodiscard]] Answer<Shown> look_at_node(Context& context, const std::string& name);
[[nodiscard]] Answer<Shown> look_at_application(Context& context, const std::string& id);

} // namespace yk::cli

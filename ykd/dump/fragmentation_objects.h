// SPDX-License-Identifier: Apache-2.0
#pragma once
// How fragmented a partition is, as objects of dumps (F-034).

#include <string>

#include "libcore/ports/fragmentation_view.h"
#include "ykd/dump/dump_objects.h"

namespace yk::service {

[[nodiscard]] Value fragmentation_value(const FragmentationView& view, const std::string& partition,
                                        const std::string& rm_id);
[[nodiscard]] Value node_fragments_value(const NodeFragmentsView& view, const std::string& partition,
                                         const std::string& rm_id);

} // namespace yk::service

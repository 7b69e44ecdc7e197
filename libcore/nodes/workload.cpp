// SPDX-License-Identifier: Apache-2.0
#include "libcore/nodes/workload.h"

#include <map>

#include "libcore/base/commonest.h"

namespace yk {

std::int64_t Workload::commonest_amount() const {
    std::map<std::int64_t, std::int64_t> weights;
    for (const WorkloadShape& each : shapes)
        if (each.amount > 0) weights[each.amount] += each.weight;
    return commonest(weights);
}

} // namespace yk

// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests of what must be found: a sum that can be made wrong.

#include "libcore/resources/sum.h"

namespace yk::testing {

inline Resource& tamper(Sum& sum) {
    return sum;
}

} // namespace yk::testing

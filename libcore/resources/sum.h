// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sum: an amount that is added up from others. Everybody may read it; only the Ledger changes it, so that a sum and its
// parts change together. (Casting it to a Resource gets around that; tests do so to break what checks must find.)

#include "libcore/resources/resource.h"

namespace yk {

class Ledger;

class Sum : public Resource {
public:
    Sum() = default;

private:
    friend class Ledger;
    using Resource::add;
    using Resource::clamp;
    using Resource::max_with;
    using Resource::prune;
    using Resource::set;
    using Resource::sub;
};

} // namespace yk

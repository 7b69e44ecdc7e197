// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes a random run into one with placement rules: its partitions get rules and child templates, its applications get
// users, tags and quotas, so that dynamic queues come and go, and now and then become managed.

#include <cstdint>
#include <vector>

#include "tests/support/command_text.h"

namespace yk::testing {

/// Only configurations as RandomConfig writes them.
void add_rules(std::vector<Command>& commands, std::uint64_t seed);

} // namespace yk::testing

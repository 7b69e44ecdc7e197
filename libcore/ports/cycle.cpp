// SPDX-License-Identifier: Apache-2.0
#include "libcore/ports/cycle.h"

#include <array>

namespace yk {
namespace {

constexpr std::array kCounters{
    &CoreCounters::allocated,         &CoreCounters::released,    &CoreCounters::rejected,
    &CoreCounters::scheduling_errors, &CoreCounters::corrections, &CoreCounters::submitted,
    &CoreCounters::accepted,          &CoreCounters::refused,     &CoreCounters::nodes_removed,
    &CoreCounters::nodes_failed,      &CoreCounters::victims,     &CoreCounters::victims_unused,
    &CoreCounters::reannounced,       &CoreCounters::restored};
static_assert(sizeof(CoreCounters) == kCounters.size() * sizeof(std::uint64_t));

} // namespace

void CoreCounters::add(const CoreCounters& other) {
    for (const auto counter : kCounters) this->*counter += other.*counter;
}

void CoreCounters::subtract(const CoreCounters& before) {
    for (const auto counter : kCounters) this->*counter -= before.*counter;
}

} // namespace yk

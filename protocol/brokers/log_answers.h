// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a change log at a broker answers when it has no events to give.

#include <string>
#include <utility>

#include "libcore/base/result.h"
#include "libcore/resource_state/ports/change_log.h"

namespace yk::rs {

[[nodiscard]] inline LogFault down(const Error& error) {
    return {LogFault::What::Down, {}, error.text()};
}

[[nodiscard]] inline LogFault gap(RelistReason reason, std::string message) {
    return {LogFault::What::Gap, reason, std::move(message)};
}

/// The value, or Down as an answer of the enclosing function.
#define YK_ASK(name, expr)                                                                                             \
    auto YK_CONCAT(yk_ask_, __LINE__) = (expr);                                                                        \
    if (!YK_CONCAT(yk_ask_, __LINE__).ok()) return down(YK_CONCAT(yk_ask_, __LINE__).error());                         \
    auto name = std::move(YK_CONCAT(yk_ask_, __LINE__)).value()

} // namespace yk::rs

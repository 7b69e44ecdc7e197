// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading what a daemon answers.

#include <string>
#include <utility>

#include "libcore/base/result.h"
#include "protocol/wire/codec.h"

namespace yk::bench {

template <class T>
Result<T> decode(const std::string& bytes) {
    constexpr wire::DecodeOptions kFromDaemon{false, false};
    const auto body = wire::scan_body(bytes);
    if (!body.ok()) return Error::at(body.error().path, body.error().message);
    auto message = wire::decode<T>(body.value(), kFromDaemon);
    if (!message.ok()) return Error::at(message.error().path, message.error().message);
    return std::move(message).value();
}

} // namespace yk::bench

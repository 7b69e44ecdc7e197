// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes in arbitrary pieces as what a peer sends: the reader of frames never writes beyond what it gave,
// holds no more than one message, and what it gives does not depend on the pieces.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/check.h"
#include "protocol/transport/sp_frames.h"

namespace {

using namespace yk::wire;

constexpr std::size_t kMost = 1U << 16;

/// `early`: messages are taken while the next bytes are on their way.
std::vector<std::string> read(const std::uint8_t* data, std::size_t size, std::size_t step, bool typed, bool early) {
    FrameReader reader(kReqGreeting, typed, kMost);
    std::vector<std::string> found;
    const auto take = [&] {
        while (true) {
            const auto next = reader.next(true);
            if (next.fault) return false;
            if (!next.message) return true;
            YK_CHECK(next.message->size() <= kMost, "a message is as long as allowed");
            found.emplace_back(next.message->head());
            found.emplace_back(next.message->body());
        }
    };
    while (size != 0) {
        const auto free_space = reader.free_space();
        YK_CHECK(!free_space.empty(), "there is room as long as no message waits");
        if (early && !take()) return found;
        const std::size_t count = std::min({step, size, free_space.size()});
        std::copy_n(data, count, free_space.begin());
        reader.took(count);
        data += count;
        size -= count;
        if (!take()) return found;
        YK_CHECK(reader.begun() <= kMost, "no more is begun than allowed");
    }
    return found;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const bool typed = (data[0] & 1U) != 0;
    const std::size_t step = 1 + data[1];
    const auto whole = read(data + 2, size - 2, 1U << 30, typed, false);
    YK_CHECK(read(data + 2, size - 2, step, typed, false) == whole, "the pieces make no difference");
    YK_CHECK(read(data + 2, size - 2, step, typed, true) == whole, "nor does when messages are taken");
    return 0;
}

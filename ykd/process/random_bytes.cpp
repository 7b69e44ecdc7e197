// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/random_bytes.h"

#include <fmt/format.h>
#include <sys/random.h>

#include "libcore/base/check.h"
#include "protocol/simulation/simulator.h"

namespace yk::service {

Bytes16 random_bytes() {
    Bytes16 bytes{};
    if (Simulator* const simulated = simulator()) {
        simulated->fill_random(bytes);
        return bytes;
    }
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    YK_CHECK(got == static_cast<ssize_t>(bytes.size()), "the kernel has random bytes");
    return bytes;
}

std::string uuid_text(const Bytes16& bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", bytes[i]);
    }
    return text;
}

} // namespace yk::service

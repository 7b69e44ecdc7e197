// SPDX-License-Identifier: Apache-2.0
// Any bytes as a recording: refused with the file and the command, or played by a core whose accounting stays right.

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "libcore/base/check.h"
#include "ykd/core_gateway/playback.h"

using namespace yk;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int file = memfd_create("recording", MFD_CLOEXEC);
    YK_CHECK(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size), "a file in memory can be made");
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    std::uint64_t steps = 0;
    const auto played = play_recording(path, [&](const PlayedStep& step) { return step.number == ++steps; });
    if (played.ok())
        YK_CHECK(played->broken.empty(), "whatever is played, the sums are right");
    else
        YK_CHECK(played.error().where.find(path) == 0, "an error names the file");
    ::close(file);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/at_work.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace yk {
namespace {

/// What was thrown, in words. Nothing here allocates: the exception may be that there is no memory.
const char* text_of(const std::exception_ptr& fault) {
    if (!fault) return "std::terminate() was called";
    try {
        std::rethrow_exception(fault);
    } catch (const std::bad_alloc&) {
        return "there is no memory left";
    } catch (const std::exception& known) {
        return known.what();
    } catch (...) {
        return "an exception of an unknown type";
    }
}

[[noreturn]] void write_last_words() {
    std::array<char, 1024> line{};
    const AtWork& mine = at_work();
    const char* text = text_of(std::current_exception());
    const int length = mine.whose == nullptr
                           ? std::snprintf(line.data(), line.size(), "ykd: ends, at work on %s: %s\n", mine.what, text)
                           : std::snprintf(line.data(), line.size(), "ykd: ends, at work on %s of RM %s: %s\n",
                                           mine.what, mine.whose->c_str(), text);
    const auto size = std::min(static_cast<std::size_t>(std::max(length, 0)), line.size() - 1);
    static_cast<void>(!::write(STDERR_FILENO, line.data(), size));
    std::abort();
}

} // namespace

void install_last_words() {
    std::set_terminate(write_last_words);
}

} // namespace yk

// SPDX-License-Identifier: Apache-2.0
#include "protocol/posix/system_error.h"

#include <cerrno>
#include <cstring>

namespace yk {

Error system_error(const std::string& what) {
    const int number = errno;
    return Error::coded(number, what + ": " + std::strerror(number));
}

} // namespace yk

// SPDX-License-Identifier: Apache-2.0
#pragma once
// KeyFault: what is wrong with a key of the settings that can be known only when all were read.

#include <string>

namespace yk::service {

struct KeyFault {
    std::string key; // one of those that the file has
    std::string message;
};

} // namespace yk::service

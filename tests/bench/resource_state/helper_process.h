// SPDX-License-Identifier: Apache-2.0
#pragma once
// HelperProcess: a process that is there from before the database is opened, and does one thing to the database when it
// is told to.

#include <sys/types.h>

#include <functional>

#include "libcore/base/result.h"

namespace yk::bench {

class HelperProcess {
public:
    explicit HelperProcess(const std::function<Result<void>()>& work);
    ~HelperProcess();
    HelperProcess(const HelperProcess&) = delete;
    HelperProcess& operator=(const HelperProcess&) = delete;

    /// Has it done, and waits for that; once.
    [[nodiscard]] Result<void> run();

private:
    [[nodiscard]] int wait();

    int go_ = -1;
    pid_t process_ = -1;
};

} // namespace yk::bench

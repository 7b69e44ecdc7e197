// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsDaemon: a daemon with mcs in a process of its own, somebody who asks it, and whether it has what its database has.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/client/client.h"
#include "protocol/databases/sql_connection.h"
#include "protocol/wire/value.h"
#include "tests/bench/resource_state/bench_database.h"
#include "tests/bench/resource_state/figures.h"
#include "tests/bench/wire/daemon_process.h"

namespace yk::bench {

/// Looks again and again until it is so. Error: it cannot be asked, or is not so within five minutes.
[[nodiscard]] Result<void> until(const std::string& what, std::chrono::milliseconds pause,
                                 const std::function<Result<bool>()>& is_so);

/// Owner and thread: whoever measures.
class McsDaemon {
public:
    [[nodiscard]] static Result<std::unique_ptr<McsDaemon>> start(const RunPlace& place, const BenchDatabase& database,
                                                                  std::size_t deployments);

    [[nodiscard]] DaemonProcess& process() { return *process_; }
    /// The status of its mcs.
    [[nodiscard]] Result<wire::Value> status();
    [[nodiscard]] Result<wire::Value> create(const std::string& name, std::uint64_t replicas);

    /// What R-163 asks of one that leads, in so far as the protocol says it: its caches of Deployments with their
    /// scales and schedules and of nodes have the rows as they are, its core runs what is placed, and nothing was
    /// repaired. Of the Deployments `inspected`, by id or name, the content of all three rows is compared, too. It
    /// waits until that is so, since rows may be written meanwhile; else what is wrong.
    [[nodiscard]] Result<void> check(rs::SqlConnection& rows, const std::vector<std::string>& inspected);

private:
    using Lines = std::vector<std::string>;

    McsDaemon(std::unique_ptr<DaemonProcess> process, std::unique_ptr<wire::Client> client)
        : process_(std::move(process)), client_(std::move(client)) {}

    [[nodiscard]] Result<wire::Value> call(const char* kind, const std::string& body);
    /// One line for each row of a kind, in any order.
    [[nodiscard]] Result<Lines> listed(const std::string& kind, std::string (*line_of)(const wire::Value& item));
    /// Likewise for each allocation that its core has for mcs.
    [[nodiscard]] Result<Lines> in_core();
    [[nodiscard]] Result<bool> is_in_sync(const std::string& kind, const std::string& id);
    [[nodiscard]] Result<void> check_no_repairs();

    std::unique_ptr<DaemonProcess> process_;
    std::unique_ptr<wire::Client> client_;
};

} // namespace yk::bench

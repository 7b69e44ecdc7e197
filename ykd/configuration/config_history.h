// SPDX-License-Identifier: Apache-2.0
#pragma once
// ConfigHistory: the last configurations that each RM ran with, for `config history` and `config rollback` (B-12).
//
// Owner: Daemon. Thread: any.

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/time.h"
#include "protocol/books/book_file.h"

namespace yk::service {

struct AcceptedConfig {
    Instant at;
    std::string checksum;
    std::string origin; // for people: `file /etc/ykd/queues.yaml`, `registration`, `request of uid 0`
    std::shared_ptr<const std::string> text;
};

/// As it stands in the books of an RM.
[[nodiscard]] books::KeptConfiguration kept_form(const AcceptedConfig& accepted);

class ConfigHistory {
public:
    static constexpr std::size_t kEntries = 16;        // per RM
    static constexpr std::size_t kMaxBytes = 8U << 20; // of text per RM; the newest two are kept in any case

    /// Adds the configuration that the RM has from now on, unless it is the newest already. The oldest are dropped.
    void keep(const std::string& rm_id, AcceptedConfig accepted);
    void forget(const std::string& rm_id);
    /// All that are kept of the RM, the oldest first.
    [[nodiscard]] std::vector<AcceptedConfig> of(const std::string& rm_id) const;
    /// The newest one whose checksum begins with `prefix`; upper and lower case are the same.
    [[nodiscard]] std::optional<AcceptedConfig> find(const std::string& rm_id, const std::string& prefix) const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::deque<AcceptedConfig>> by_rm_;
};

} // namespace yk::service

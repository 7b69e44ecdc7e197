// SPDX-License-Identifier: Apache-2.0
#pragma once
// Degraded: the list of what is wrong with the daemon itself now, such as a recording that ended or a listener that
// does not answer. Status and Health show it, Metrics count it. What is wrong with one RM or its objects is for the
// health checks.
//
// Owner: Daemon. Thread: any.

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace yk::service {

class Degraded {
public:
    /// Adds an entry, until clear(). `sentence` says what is wrong, since when if that matters, and what helps. `key`
    /// is one word, followed by a name if there can be several: `recording rm:1`. True: the key is new, and the
    /// sentence should be logged.
    bool set(const std::string& key, const std::string& sentence);
    /// Removes an entry; true: it was there.
    bool clear(const std::string& key);
    /// The sentences, in the order of their keys.
    [[nodiscard]] std::vector<std::string> list() const;
    /// Those whose keys have this first word.
    [[nodiscard]] std::vector<std::string> list_of(std::string_view first_word) const;
    /// The number of entries by the first word of their keys, for Metrics.
    [[nodiscard]] std::map<std::string, std::size_t> counts() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::string> reasons_; // sentences by key
};

} // namespace yk::service

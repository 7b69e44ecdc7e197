#pragma once
// Degraded: what is wrong with the daemon itself, for as long as it is: a recording that ended, a listener that does
// not answer. Status and Health list it, Metrics count it. What is wrong with one RM or its objects is for the health
// checks.
//
// Owner: Daemon. Thread: any.

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace yk::service {

class Degraded {
public:
    /// From now on, until clear(): `sentence` says what is wrong, since when if that matters, and the way out. `key` is
    /// one word, with the name of what it is about behind it if there can be several: `recording rm:1`.
    /// True: it was not so before, and should be logged.
    bool set(const std::string& key, const std::string& sentence);
    /// It is well again; true: it was not.
    bool clear(const std::string& key);
    /// The sentences, in the order of their keys.
    [[nodiscard]] std::vector<std::string> list() const;
    /// By the key's first word, for Metrics.
    [[nodiscard]] std::map<std::string, std::size_t> counts() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::string> reasons_;
};

} // namespace yk::service

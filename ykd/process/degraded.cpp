// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/degraded.h"

namespace yk::service {

bool Degraded::set(const std::string& key, const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    return reasons_.insert_or_assign(key, sentence).second;
}

bool Degraded::clear(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return reasons_.erase(key) != 0;
}

std::vector<std::string> Degraded::list() const {
    std::vector<std::string> sentences;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, sentence] : reasons_) sentences.push_back(sentence);
    return sentences;
}

std::vector<std::string> Degraded::list_of(std::string_view first_word) const {
    std::vector<std::string> sentences;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, sentence] : reasons_)
        if (key.substr(0, key.find(' ')) == first_word) sentences.push_back(sentence);
    return sentences;
}

std::map<std::string, std::size_t> Degraded::counts() const {
    std::map<std::string, std::size_t> counts;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, sentence] : reasons_) ++counts[key.substr(0, key.find(' '))];
    return counts;
}

} // namespace yk::service

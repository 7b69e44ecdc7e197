// SPDX-License-Identifier: Apache-2.0
#pragma once
// KnownTexts: what texts of a column were read as. Most rows of a kind have the same few texts in some columns, so that
// each is read once, and its value is kept once for all rows that have it (rs R-057).
//
// What is remembered, with the values, has a limit of memory; beyond it everything is forgotten, and rows keep the
// values that they have.
//
// Owner: the store of a kind. Thread: its owner's.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/by_text.h"
#include "libcore/base/shared.h"

namespace yk::mcs {

template <class Value>
class KnownTexts {
public:
    /// What the text was read as; nullptr: that is not known. Valid until something is added.
    [[nodiscard]] const Shared<Value>* find(std::string_view text) const {
        const auto found = known_.find(text);
        return found == known_.end() ? nullptr : &found->second;
    }
    /// The text was read as this. REQUIRES: it is not known.
    Shared<Value> add(std::string_view text, Value read) {
        Shared<Value> value{std::move(read)};
        if (text.size() > kMostText) return value;
        const std::size_t weight = text.size() * kPerByte + kEach;
        bytes_ += weight;
        if (bytes_ > kMostBytes) {
            known_.clear();
            bytes_ = weight;
        }
        known_.emplace(text, value);
        return value;
    }

private:
    static constexpr std::size_t kMostBytes = std::size_t{4} << 20; // of texts, their values, and what is around them
    static constexpr std::size_t kMostText = kMostBytes / 64;
    static constexpr std::size_t kPerByte = 24; // of a text: with the value of the worst, a list of empty texts
    static constexpr std::size_t kEach = 100;

    ByText<Shared<Value>> known_;
    std::size_t bytes_ = 0;
};

} // namespace yk::mcs

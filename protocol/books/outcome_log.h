// SPDX-License-Identifier: Apache-2.0
#pragma once
// OutcomeLog: outcomes, one behind the other in one block of memory, so that whoever notes them pays for their bytes
// and not for a string each. Owner: a turn of BookKeeper.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/books/books.h"

namespace yk::books {

class OutcomeLog {
public:
    void add(const Outcome& outcome) {
        Head head{outcome.what, outcome.pending, {}};
        const std::array names{outcome.partition, outcome.id, outcome.key, outcome.place};
        for (std::size_t i = 0; i < names.size(); ++i) {
            head.sizes[i] = static_cast<std::uint32_t>(names[i].size());
            names_.append(names[i]);
        }
        heads_.push_back(head);
    }
    [[nodiscard]] std::size_t size() const { return heads_.size(); }

    /// Calls `use` with each outcome, in order. Its names are in this log.
    template <class Use>
    void each(Use use) const {
        std::string_view rest = names_;
        const auto next = [&rest](std::uint32_t size) {
            const std::string_view name = rest.substr(0, size);
            rest.remove_prefix(size);
            return name;
        };
        for (const Head& head : heads_) {
            Outcome outcome{head.what};
            outcome.pending = head.pending;
            outcome.partition = next(head.sizes[0]);
            outcome.id = next(head.sizes[1]);
            outcome.key = next(head.sizes[2]);
            outcome.place = next(head.sizes[3]);
            use(outcome);
        }
    }

private:
    struct Head {
        Outcome::What what{};
        bool pending = false;
        std::array<std::uint32_t, 4> sizes{}; // of its names, in bytes
    };
    std::vector<Head> heads_;
    std::string names_;
};

} // namespace yk::books

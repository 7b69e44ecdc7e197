// SPDX-License-Identifier: Apache-2.0
#pragma once
// LineOutput: the output of a command on this program's own standard error, where a journal takes it if there is one.

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/work/output.h"

namespace yk::cli {

/// Writes each line with what it is of before it, as a terminal may show it. Long lines are broken; after `limit` bytes
/// it is said that the rest is dropped.
class LineOutput final : public work::Output {
public:
    LineOutput(int file, std::string prefix, std::uint64_t limit)
        : file_(file), prefix_(std::move(prefix)), left_(limit), limit_(limit) {}
    ~LineOutput() override;
    void write(std::string_view text) override;

private:
    void write_line();

    const int file_;
    const std::string prefix_;
    std::uint64_t left_;
    const std::uint64_t limit_;
    std::string line_;
};

} // namespace yk::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a stream answers to a message: that it has it, that it had it before, or why it does not take it. Pure.

#include <string>
#include <string_view>

namespace yk::rs {

struct PublishReply {
    bool is_duplicate = false;
    bool is_overtaken = false; // somebody else has written to the stream meanwhile
    std::string fault;         // empty: the message is safe
};
[[nodiscard]] PublishReply read_publish_reply(std::string_view text);

} // namespace yk::rs

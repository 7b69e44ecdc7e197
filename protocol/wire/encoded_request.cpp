// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/encoded_request.h"

#include "protocol/wire/body_reader.h"

namespace yk::wire {

EncodedRequest::EncodedRequest(std::string_view kind_name, const Value& generic_body)
    : kind(kind_name), body(generic_body.empty() ? std::string{} : encoded_value(generic_body)) {
    if (const auto asked = generic_body.find("waitMs"); asked != generic_body.end() && asked->is_number_integer())
        wait = std::chrono::milliseconds{asked->get<std::int64_t>()};
}

} // namespace yk::wire

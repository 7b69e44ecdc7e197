// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/jetstream/publish_reply.h"

#include <nlohmann/json.hpp>

#include "libcore/base/text.h"

namespace yk::rs {
namespace {

constexpr int kWrongLastId = 10070, kWrongLastSequence = 10071;
constexpr std::size_t kMostShown = 200; // bytes

} // namespace

PublishReply read_publish_reply(std::string_view text) {
    using Json = nlohmann::json;
    const Json reply = Json::parse(text, nullptr, false);
    PublishReply read;
    read.fault = "an answer that cannot be understood";
    if (!reply.is_object()) return read;
    if (const auto error = reply.find("error"); error != reply.end()) {
        if (!error->is_object()) return read;
        const auto code = error->find("err_code");
        const int number = code != error->end() && code->is_number_integer() ? code->get<int>() : 0;
        read.is_overtaken = number == kWrongLastSequence || number == kWrongLastId;
        const auto why = error->find("description");
        if (why != error->end() && why->is_string())
            read.fault = printable(shortened(why->get<std::string>(), kMostShown));
        return read;
    }
    const auto sequence = reply.find("seq");
    if (sequence == reply.end() || !sequence->is_number_unsigned()) return read;
    const auto duplicate = reply.find("duplicate");
    read.is_duplicate = duplicate != reply.end() && *duplicate == true;
    read.fault.clear();
    return read;
}

} // namespace yk::rs

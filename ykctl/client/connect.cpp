// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/connect.h"

#include <utility>

namespace yk::cli {

Answer<std::unique_ptr<wire::Client>> connect(const Settings& settings) {
    if (settings.client.timeout.count() <= 0)
        return usage_error("--timeout: nothing can be asked in no time",
                           {"the usual one, 5s, for work 60s?  leave it out"});
    if (!settings.address_named) // an address that the user named needs no check
        if (const auto trusted = wire::check_default_address(settings.address); !trusted.ok())
            return Failure{Exit::Denied,
                           "not trusted: " + trusted.error().message,
                           {"is it right all the same?  -s " + settings.address},
                           0,
                           {},
                           {}};
    auto connected = wire::Client::connect(settings.client);
    if (!connected.ok()) return from_call_error(connected.error(), settings.address);
    return std::move(connected).value();
}

} // namespace yk::cli

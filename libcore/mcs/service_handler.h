// SPDX-License-Identifier: Apache-2.0
#pragma once
// ServiceHandler<T>: what the handlers of a service share: its name, that they run only while this process has its
// lease (rs R-092), and that a write which was under way when a call returned is reported when it ends.

#include <functional>
#include <string>
#include <string_view>

#include "libcore/resource_state/resource_informer.h"

namespace yk::mcs {

/// What a service knows it has from the caches as well, so all that goes from there is of interest.
[[nodiscard]] inline rs::HandlerOptions options_of(std::string_view service) {
    rs::HandlerOptions options{std::string{service}};
    options.reads_cache = true;
    return options;
}

/// Owner: the program. Thread: that of the caches.
template <rs::Resource T>
class ServiceHandler : public rs::ResourceEventHandler<T> {
public:
    /// `informer` must outlive it, and it the writes that are under way.
    ServiceHandler(rs::ResourceInformer<T>& informer, std::string_view service)
        : informer_(informer), service_(service) {}

    [[nodiscard]] std::string_view name() const override { return service_; }

protected:
    using Report = std::function<void(const rs::HandlerResult& result, Instant now)>;
    [[nodiscard]] Report report(const rs::EventContext& context) {
        return [this, call = context.call](const rs::HandlerResult& result, Instant now) {
            static_cast<void>(informer_.finish(name(), call, result, now)); // the lease may have gone meanwhile
        };
    }

private:
    rs::ResourceInformer<T>& informer_;
    const std::string_view service_;
};

} // namespace yk::mcs

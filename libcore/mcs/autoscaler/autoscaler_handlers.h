// SPDX-License-Identifier: Apache-2.0
#pragma once
// When the Autoscaler acts at once: a Deployment came, changed or went, or somebody else changed a scale (rs R-107,
// The order of the two kinds does not matter: whoever misses its partner does nothing, and the partner's own
// event does the work (rs R-109).
//
// Owner: the program. Thread: that of the caches.

#include <string>

#include "libcore/mcs/autoscaler/autoscaler.h"
#include "libcore/mcs/service_handler.h"

namespace yk::mcs {

template <rs::Resource T>
class AutoscalerHandler : public ServiceHandler<T> {
public:
    /// Both must outlive it, and it the writes that are under way.
    AutoscalerHandler(Autoscaler& autoscaler, rs::ResourceInformer<T>& informer)
        : ServiceHandler<T>(informer, kAutoscalerService), autoscaler_(autoscaler) {}

protected:
    [[nodiscard]] Autoscaler& autoscaler() { return autoscaler_; }
    [[nodiscard]] rs::HandlerResult update(const rs::EventContext& context, const std::string& id) {
        return autoscaler_.update(id, turn_of(context), done(context));
    }
    [[nodiscard]] static Autoscaler::Turn turn_of(const rs::EventContext& context) {
        return {context.lease, context.now};
    }
    [[nodiscard]] Autoscaler::Done done(const rs::EventContext& context) {
        return [report = this->report(context)](const WriteOutcome&, const rs::HandlerResult& result, Instant now) {
            report(result, now);
        };
    }

private:
    Autoscaler& autoscaler_;
};

class DeploymentHandler final : public AutoscalerHandler<Deployment> {
public:
    using AutoscalerHandler::AutoscalerHandler;
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context,
                                           const rs::Ptr<Deployment>& deployment) override;
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& context, const rs::Ptr<Deployment>& old,
                                              const rs::Ptr<Deployment>& current) override;
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context,
                                              const rs::Ptr<Deployment>& last) override;
};

class DeploymentScaleHandler final : public AutoscalerHandler<DeploymentScale> {
public:
    using AutoscalerHandler::AutoscalerHandler;
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context,
                                           const rs::Ptr<DeploymentScale>& scale) override;
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& context, const rs::Ptr<DeploymentScale>& old,
                                              const rs::Ptr<DeploymentScale>& current) override;
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context,
                                              const rs::Ptr<DeploymentScale>& last) override;
};

} // namespace yk::mcs

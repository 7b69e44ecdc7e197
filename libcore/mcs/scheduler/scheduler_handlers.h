// SPDX-License-Identifier: Apache-2.0
#pragma once
// When the Scheduler acts at once: a Deployment, its scale, its schedule or a node came, changed or went (rs R-125,
// The order of the kinds does not matter: whoever misses its partner does nothing, and the partner's own event
// does the work (rs R-109).
//
// Owner: the program. Thread: that of the caches.

#include "libcore/mcs/scheduler/scheduler.h"
#include "libcore/mcs/service_handler.h"

namespace yk::mcs {

template <rs::Resource T>
class SchedulerHandler : public ServiceHandler<T> {
public:
    /// Both must outlive it, and it the writes that are under way.
    SchedulerHandler(Scheduler& scheduler, rs::ResourceInformer<T>& informer)
        : ServiceHandler<T>(informer, kSchedulerService), scheduler_(scheduler) {}

    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& context, const rs::Ptr<T>& /*old*/,
                                              const rs::Ptr<T>& current) override {
        return this->on_add(context, current);
    }

protected:
    [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
    [[nodiscard]] static Scheduler::Turn turn_of(const rs::EventContext& context) {
        return {context.lease, context.now};
    }

private:
    Scheduler& scheduler_;
};

class ScheduledDeploymentHandler final : public SchedulerHandler<Deployment> {
public:
    using SchedulerHandler::SchedulerHandler;
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context,
                                           const rs::Ptr<Deployment>& deployment) override;
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context,
                                              const rs::Ptr<Deployment>& last) override;
};

class ScheduledScaleHandler final : public SchedulerHandler<DeploymentScale> {
public:
    /// `deployments` must outlive it, too.
    ScheduledScaleHandler(Scheduler& scheduler, rs::ResourceInformer<DeploymentScale>& informer,
                          const rs::ResourceCache<Deployment>& deployments)
        : SchedulerHandler(scheduler, informer), deployments_(deployments) {}
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context,
                                           const rs::Ptr<DeploymentScale>& scale) override;
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context,
                                              const rs::Ptr<DeploymentScale>& last) override;

private:
    const rs::ResourceCache<Deployment>& deployments_;
};

class ScheduleHandler final : public SchedulerHandler<DeploymentSchedule> {
public:
    using SchedulerHandler::SchedulerHandler;
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context,
                                           const rs::Ptr<DeploymentSchedule>& schedule) override;
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context,
                                              const rs::Ptr<DeploymentSchedule>& last) override;
};

class NodeHandler final : public SchedulerHandler<Node> {
public:
    using SchedulerHandler::SchedulerHandler;
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context, const rs::Ptr<Node>& node) override;
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context, const rs::Ptr<Node>& last) override;
};

} // namespace yk::mcs

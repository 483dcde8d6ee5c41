"""Objects that several tests create, as dictionaries."""


def gpu_node(name, gpus=8, labels=None):
    """Returns a node of KWOK, Ready immediately."""
    size = {"cpu": "192", "memory": "2048Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "status": {"capacity": size, "allocatable": size},
    }


def deployment(name, namespace, replicas, gpus=1, annotations=None, pod=None):
    """Returns a Deployment whose pods request GPUs. `pod` adds fields to the spec of the pods."""
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": annotations or {}},
                "spec": {
                    "containers": [{"name": "engine", "image": "engine",
                                    "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}],
                    **(pod or {}),
                },
            },
        },
    }


def node_claim(name, pool, instance_type, zone, capacity_type="on-demand", annotations=None):
    """Returns a claim as Karpenter writes it for a pool: with the label of the pool and one value per requirement."""
    wanted = {
        "karpenter.sh/nodepool": pool, "node.kubernetes.io/instance-type": instance_type,
        "topology.kubernetes.io/zone": zone, "karpenter.sh/capacity-type": capacity_type,
    }
    return {
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": pool}, "annotations": annotations or {}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            "requirements": [{"key": key, "operator": "In", "values": [value]} for key, value in wanted.items()],
        },
    }


def role(name, target, maximum=4):
    """Returns a role of a scaler with one Deployment."""
    return {"role": name, "variants": [{"targetRef": {"kind": "Deployment", "name": target}, "maxReplicas": maximum}]}


def queue(name, limit=8, parent=None):
    """Returns a Queue with this limit of GPUs."""
    spec = {"gpus": {"limit": limit}, **({"parent": parent} if parent else {})}
    return {"apiVersion": "capstan.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def scaler(name, namespace, target="engine", **spec):
    """Returns an InferenceScaler of one Deployment. `spec` replaces fields of its spec."""
    only = role("both", target)
    del only["role"]
    return {
        "apiVersion": "capstan.dev/v1alpha1", "kind": "InferenceScaler",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"model": "Llama-3.1-8B", "slo": {"ttft": "1s"}, "roles": [only], **spec},
    }


def fleet_policy(**spec):
    return {"apiVersion": "capstan.dev/v1alpha1", "kind": "FleetPolicy", "metadata": {"name": "default"}, "spec": spec}


def node_pool(name, gpu_limit, types, expire_after="Never"):
    """Returns a pool of Karpenter's kwok provider, and its class."""
    node_class = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": name}
    return [
        {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": name},
         "spec": {"nodeRegistrationDelay": "1s"}},
        {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
         "spec": {
             "limits": {"nvidia.com/gpu": str(gpu_limit)},
             "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
             "template": {"spec": {"nodeClassRef": node_class, "expireAfter": expire_after, "requirements": [
                 {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": types},
                 {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]}]}}}},
    ]


def gang_pod(name, namespace, pool, count, gpus, annotations=None):
    """Returns a pod of a gang that Capstan places on nodes of a pool."""
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace,
                     "annotations": {"capstan.dev/gang": "gang", "capstan.dev/gang-min": str(count),
                                     **(annotations or {})}},
        "spec": {"schedulerName": "capstan", "nodeSelector": {"karpenter.sh/nodepool": pool},
                 "terminationGracePeriodSeconds": 0,
                 "containers": [{"name": "engine", "image": "engine",
                                 "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]},
    }


def devices_of_node(node, gpus):
    """Returns the ResourceSlice of a node and the class of its devices, as NVIDIA's driver publishes them."""
    devices = [{"name": f"gpu-{i}", "attributes": {"type": {"string": "gpu"}, "uuid": {"string": f"GPU-{node}-{i}"}}}
               for i in range(gpus)]
    driver = "gpu.nvidia.com"
    return [
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": node},
         "spec": {"driver": driver, "nodeName": node, "devices": devices,
                  "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": driver},
         "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]}},
    ]


def resource_claim(name, namespace, gpus):
    exactly = {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": gpus}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            # The scheduler sets this finalizer when it allocates devices. Without it, they are never released.
            "metadata": {"name": name, "namespace": namespace,
                         "finalizers": ["resource.kubernetes.io/delete-protection"]},
            "spec": {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}}


def granted(node, gpus):
    """Returns the status of a claim that was given the first devices of a node."""
    results = [{"request": "gpus", "driver": "gpu.nvidia.com", "pool": node, "device": f"gpu-{i}"}
               for i in range(gpus)]
    return {"status": {"allocation": {"devices": {"results": results}}}}


def pod_with_claim(name, namespace, node, claim):
    """Returns a pod that uses a ResourceClaim, bound to a node if one is named."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": {**({"nodeName": node} if node else {}), "terminationGracePeriodSeconds": 0,
                     "resourceClaims": [{"name": "gpus", "resourceClaimName": claim}],
                     "containers": [{"name": "engine", "image": "engine",
                                     "resources": {"claims": [{"name": "gpus"}]}}]}}


def no_second_node(pool):
    """Returns a policy that rejects the node of the second claim of each group of a pool, as if it never started."""
    name = f"no-second-node-{pool}"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["nodes"]}
    second = f"object.metadata.name.matches('^kwok-{pool}-[a-z0-9]+-[0-9]+-1-')"
    api = "admissionregistration.k8s.io/v1"
    return [
        {"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
         "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": f"!{second}"}]}},
        {"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
         "spec": {"policyName": name, "validationActions": ["Deny"]}},
    ]

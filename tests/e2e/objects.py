"""Objects that several tests create, as plain dictionaries."""


def gpu_node(name, gpus=8, labels=None):
    """A node of KWOK's, Ready as soon as it is seen."""
    size = {"cpu": "192", "memory": "2048Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "status": {"capacity": size, "allocatable": size},
    }


def deployment(name, namespace, replicas, gpus=1, annotations=None, pod=None):
    """A Deployment whose pods ask for GPUs; `pod` adds to the pods' spec."""
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
    """A claim as Karpenter itself would write it for a pool: with the pool's label, one value a requirement."""
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
    """A role of a scaler with one Deployment."""
    return {"role": name, "variants": [{"targetRef": {"kind": "Deployment", "name": target}, "maxReplicas": maximum}]}


def scaler(name, namespace, target="engine", **spec):
    """An InferenceScaler of one Deployment; `spec` replaces fields of its spec."""
    only = role("both", target)
    del only["role"]
    return {
        "apiVersion": "capstan.dev/v1alpha1", "kind": "InferenceScaler",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"model": "Llama-3.1-8B", "slo": {"ttft": "1s"}, "roles": [only], **spec},
    }


def fleet_policy(**spec):
    return {"apiVersion": "capstan.dev/v1alpha1", "kind": "FleetPolicy", "metadata": {"name": "default"}, "spec": spec}

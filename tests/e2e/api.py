"""A client of the API server with administrator rights. Unlike kubectl it starts no process, so tests can poll often.

Names and answers are as in `kubectl get --output json`. A kind is named by its plural, its singular or a short name,
with or without its group. The default namespace is "default".
"""

import http.client
import json
import ssl
import threading
import urllib.parse

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
TIMEOUT_S = 30


def of_cluster(folder, port):
    """Returns the API of a cluster of scripts/cluster."""
    tls = ssl.create_default_context(cafile=folder / "pki" / "ca.crt")
    tls.load_cert_chain(folder / "pki" / "user-kubeconfig.crt", folder / "pki" / "user-kubeconfig.key")
    return Api(lambda: http.client.HTTPSConnection("127.0.0.1", port, context=tls, timeout=TIMEOUT_S))


class Api:
    """Reads objects of one cluster. Every error is an AssertionError. Several threads may use it at once."""

    def __init__(self, connect):
        """`connect` returns a new http.client.HTTPConnection."""
        self._connect = connect
        self._per_thread = threading.local()  # one connection per thread
        self._kinds = {}  # kinds by name: path of group and version, plural, whether it is namespaced

    def get(self, kind, name, namespace=None):
        """Returns an object, or None if there is none of that name."""
        status, answer = self._ask(f"{self._collection(kind, namespace)}/{name}")
        if status == 200:
            return answer
        if status == 404 and answer.get("details", {}).get("name") == name:
            return None
        raise self._refused(kind, answer)

    def list(self, kind, namespace=None, selector=None):
        query = f"?labelSelector={urllib.parse.quote(selector)}" if selector else ""
        status, answer = self._ask(self._collection(kind, namespace) + query)
        if status != 200:
            raise self._refused(kind, answer)
        return answer["items"]

    def _refused(self, kind, answer):
        self._kinds = {}  # a definition may have been deleted or created
        return AssertionError(f"{kind}: {answer.get('message', answer)}")

    def _collection(self, word, namespace):
        # Another thread may clear the kinds at any time.
        found = self._kinds.get(word) or self._discover().get(word)
        if found is None:
            raise AssertionError(f"the server has no kind {word}")
        group, plural, namespaced = found
        return f"{group}/namespaces/{namespace or 'default'}/{plural}" if namespaced else f"{group}/{plural}"

    def _discover(self):
        """Returns all kinds, by name."""
        kinds = {}
        for root in ("/api", "/apis"):
            status, answer = self._ask(root, DISCOVERY)
            if status != 200:
                raise AssertionError(f"{root}: {answer}")
            for group in answer["items"]:
                name = group["metadata"].get("name", "")
                version = group["versions"][0]  # the version that the server prefers
                path = f"/apis/{name}/{version['version']}" if name else f"/api/{version['version']}"
                for kind in version.get("resources", []):  # absent for a group whose server does not answer
                    found = (path, kind["resource"], kind["scope"] == "Namespaced")
                    words = [kind["resource"], kind.get("singularResource", ""), *kind.get("shortNames", [])]
                    for word in words:
                        kinds.setdefault(word, found)
                        kinds.setdefault(f"{word}.{name}", found)
        self._kinds = kinds
        return kinds

    def _ask(self, path, accept="application/json"):
        """Returns status and JSON of an answer. Retries on a new connection if an idle connection was closed."""
        while True:
            fresh = getattr(self._per_thread, "connection", None) is None
            if fresh:
                self._per_thread.connection = self._connect()
            try:
                self._per_thread.connection.request("GET", path, headers={"Accept": accept})
                answer = self._per_thread.connection.getresponse()
                return answer.status, json.loads(answer.read())
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                self._per_thread.connection.close()
                self._per_thread.connection = None
                if fresh:
                    raise AssertionError(f"{path}: {error!r}") from error

"""The API server, asked by its administrator without a process for each question: tests that wait ask many times.

Words and answers are those of `kubectl get --output json`: a kind by its plural, its singular, a short name, or with
its group; a namespaced object without a namespace is in "default".
"""

import http.client
import json
import ssl
import threading
import urllib.parse

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
TIMEOUT_S = 30


def of_cluster(folder, port):
    """The API of a cluster of scripts/cluster."""
    tls = ssl.create_default_context(cafile=folder / "pki" / "ca.crt")
    tls.load_cert_chain(folder / "pki" / "user-kubeconfig.crt", folder / "pki" / "user-kubeconfig.key")
    return Api(lambda: http.client.HTTPSConnection("127.0.0.1", port, context=tls, timeout=TIMEOUT_S))


class Api:
    """Reads of one cluster; any error is an AssertionError. May be used by several threads at once."""

    def __init__(self, connect):
        """`connect` gives a new http.client.HTTPConnection."""
        self._connect = connect
        self._mine = threading.local()  # a connection of each thread
        self._kinds = {}  # path of a collection's group and version, plural, and whether it is namespaced, by word

    def get(self, kind, name, namespace=None):
        """An object, or None where there is none of that name."""
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
        self._kinds = {}  # a definition may have gone, or have come back
        return AssertionError(f"{kind}: {answer.get('message', answer)}")

    def _collection(self, word, namespace):
        # Another thread may forget the kinds at any moment.
        found = self._kinds.get(word) or self._discover().get(word)
        if found is None:
            raise AssertionError(f"the server has no kind {word}")
        group, plural, namespaced = found
        return f"{group}/namespaces/{namespace or 'default'}/{plural}" if namespaced else f"{group}/{plural}"

    def _discover(self):
        """Asks for all kinds; gives them by word."""
        kinds = {}
        for root in ("/api", "/apis"):
            status, answer = self._ask(root, DISCOVERY)
            if status != 200:
                raise AssertionError(f"{root}: {answer}")
            for group in answer["items"]:
                name = group["metadata"].get("name", "")
                version = group["versions"][0]  # the one that the server prefers
                path = f"/apis/{name}/{version['version']}" if name else f"/api/{version['version']}"
                for kind in version.get("resources", []):  # none of a group whose server is away
                    found = (path, kind["resource"], kind["scope"] == "Namespaced")
                    words = [kind["resource"], kind.get("singularResource", ""), *kind.get("shortNames", [])]
                    for word in words:
                        kinds.setdefault(word, found)
                        kinds.setdefault(f"{word}.{name}", found)
        self._kinds = kinds
        return kinds

    def _ask(self, path, accept="application/json"):
        """Status and JSON of an answer. An idle connection may have been closed: then a new one asks again."""
        while True:
            fresh = getattr(self._mine, "connection", None) is None
            if fresh:
                self._mine.connection = self._connect()
            try:
                self._mine.connection.request("GET", path, headers={"Accept": accept})
                answer = self._mine.connection.getresponse()
                return answer.status, json.loads(answer.read())
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                self._mine.connection.close()
                self._mine.connection = None
                if fresh:
                    raise AssertionError(f"{path}: {error!r}") from error

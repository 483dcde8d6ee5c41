"""The audit log of the API server, independent evidence for the tests: every request with its user, time and answer."""

import dataclasses
import datetime
import json

WRITES = ("create", "update", "patch", "delete", "deletecollection")


@dataclasses.dataclass(frozen=True)
class Entry:
    """One answered request."""

    at: str  # time of arrival, RFC 3339 with microseconds, UTC
    user: str  # e.g. admin, kwok, karpenter, system:serviceaccount:kube-system:deployment-controller
    agent: str
    credential: str  # id of the token of a service account, which identifies the process
    uri: str
    verb: str  # get, list, watch or one of WRITES
    resource: str  # plural, e.g. deployments
    subresource: str  # e.g. scale, status, binding; empty for the object itself
    namespace: str
    name: str
    code: int  # HTTP status
    answered: str  # time of the answer, in the format of `at`
    body: dict  # body of the request, for writes


def seconds(at):
    """Converts a time of the log to seconds since the Unix epoch, as in time.time()."""
    return datetime.datetime.fromisoformat(at).timestamp()


def _entry(event):
    target = event.get("objectRef", {})
    body = event.get("requestObject")
    return Entry(
        at=event["requestReceivedTimestamp"], user=event["user"].get("username", ""), agent=event.get("userAgent", ""),
        credential="".join(event["user"].get("extra", {}).get("authentication.kubernetes.io/credential-id", [])),
        uri=event["requestURI"],
        verb=event["verb"], resource=target.get("resource", ""), subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""), name=target.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0), answered=event["stageTimestamp"],
        body=body if isinstance(body, dict) else {})


class AuditLog:
    """Reads the log as it grows, every line once."""

    def __init__(self, path):
        self._path = path
        self._offset = 0
        self._entries = []

    def entries(self):
        """Returns all answered requests, in the order of the answers."""
        with open(self._path, "rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # still being written
                self._offset += len(line)
                event = json.loads(line)
                if event["stage"] == "ResponseComplete":
                    self._entries.append(_entry(event))
        return list(self._entries)

    def find(self, **fields):
        """Returns the entries with these fields: find(user="karpenter", verb="create", resource="nodes")."""
        return [e for e in self.entries() if all(getattr(e, field) == value for field, value in fields.items())]

    def writes(self, **fields):
        """Returns the successful writes with these fields."""
        return [e for e in self.find(**fields) if e.verb in WRITES and 200 <= e.code < 300]

// An API server of Kubernetes in memory, as far as `capstan run` needs one, and engines that serve pages of metrics. It
// listens on loopback and checks no request: the tests of the page are no tests of the client.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/// An object of the API server. The tests write and read single fields of many kinds.
// biome-ignore lint: the fields differ from kind to kind
export type KubeObject = Record<string, any>;

interface Event {
  version: number;
  collection: string;
  namespace: string;
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: KubeObject;
}

interface Target {
  /// Path of the collection, such as "/apis/apps/v1/deployments".
  collection: string;
  /// Empty: all namespaces, or an object outside of namespaces.
  namespace: string;
  name: string;
  subresource: string;
}

/// The kinds that the server has, by group.
const kKinds: Record<string, string[]> = {
  "": ["Pod", "Node"],
  apps: ["Deployment", "StatefulSet"],
  "capstan.dev": ["InferenceScaler", "FleetPolicy"],
};

/// Returns the parts of a path below /api/v1 or /apis/GROUP/VERSION.
function targetOf(path: string): Target {
  const parts = path.split("/").filter((part) => part !== "");
  const head = parts.splice(0, parts[0] === "api" ? 2 : 3);
  const namespace = parts[0] === "namespaces" && parts.length > 2 ? (parts.splice(0, 2)[1] as string) : "";
  const [resource = "", name = "", subresource = ""] = parts;
  return { collection: `/${[...head, resource].join("/")}`, namespace, name, subresource };
}

/// Returns an object with a merge patch applied to it.
function merged(old: KubeObject, patch: KubeObject): KubeObject {
  const made: KubeObject = { ...old };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete made[key];
    else if (typeof value === "object" && !Array.isArray(value)) made[key] = merged((made[key] as KubeObject | undefined) ?? {}, value as KubeObject);
    else made[key] = value;
  }
  return made;
}

function discovery(): KubeObject {
  const items = Object.entries(kKinds).map(([name, kinds]) => ({
    metadata: { name },
    versions: [
      {
        version: "v1",
        resources: kinds.map((kind) => ({
          resource: `${kind.toLowerCase()}s`,
          responseKind: { kind },
          scope: "Namespaced",
          ...(name === "apps" ? { subresources: [{ subresource: "scale" }] } : {}),
        })),
      },
    ],
  }));
  return { kind: "APIGroupDiscoveryList", items };
}

const status = (code: number, reason: string): KubeObject => ({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: reason });

async function bodyOf(request: IncomingMessage): Promise<KubeObject> {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text === "" ? {} : (JSON.parse(text) as KubeObject);
}

/// Time in which an engine finishes one request.
const kRequestMs = 50;

/// Returns the metrics of an engine that has finished `requests`: nine of ten had their first token within 2 s.
function metricsPage(waiting: number, requests: number): string {
  const buckets = { "0.5": Math.floor(requests / 2), "2.0": Math.floor((9 * requests) / 10), "10.0": requests, "+Inf": requests };
  const lines = Object.entries(buckets).map(([le, value]) => `time_to_first_token_seconds_bucket{le="${le}",model_name="llama"} ${value}`);
  const values = { num_requests_waiting: waiting, num_requests_running: 2, time_to_first_token_seconds_count: requests, time_to_first_token_seconds_sum: requests, generation_tokens_total: 200 * requests, prompt_tokens_total: 500 * requests };
  for (const [name, value] of Object.entries(values)) lines.push(`${name}{model_name="llama"} ${value}`);
  return lines.map((line) => `vllm:${line}\n`).join("");
}

export class ApiServer {
  /// The tokens of people, and whether each may read /ui. Other tokens are unknown.
  readonly people = new Map<string, boolean>();
  /// Waiting requests that each engine reports.
  waiting = 0;
  private readonly objects = new Map<string, Map<string, KubeObject>>();
  private readonly events: Event[] = [];
  private readonly watches = new Set<{ target: Target; response: ServerResponse }>();
  private readonly server: Server;
  /// Serves the metrics of all engines. All pods have the address 127.0.0.1, so they share one port.
  private readonly engines: Server;

  constructor() {
    const started = performance.now();
    this.server = createServer((request, response) => void this.answer(request, response));
    this.engines = createServer((_, response) => {
      response.setHeader("Content-Type", "text/plain; version=0.0.4");
      response.end(metricsPage(this.waiting, Math.floor((performance.now() - started) / kRequestMs)));
    });
  }

  async listen(): Promise<void> {
    for (const server of [this.server, this.engines]) {
      await new Promise<void>((done, failed) => server.on("error", failed).listen(0, "127.0.0.1", done));
    }
  }
  close(): void {
    for (const server of [this.server, this.engines]) {
      server.close();
      server.closeAllConnections();
    }
  }
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
  get enginePort(): number {
    return (this.engines.address() as AddressInfo).port;
  }

  /// Creates an object, or changes the fields that are stated.
  put(collection: string, namespace: string, name: string, fields: KubeObject): KubeObject {
    const all = this.collection(collection);
    const key = `${namespace}/${name}`;
    const old = all.get(key);
    const metadata = { name, ...(namespace === "" ? {} : { namespace }), uid: `uid-${collection}-${key}`, creationTimestamp: new Date().toISOString().replace(/\.\d+/, "") };
    const object = merged(old ?? { metadata }, fields);
    return this.note(collection, old === undefined ? "ADDED" : "MODIFIED", namespace, object);
  }
  get(collection: string, namespace: string, name: string): KubeObject | undefined {
    return this.objects.get(collection)?.get(`${namespace}/${name}`);
  }

  private collection(name: string): Map<string, KubeObject> {
    const known = this.objects.get(name) ?? new Map<string, KubeObject>();
    this.objects.set(name, known);
    return known;
  }

  /// Stores an object and tells the watches.
  private note(collection: string, type: Event["type"], namespace: string, object: KubeObject): KubeObject {
    const version = this.events.length + 1;
    const noted = merged(object, { metadata: { resourceVersion: String(version) } });
    const key = `${namespace}/${String(noted.metadata.name)}`;
    if (type === "DELETED") this.collection(collection).delete(key);
    else this.collection(collection).set(key, noted);
    const event = { version, collection, namespace, type, object: noted };
    this.events.push(event);
    for (const { target, response } of this.watches) this.send(target, event, response);
    return noted;
  }

  private send(target: Target, event: Event, response: ServerResponse): void {
    if (event.collection !== target.collection || (target.namespace !== "" && event.namespace !== target.namespace)) return;
    response.write(`${JSON.stringify({ type: event.type, object: event.object })}\n`);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const reply = (code: number, body: KubeObject) => {
      response.writeHead(code, { "Content-Type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (url.pathname === "/api" || url.pathname === "/apis") return reply(200, discovery());
    const target = targetOf(url.pathname);
    if (request.method === "GET" && url.searchParams.has("watch")) return this.watch(target, url.searchParams, response);
    if (request.method === "GET") return reply(...this.read(target));
    const body = await bodyOf(request);
    return reply(...this.write(request.method ?? "", target, body));
  }

  private read(target: Target): [number, KubeObject] {
    const all = this.collection(target.collection);
    if (target.name !== "") {
      const object = all.get(`${target.namespace}/${target.name}`);
      return object === undefined ? [404, status(404, "NotFound")] : [200, object];
    }
    const items = [...all].filter(([key]) => target.namespace === "" || key.startsWith(`${target.namespace}/`)).map(([, object]) => object);
    return [200, { kind: "List", metadata: { resourceVersion: String(this.events.length) }, items }];
  }

  private watch(target: Target, query: URLSearchParams, response: ServerResponse): void {
    response.writeHead(200, { "Content-Type": "application/json" });
    if (query.get("sendInitialEvents") === "true") {
      for (const object of this.read({ ...target, name: "" })[1].items as KubeObject[]) response.write(`${JSON.stringify({ type: "ADDED", object })}\n`);
      const metadata = { resourceVersion: String(this.events.length), annotations: { "k8s.io/initial-events-end": "true" } };
      response.write(`${JSON.stringify({ type: "BOOKMARK", object: { metadata } })}\n`);
    } else {
      response.flushHeaders();
      for (const event of this.events.slice(Number(query.get("resourceVersion")))) this.send(target, event, response);
    }
    const watch = { target, response };
    this.watches.add(watch);
    response.on("close", () => this.watches.delete(watch));
  }

  private write(method: string, target: Target, body: KubeObject): [number, KubeObject] {
    const { collection, namespace } = target;
    if (collection.endsWith("/tokenreviews")) {
      const isKnown = this.people.has(body.spec.token as string);
      return [201, { status: isKnown ? { authenticated: true, user: { username: body.spec.token } } : { authenticated: false } }];
    }
    if (collection.endsWith("/subjectaccessreviews")) return [201, { status: { allowed: this.people.get(body.spec.user as string) === true } }];
    const name = target.name === "" ? (body.metadata.name as string) : target.name;
    const old = this.get(collection, namespace, name);
    if (method === "POST" && old !== undefined) return [409, status(409, "AlreadyExists")];
    if (method === "DELETE") {
      if (old === undefined) return [404, status(404, "NotFound")];
      return [200, this.note(collection, "DELETED", namespace, old)];
    }
    const version = (body.metadata as KubeObject | undefined)?.resourceVersion as string | undefined;
    if (version !== undefined && version !== old?.metadata.resourceVersion) return [409, status(409, "Conflict")];
    return [old === undefined ? 201 : 200, this.put(collection, namespace, name, body)];
  }
}

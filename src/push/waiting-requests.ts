/** A request that waits for a slot. */
export interface WaitingRequest {
  readonly campaign: string;
  readonly host: string;
  /** Reading of a monotonic clock, ms. */
  readonly since: number;
}

/** Requests in the order of arrival, with their places in the order of all. */
type Queue<Request> = Map<Request, number>;

/**
 * Waiting requests by host and campaign. Requests of one campaign to one host differ only in their order, so the work of
 * choosing one depends on the number of hosts and campaigns, not on that of requests.
 */
export class WaitingRequests<Request extends WaitingRequest> {
  readonly #hosts = new Map<string, Map<string, Queue<Request>>>();
  #size = 0;
  #arrivals = 0;

  get size(): number {
    return this.#size;
  }

  /** Hosts with waiting requests. */
  hosts(): Iterable<string> {
    return this.#hosts.keys();
  }

  isWaitingFor(host: string): boolean {
    return this.#hosts.has(host);
  }

  add(request: Request): void {
    const { host, campaign } = request;
    let campaigns = this.#hosts.get(host);
    if (!campaigns) {
      campaigns = new Map();
      this.#hosts.set(host, campaigns);
    }
    let queue = campaigns.get(campaign);
    if (!queue) {
      queue = new Map();
      campaigns.set(campaign, queue);
    }
    queue.set(request, this.#arrivals++);
    this.#size += 1;
  }

  /** Removes a request. Does nothing if it does not wait. */
  delete(request: Request): void {
    const { host, campaign } = request;
    const campaigns = this.#hosts.get(host);
    const queue = campaigns?.get(campaign);
    if (!campaigns || !queue?.delete(request)) return;
    this.#size -= 1;
    if (queue.size === 0) campaigns.delete(campaign);
    if (campaigns.size === 0) this.#hosts.delete(host);
  }

  /** Removes and returns all requests for a host. */
  takeAll(host: string): Request[] {
    const taken = [...(this.#hosts.get(host)?.values() ?? [])].flatMap((queue) => [...queue.keys()]);
    for (const request of taken) this.delete(request);
    return taken;
  }

  /** Calls `visit` with the requests for a host by campaign. `order` is lower where the oldest of them came first. */
  forEachGroup(host: string, visit: (campaign: string, oldest: Request, order: number) => void): void {
    for (const [campaign, queue] of this.#hosts.get(host) ?? []) {
      const [oldest, order] = queue.entries().next().value as [Request, number];
      visit(campaign, oldest, order);
    }
  }

  /** Since when the oldest request has waited; undefined if none waits. */
  oldestSince(): number | undefined {
    let since: number | undefined;
    for (const host of this.#hosts.keys())
      this.forEachGroup(host, (_, oldest) => {
        since = Math.min(since ?? oldest.since, oldest.since);
      });
    return since;
  }
}

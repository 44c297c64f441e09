import type { Logger } from "../runtime/log/logger.ts";
import type { Descriptors } from "../runtime/process.ts";
import type { WebSocketSession } from "./web-socket.ts";

type Server = Bun.Server<WebSocketSession>;

/** Bounds of the interval at which the number of descriptors is polled. */
const [MIN_POLL_MS, MAX_POLL_MS] = [50, 1_000];
/** More connections than one thread accepts in a millisecond. */
const ACCEPTED_PER_MS = 20;

/** Fraction of the cap below which the listener accepts connections again. It is below 1 so that the state does not flap. */
const RESUME_SHARE = 0.9;

/** Fraction of the cap from which each response closes its connection, so that no client keeps many rarely used ones. */
const CROWDED_SHARE = 0.85;

export interface ListenerOptions {
  /** Opens a server. Port 0 selects a free port. */
  readonly serve: (port: number) => Server;
  readonly port: number;
  /** If omitted, the listener always accepts connections. */
  readonly descriptors: Descriptors | undefined;
  readonly onPause: () => void;
  readonly log: Logger;
}

/**
 * Accepts connections while the process has spare descriptors. At the cap it closes idle connections. If that is not
 * enough it stops listening, so that a new connection is refused at once and does not take the descriptor that a
 * database or an outgoing call needs. Accepted connections continue. Bun closes connections that never send a request
 * after about ten seconds; then the listener accepts again.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #port: number;
  #accepting: Server | undefined;
  /** Servers that no longer accept and still have connections. */
  readonly #draining = new Set<Server>();
  /** Whether most of the descriptors are in use. */
  isCrowded = false;
  /** Whether the last attempt to listen again failed. */
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly url: URL;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { serve, descriptors } = options;
    const server = serve(options.port);
    this.#accepting = server;
    this.#port = server.port ?? options.port;
    this.url = server.url;
    if (descriptors !== undefined) this.#pollIn(MIN_POLL_MS, descriptors);
  }

  get isAccepting(): boolean {
    return this.#accepting !== undefined;
  }

  get port(): number {
    return this.#port;
  }

  get pendingRequests(): number {
    return this.#servers().reduce((sum, { pendingRequests }) => sum + pendingRequests, 0);
  }

  /**
   * Stops accepting. Resolves when accepted requests have finished; with `cutsOff` it closes their connections at
   * once.
   */
  async stop(cutsOff: boolean): Promise<void> {
    clearTimeout(this.#timer);
    const servers = this.#servers();
    if (this.#accepting !== undefined) this.#draining.add(this.#accepting);
    this.#accepting = undefined;
    await Promise.all(servers.map((server) => server.stop(cutsOff)));
  }

  #servers(): Server[] {
    return this.#accepting === undefined ? [...this.#draining] : [this.#accepting, ...this.#draining];
  }

  /** Polls again before clients could use up the remaining descriptors: an idle node with many of them rarely wakes up. */
  #pollIn(delayMs: number, descriptors: Descriptors): void {
    this.#timer = setTimeout(() => {
      this.#poll(descriptors);
      const left = descriptors.cap - descriptors.open();
      this.#pollIn(Math.min(Math.max(left / ACCEPTED_PER_MS, MIN_POLL_MS), MAX_POLL_MS), descriptors);
    }, delayMs);
  }

  #poll(descriptors: Descriptors): void {
    const open = descriptors.open();
    this.isCrowded = open >= descriptors.cap * CROWDED_SHARE;
    if (this.#accepting === undefined) {
      if (open < descriptors.cap * RESUME_SHARE) this.#resume();
      return;
    }
    if (open < descriptors.cap) return;
    for (const server of this.#servers()) server.closeIdleConnections();
    if (descriptors.open() >= descriptors.cap) this.#pause(this.#accepting, open);
  }

  #pause(server: Server, openDescriptors: number): void {
    this.#accepting = undefined;
    this.#draining.add(server);
    const forget = () => this.#draining.delete(server);
    server.stop(false).then(forget, forget);
    this.#options.onPause();
    this.#options.log.warn(
      { openDescriptors },
      "Stopped accepting connections: too few descriptors are left",
    );
  }

  #resume(): void {
    const { serve, log } = this.#options;
    try {
      this.#accepting = serve(this.#port);
    } catch (err) {
      // The next poll tries again.
      if (!this.#hasFailed) log.error({ err }, "Could not listen again");
      this.#hasFailed = true;
      return;
    }
    this.#hasFailed = false;
    log.info({}, "Resumed accepting connections");
  }
}

/** Stops listeners once their requests have finished, but no later than after `graceMs`. */
export async function stopListeners(
  closing: readonly Listener[],
  graceMs: number,
  log: Logger,
): Promise<void> {
  const stopAll = (cutsOff: boolean) => Promise.all(closing.map((one) => one.stop(cutsOff)));
  const deadline = Promise.withResolvers<"late">();
  const timer = setTimeout(() => deadline.resolve("late"), graceMs);
  const outcome = await Promise.race([stopAll(false), deadline.promise]);
  clearTimeout(timer);
  if (outcome === "late") {
    log.warn(
      { graceMs, pendingRequests: closing.reduce((sum, one) => sum + one.pendingRequests, 0) },
      "Closed connections whose requests had not finished",
    );
    await stopAll(true);
  }
}

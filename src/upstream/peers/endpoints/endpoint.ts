import type { Client } from "@grpc/grpc-js";
import { hostOfUrl } from "../../../config/upstream-urls.ts";
import { CallRate } from "../../calls/call-rate.ts";
import { createUpstreamClient, type UpstreamClient } from "../../calls/client.ts";
import { connectUpstream, isConnected } from "../../calls/connection.ts";
import type { Timings } from "../../timings.ts";
import type { NodeAnswer } from "../ask-node.ts";
import { type CallLimits, isPublicHost, type LimitSettings, limitsFor } from "../network-place.ts";

/** The node being followed. */
export interface ActiveEndpoint {
  readonly endpoint: Endpoint;
  /** Aborts when another node is to be followed. */
  readonly leaving: AbortSignal;
}

const ERROR_WINDOW_MS = 60_000;
const MAX_ERRORS = 3;
const REFUSED_MS = 24 * 3_600_000;
const PRUNED_MS = 600_000;
const MAX_REASON_CHARS = 300;

export interface EndpointDeps {
  readonly url: string;
  /** Starts at 1. */
  readonly position: number;
  /** The address of a node that others have announced; undefined for a node from the settings. */
  readonly address?: string | undefined;
  readonly settings: LimitSettings & {
    readonly contact: string;
    /** Hosts from which the whole network may be filled. */
    readonly bulkFrom: readonly string[];
  };
  readonly timings: Timings;
  readonly nowMs: () => number;
}

/** A followed node: its connection, what is known about it, and until when it is not to be followed. */
export class Endpoint {
  readonly url: string;
  readonly position: number;
  readonly connection: Client;
  readonly #deps: EndpointDeps;
  /** The methods to which it has responded. */
  readonly #responded = new Set<string>();
  #rate: CallRate | undefined;
  #limits: CallLimits | undefined;
  #mayFill = false;
  #answer: NodeAnswer | undefined;
  #askedAtMs = 0;
  /** Its last two responses, the newer one first. */
  #arrived: readonly { readonly answer: NodeAnswer; readonly atMs: number }[] = [];
  #reason: string | undefined = "it has not responded yet";
  #isPartial = false;
  #prunedUntilMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #coolUntilMs = 0;
  #refusedUntilMs = Number.NEGATIVE_INFINITY;
  #errorsAtMs: readonly number[] = [];

  constructor(deps: EndpointDeps) {
    this.url = deps.url;
    this.position = deps.position;
    this.#deps = deps;
    this.connection = connectUpstream(deps.url, {
      ...deps.timings,
      contact: deps.settings.contact,
      address: deps.address,
    });
  }

  /** Looks up where the node is, which decides how it may be called. Called before the first call; later calls are cheap. */
  async place(): Promise<CallLimits> {
    if (this.#limits) return this.#limits;
    const { settings, nowMs, timings } = this.#deps;
    const host = hostOfUrl(this.url);
    const isPublic = this.isDiscovered || (await isPublicHost(host));
    const limits = limitsFor(settings, isPublic);
    this.#mayFill = !this.isDiscovered && (!isPublic || settings.bulkFrom.includes(host));
    this.#rate ??= new CallRate(limits.callsPerSec, { nowMs, recoveryMs: timings.rateRecoveryMs });
    this.#limits = limits;
    return limits;
  }

  /** Whether it is not from the settings but announced by another node. */
  get isDiscovered(): boolean {
    return this.#deps.address !== undefined;
  }

  /** Whether an index of the whole network may be filled from it. */
  get mayFill(): boolean {
    return this.#mayFill;
  }

  get isConnected(): boolean {
    return isConnected(this.connection);
  }

  /** Returns a client whose calls end when `signal` aborts, within the limits of `place`. */
  client(
    signal: AbortSignal,
    timings: Pick<Timings, "callTimeoutMs" | "stallMs"> = this.#deps.timings,
  ): UpstreamClient {
    return createUpstreamClient(this.connection, timings, signal, {
      responded: this.#responded,
      ...(this.#rate && { rate: this.#rate }),
    });
  }

  get answer(): NodeAnswer | undefined {
    return this.#answer;
  }

  head(shard: number): number {
    return this.#answer?.heads.get(shard) ?? 0;
  }

  answered(answer: NodeAnswer, askedAtMs: number): void {
    this.#answer = answer;
    this.#askedAtMs = askedAtMs;
    this.#arrived = [{ answer, atMs: this.#deps.nowMs() }, ...this.#arrived].slice(0, 2);
    this.#isPartial = false;
    if (!this.isCooling && !this.isRefused && !this.isPartial) this.#reason = undefined;
  }

  /** When the request for its last response was sent. */
  get askedAtMs(): number {
    return this.#askedAtMs;
  }

  /** Returns its newest block of a shard as known at a time; 0 if both of the last two responses were later. */
  headAt(atMs: number, shard: number): number {
    return this.#arrived.find((one) => one.atMs <= atMs)?.answer.heads.get(shard) ?? 0;
  }

  /** Records that it does not respond. Its earlier responses no longer count. */
  fellSilent(reason: string): void {
    this.#answer = undefined;
    this.failed(reason);
  }

  /** Records that it responded, but lacks something that other nodes have. */
  lacks(reason: string): void {
    this.#isPartial = true;
    this.#reason = reason.slice(0, MAX_REASON_CHARS);
  }

  /** Records that a call or a stream failed. If it was refused, that stays the reason until it counts again. */
  failed(reason: string): void {
    const nowMs = this.#deps.nowMs();
    if (!this.isRefused) this.#reason = reason.slice(0, MAX_REASON_CHARS);
    this.#errorsAtMs = [...this.#errorsAtMs, nowMs].slice(-MAX_ERRORS);
  }

  /** Whether it has failed so often recently that another node should be followed. */
  get failsOften(): boolean {
    const sinceMs = this.#deps.nowMs() - ERROR_WINDOW_MS;
    return this.#errorsAtMs.filter((atMs) => atMs > sinceMs).length >= MAX_ERRORS;
  }

  /**
   * Excludes it from being followed for a while: twice as long after each failure, and randomized, so that nodes do not all
   * return together.
   */
  cool(): void {
    const { coolMs, maxCoolMs } = this.#deps.timings;
    const ms = Math.min(maxCoolMs, coolMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    this.#coolUntilMs = this.#deps.nowMs() + Math.max(1, Math.random() * ms);
    this.#errorsAtMs = [];
  }

  /** Records that it sent a block that is not the network's. */
  refuse(reason: string): void {
    this.#refusedUntilMs = this.#deps.nowMs() + REFUSED_MS;
    this.#reason = reason.slice(0, MAX_REASON_CHARS);
  }

  /** Ends the refusal, because no other node is left. */
  forgive(): void {
    this.#refusedUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Records that it sent a block that was accepted. */
  delivered(): void {
    this.#failures = 0;
    this.#refusedUntilMs = Number.NEGATIVE_INFINITY;
    if (!this.isPartial) this.#reason = undefined;
  }

  get isRefused(): boolean {
    return this.#deps.nowMs() < this.#refusedUntilMs;
  }

  get isCooling(): boolean {
    return this.#deps.nowMs() < this.#coolUntilMs;
  }

  get coolUntilMs(): number {
    return this.#coolUntilMs;
  }

  /**
   * Records that it no longer has blocks that are needed. It is asked for them again after a while, because no other node
   * may have them.
   */
  lacksBlocks(reason: string): void {
    this.#prunedUntilMs = this.#deps.nowMs() + PRUNED_MS;
    this.#reason = reason.slice(0, MAX_REASON_CHARS);
  }

  get isPartial(): boolean {
    return this.#isPartial || this.#deps.nowMs() < this.#prunedUntilMs;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  close(): void {
    this.connection.close();
  }
}

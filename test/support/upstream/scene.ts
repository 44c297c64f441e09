import { seededRandom } from "../../../src/demo/random.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import { Message } from "../../../src/protocol/wire/generated/message.ts";
import { DEFAULT_NOW_SECS, makeSigner, signMessage, type TestData, type TestSigner } from "../messages.ts";
import { Chain } from "./chain.ts";
import type { CallFault, DeliveryFault, Faults } from "./faults.ts";
import { FollowedIndex } from "./followed-index.ts";
import { UpstreamNode } from "./node.ts";
import { type Action, Draft } from "./script.ts";
import { UpstreamServer } from "./server.ts";

/** A network whose actions a test chooses, and a node that follows it. */
export class Scene implements AsyncDisposable {
  readonly chain = new Chain();
  readonly node = new UpstreamNode(this.chain);
  /** Calls of each method. */
  readonly calls = new Map<string, number>();
  /** The fids whose casts were requested. */
  readonly fidsRead = new Set<number>();
  /** Returns the fault of a call, if any. Tests replace it. */
  readonly faults: {
    call?: (method: string) => CallFault | undefined;
    delivery?: () => DeliveryFault | undefined;
  } = {};
  readonly #draft = new Draft(seededRandom("scene"));
  readonly server: UpstreamServer;
  #index: FollowedIndex | undefined;

  /** Creates a network that is `age` seconds old. */
  constructor({ age = 70 }: { age?: number } = {}) {
    const faults: Faults = {
      onCall: (method, request) => {
        this.calls.set(method, this.callsOf(method) + 1);
        if (method === "GetAllCastMessagesByFid") this.fidsRead.add((request as { fid: number }).fid);
        return this.faults.call?.(method);
      },
      onDelivery: () => this.faults.delivery?.(),
    };
    this.server = new UpstreamServer(this.node, { faults, onCall: () => this.#index?.wake() });
    this.passes(age);
  }

  /** The index of the follower, after `follow`. */
  get index(): FollowedIndex {
    if (!this.#index) throw new Error("the follower has not started");
    return this.#index;
  }

  callsOf(method: string): number {
    return this.calls.get(method) ?? 0;
  }

  /** Adds fids with a key, one unit of storage and an fname. */
  join(...fids: number[]): void {
    for (const fid of fids) this.happens(...this.#draft.join(fid, 1));
  }

  /** Plays one second with the actions. */
  happens(...actions: Action[]): void {
    this.#draft.nowSecs += 1;
    this.chain.add({ at: this.#draft.nowSecs, actions });
    this.node.produce(this.chain.ticks.length);
  }

  /** Plays seconds without actions. */
  passes(secs: number): void {
    for (let sec = 0; sec < secs; sec++) this.happens();
  }

  /** Plays seconds until the follower receives all events by the streams. */
  async settle(): Promise<void> {
    for (let sec = 0; sec < 3; sec++) {
      this.passes(1);
      await this.index.caughtUp();
    }
  }

  /** Starts a follower with an empty index and waits until that is complete. The one before has been stopped. */
  async follow(fids?: ReadonlySet<number>): Promise<void> {
    if (!this.#index) await this.server.start();
    this.#index = new FollowedIndex({
      node: this.node,
      url: this.server.url,
      nowSecs: DEFAULT_NOW_SECS + 86_400,
      fids,
      stallMs: 3000,
    });
    this.index.start();
    await this.index.caughtUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#index?.stop();
    this.server.stop();
    this.#index?.db[Symbol.dispose]();
  }
}

/** A message of an fid that joined, signed by its first key, `ago` seconds before the start of the scene. */
export function said(fid: number, data: TestData, options: { ago?: number; key?: TestSigner } = {}): Action {
  const timestamp = toFarcasterSecs(DEFAULT_NOW_SECS) - (options.ago ?? 0);
  const key = options.key ?? makeSigner(`account ${fid}`);
  return { fid, record: { kind: "message", bytes: signMessage({ fid, timestamp, ...data }, key) } };
}

/** Returns the hash of the message of an action. */
export function hashOfAction({ record }: Action): Uint8Array {
  return Message.decode(record.bytes).hash;
}

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

/** A network that a test plays by hand, with a node that follows it. */
export class Scene implements AsyncDisposable {
  readonly chain = new Chain();
  readonly node = new UpstreamNode(this.chain);
  /** Calls of each method. */
  readonly calls = new Map<string, number>();
  /** The fids whose casts were asked for. */
  readonly fidsRead = new Set<number>();
  /** What goes wrong, while a test says so. */
  readonly faults: {
    call?: (method: string) => CallFault | undefined;
    delivery?: () => DeliveryFault | undefined;
  } = {};
  readonly #draft = new Draft(seededRandom("scene"));
  readonly server: UpstreamServer;
  #index: FollowedIndex | undefined;

  /** A network that has gone on for `age` seconds. */
  constructor({ age = 70 }: { age?: number } = {}) {
    const faults: Faults = {
      onCall: (method, request) => {
        this.calls.set(method, this.asked(method) + 1);
        if (method === "GetAllCastMessagesByFid") this.fidsRead.add((request as { fid: number }).fid);
        return this.faults.call?.(method);
      },
      onDelivery: () => this.faults.delivery?.(),
    };
    this.server = new UpstreamServer(this.node, { faults, onCall: () => this.#index?.wake() });
    this.passes(age);
  }

  /** The index that follows; there is one from `follow` on. */
  get index(): FollowedIndex {
    if (!this.#index) throw new Error("nobody follows yet");
    return this.#index;
  }

  asked(method: string): number {
    return this.calls.get(method) ?? 0;
  }

  /** Fids with a key, one unit of storage and an fname. */
  join(...fids: number[]): void {
    for (const fid of fids) this.happens(...this.#draft.join(fid, 1));
  }

  /** One second in which the actions happen. */
  happens(...actions: Action[]): void {
    this.#draft.nowSecs += 1;
    this.chain.add({ at: this.#draft.nowSecs, actions });
    this.node.produce(this.chain.ticks.length);
  }

  /** So many seconds in which nothing happens. */
  passes(secs: number): void {
    for (let sec = 0; sec < secs; sec++) this.happens();
  }

  /** Goes on until the follower hears what happens from the streams alone. */
  async settle(): Promise<void> {
    for (let sec = 0; sec < 3; sec++) {
      this.passes(1);
      await this.index.caughtUp();
    }
  }

  /** Begins to follow and waits until the index has everything. */
  async follow(fids?: ReadonlySet<number>): Promise<void> {
    await this.server.start();
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

/** A message of an fid that joined, signed by its first key, `ago` seconds before the beginning of the scene. */
export function said(fid: number, data: TestData, options: { ago?: number; key?: TestSigner } = {}): Action {
  const timestamp = toFarcasterSecs(DEFAULT_NOW_SECS) - (options.ago ?? 0);
  const key = options.key ?? makeSigner(`account ${fid}`);
  return { fid, record: { kind: "message", bytes: signMessage({ fid, timestamp, ...data }, key) } };
}

/** The hash of a message that an action sends. */
export function hashOfAction({ record }: Action): Uint8Array {
  return Message.decode(record.bytes).hash;
}

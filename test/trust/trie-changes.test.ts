import { describe, expect, test } from "bun:test";
import { blockOfEvent } from "../../src/protocol/hub-event-id.ts";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { SignedChunk } from "../../src/protocol/wire/generated/certificate.ts";
import { type LinkBody, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { FollowedEvent } from "../../src/protocol/wire/generated/upstream.ts";
import {
  changesOfEvent,
  changesOfKeys,
  type StateBefore,
  type TrieChange,
} from "../../src/trust/trie-changes.ts";
import { fidOfKey, type KeyedMessage } from "../../src/trust/trie-key.ts";
import { ShardKeys } from "../support/trie.ts";
import { vectorList } from "../support/vectors.ts";

const SHARDS = 2;

interface Link extends KeyedMessage {
  readonly body: LinkBody;
  readonly timestamp: number;
  readonly height: number;
}

/** The state that the reference node has by its events: its keys, and what compaction and gasless keys depend on. */
class Replay {
  readonly keys = new ShardKeys();
  readonly #links = new Map<string, Link>();
  readonly #keyAdds = new Map<string, Uint8Array>();
  readonly #sparesOwnBlock: boolean;
  #height = 0;

  constructor(sparesOwnBlock: boolean) {
    this.#sparesOwnBlock = sparesOwnBlock;
  }

  apply(height: number, events: readonly FollowedEvent[], chunk: SignedChunk, shard: number): void {
    this.#height = height;
    for (const event of events) {
      this.#rememberLink(event);
      for (const change of changesOfEvent(event, this.#before)) this.#change(change);
    }
    for (const change of changesOfKeys(chunk.transactions, { shard, shards: SHARDS }, this.#before))
      this.#change(change);
    this.#rememberKeys(chunk);
  }

  readonly #before: StateBefore = {
    compactedLinks: (fid, { type, targetFids }, timestamp) =>
      [...this.#links.values()].filter(
        (link) =>
          link.fid === fid &&
          link.body.type === type &&
          link.timestamp <= timestamp &&
          (!this.#sparesOwnBlock || link.height < this.#height) &&
          (link.type === MessageType.MESSAGE_TYPE_LINK_REMOVE ||
            !targetFids.includes(link.body.target?.value ?? 0)),
      ),
    keyAddOf: (fid, key) => this.#keyAdds.get(`${fid} ${key.toHex()}`),
  };

  #change({ kind, key }: TrieChange): void {
    if (kind === "insert") this.keys.add(key);
    else this.keys.delete(key);
  }

  #rememberLink({ body }: FollowedEvent): void {
    if (body?.$case !== "merge") return;
    const message = decodeMessage(body.value.message);
    if (!message.ok || message.value.data.body?.$case !== "linkBody") return;
    const { data, hash } = message.value;
    const { fid, type, timestamp } = data;
    const link = { fid, type, hash, timestamp, body: message.value.data.body.value, height: this.#height };
    this.#links.set(hash.toHex(), link);
  }

  #rememberKeys({ transactions }: SignedChunk): void {
    for (const { systemMessages } of transactions)
      for (const { blockEvent } of systemMessages) {
        const body = blockEvent?.data?.body;
        const message = body?.$case === "merged" ? decodeMessage(body.value.message) : undefined;
        if (!message?.ok || message.value.data.body?.$case !== "keyAddBody") continue;
        const { fid } = message.value.data;
        this.#keyAdds.set(`${fid} ${message.value.data.body.value.key.toHex()}`, message.value.hash);
      }
  }
}

interface Outcome {
  readonly roots: number;
  readonly differing: readonly { readonly height: number; readonly accounts: readonly number[] }[];
}

/** Replays a recorded shard and compares the root after each block with the one that the validators signed. */
function replay(folder: string, shard: number, sparesOwnBlock = true): Outcome {
  const events = Map.groupBy(
    vectorList(`${folder}hub-events-shard-${shard}.bin`).map((bytes) => FollowedEvent.decode(bytes)),
    ({ id }) => blockOfEvent(id),
  );
  const state = new Replay(sparesOwnBlock);
  const differing: { height: number; accounts: number[] }[] = [];
  let roots = 0;
  let computed = state.keys.root();
  for (const bytes of vectorList(`${folder}chain-shard-${shard}.bin`)) {
    const chunk = SignedChunk.decode(bytes);
    const height = chunk.header?.height?.blockNumber ?? 0;
    const ofBlock = events.get(height) ?? [];
    state.apply(height, ofBlock, chunk, shard);
    if (ofBlock.length > 0 || chunk.transactions.length > 0) computed = state.keys.root();
    roots += 1;
    if (chunk.header?.shardRoot.toHex() === computed.root.toHex()) continue;
    const accounts = chunk.transactions
      .filter(({ fid, accountRoot }) => computed.accounts.get(fid)?.root.toHex() !== accountRoot.toHex())
      .map(({ fid }) => fid);
    differing.push({ height, accounts: [...new Set(accounts)] });
  }
  return { roots, differing };
}

describe("the root after each block of a recorded network is the one that its validators signed", () => {
  for (const [name, folder] of [
    ["one validator", ""],
    ["four validators", "four-validators/"],
  ] as const)
    for (const shard of [1, 2])
      test(`shard ${shard} of ${name}`, () => {
        const { roots, differing } = replay(folder, shard);
        expect(differing).toEqual([]);
        expect(roots).toBe(folder === "" ? 1950 : 100);
      });
});

test("links that are deleted by the compact state of their own block change the root, and their account is named", () => {
  expect(replay("", 1, false).differing[0]).toEqual({ height: 1345, accounts: [5000] });
});

test("a name that is proved again for its fid leaves the trie, because its deletion follows its insertion", () => {
  const proofs = vectorList("hub-events-shard-1.bin")
    .map((bytes) => FollowedEvent.decode(bytes))
    .filter(({ body }) => body?.$case === "proofs" && body.value.deletedProof !== undefined);
  const before: StateBefore = { compactedLinks: () => [], keyAddOf: () => undefined };
  const last = proofs.map((event) => {
    const keys = new Map<string, TrieChange["kind"]>();
    for (const { kind, key } of changesOfEvent(event, before))
      keys.set(`${fidOfKey(key)} ${Buffer.from(key.subarray(6)).toString().replaceAll("\0", "")}`, kind);
    return Object.fromEntries(keys);
  });
  expect(last).toContainEqual({ "5000 twice5000": "delete" });
});

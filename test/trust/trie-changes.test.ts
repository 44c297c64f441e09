import { describe, expect, test } from "bun:test";
import { blockOfEvent } from "../../src/protocol/hub-event-id.ts";
import { SignedChunk } from "../../src/protocol/wire/generated/certificate.ts";
import { FollowedEvent } from "../../src/protocol/wire/generated/upstream.ts";
import { changesOfEvent, type StateBefore, type TrieChange } from "../../src/trust/trie-changes.ts";
import { fidOfKey } from "../../src/trust/trie-key.ts";
import { ShardKeys } from "../support/trie.ts";
import { RecordedState } from "../support/upstream/recorded-state.ts";
import { vectorList } from "../support/vectors.ts";

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
  const state = new RecordedState(shard, sparesOwnBlock);
  const keys = new ShardKeys();
  state.onChange = ({ kind, key }) => (kind === "insert" ? keys.add(key) : keys.delete(key));
  const differing: { height: number; accounts: number[] }[] = [];
  let roots = 0;
  let computed = keys.root();
  for (const bytes of vectorList(`${folder}chain-shard-${shard}.bin`)) {
    const chunk = SignedChunk.decode(bytes);
    const height = chunk.header?.height?.blockNumber ?? 0;
    const ofBlock = events.get(height) ?? [];
    state.apply(height, ofBlock, chunk);
    if (ofBlock.length > 0 || chunk.transactions.length > 0) computed = keys.root();
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

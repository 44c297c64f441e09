import { expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { blockHash } from "../../src/protocol/message/message-hash.ts";
import {
  type Commits,
  SignedChunk,
  SignedShardHeader,
  Vote,
} from "../../src/protocol/wire/generated/certificate.ts";
import { ValidatorSets } from "../../src/trust/validator-sets.ts";
import { verifyChunk } from "../../src/trust/verify-block.ts";
import { tempDir } from "../support/program.ts";
import {
  chain,
  followNodes,
  LAST_BLOCK,
  SHARDS,
  withBlock,
  withChunk,
  withChunks,
} from "../support/upstream/recorded-nodes.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const signer = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
const sets = [{ effective_at: 0, shard_ids: SHARDS, public_keys: [signer.toHex()] }];

/** Signs a block by the only validator. */
function resign({ commits }: { readonly commits?: Commits | undefined }): void {
  if (!commits) return;
  const { height, round, value } = commits;
  const vote = Vote.encode({ type: 1, height, round, value, voter: signer }).finish();
  commits.signatures = [{ signer, signature: sign(null, vote, privateKey) }];
}

/** The recorded network, signed by a validator whose key the test has. */
const network = withBlock(undefined, resign, withChunks(chain, resign));
/** The same, with another block of shard 1 at the end, which that validator signed, too. */
const forked = withChunk(
  1,
  LAST_BLOCK,
  (chunk) => {
    if (!chunk.header || !chunk.commits?.value) return;
    chunk.header.shardRoot = new Uint8Array(20).fill(7);
    chunk.hash = blockHash(SignedShardHeader.encode(chunk.header).finish());
    chunk.commits.value.hash = chunk.hash;
    resign(chunk);
  },
  network,
);

test("two valid certificates for one height stop the shard, also across a restart, until both files are moved away", async () => {
  using dir = tempDir();
  const forksDir = join(dir.path, "forks");
  const options = { nodes: 2, lastBlock: 60, sets, recording: network, forksDir };
  await using followed = await followNodes(options);
  await followed.allApplied(60);
  await followed.until(() => followed.active() !== undefined);
  const other = followed.nodes.find((node) => node !== followed.active());
  if (!other) throw new Error("both nodes are followed");
  other.recording = forked;
  for (const shard of SHARDS) other.heads.set(shard, LAST_BLOCK);
  await followed.until(() => followed.upstreams().some(({ lagBlocks }) => lagBlocks === 40));
  for (const { heads } of followed.nodes) for (const shard of SHARDS) heads.set(shard, LAST_BLOCK);
  await followed.until(() => followed.trust()?.forks.length === 1);
  await followed.until(() => followed.applied(0) === LAST_BLOCK && followed.applied(2) === LAST_BLOCK);
  expect(followed.trust()?.forks).toEqual([{ shard: 1, height: LAST_BLOCK }]);
  expect(followed.applied(1)).toBeLessThan(LAST_BLOCK);

  const names = readdirSync(forksDir);
  const kept = names.map((name) => SignedChunk.decode(readFileSync(join(forksDir, name))));
  expect(kept).toHaveLength(2);
  for (const chunk of kept) expect(verifyChunk(new ValidatorSets(sets), 1, chunk, undefined).ok).toBe(true);
  expect(kept[0]?.hash.toHex()).not.toBe(kept[1]?.hash.toHex());

  await followed.stop();
  other.recording = network;
  followed.start();
  await followed.until(() => followed.trust()?.forks.length === 1 && followed.active() !== undefined);
  expect(followed.applied(1)).toBeLessThan(LAST_BLOCK);
  for (const name of names) rmSync(join(forksDir, name));
  await followed.allApplied();
  expect(followed.trust()?.forks).toEqual([]);
});

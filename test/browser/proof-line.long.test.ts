import { afterAll, expect } from "bun:test";
import { join } from "node:path";
import { indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { putShardProof, shardProof } from "../../src/db/index/trie/shard-proofs.ts";
import { blockHash } from "../../src/protocol/message/message-hash.ts";
import { type SignedChunk, SignedShardHeader } from "../../src/protocol/wire/generated/certificate.ts";
import { FarcasterNetwork, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { fidOfKey, kindOfKey, MESSAGE_KIND_UNIT } from "../../src/trust/trie-key.ts";
import type { ValidatorSet } from "../../src/trust/validator-sets.ts";
import { IS_LONG } from "../support/long.ts";
import { makeSigner } from "../support/messages.ts";
import { type RunningNode, tempDir } from "../support/program.ts";
import { withEvents } from "../support/upstream/changed-events.ts";
import { isProvenFrom, startCompiledFollower, untilStatus } from "../support/upstream/compiled-follower.ts";
import { RECORDED_NETWORKS, serveNetwork } from "../support/upstream/follow-recorded.ts";
import { type Recording, serveRecording } from "../support/upstream/recorded.ts";
import { withChunk } from "../support/upstream/recorded-nodes.ts";
import { chainValidators, commitsOf, signedChain } from "../support/upstream/signed-chain.ts";
import { consoleTest } from "./support/console-test.ts";

const BLOCKS = 12;
const SHARD = 1;
const WITHHELD_AT = 8;
const PATIENCE_MS = 60_000;
const SHOTS = process.env.PROOF_LINE_SHOTS;
const plan = {
  fids: Array.from({ length: 8 }, (_, at) => 5001 + at),
  castsOf: () => 2,
  blocks: BLOCKS,
  startsAt: Math.floor(Date.now() / 1000) - BLOCKS,
};
const honest = signedChain(plan);
const ofTestnet = IS_LONG
  ? signedChain({ ...plan, network: FarcasterNetwork.FARCASTER_NETWORK_TESTNET })
  : honest;
/** A later set, of which this chain's are only a part. */
const changedValidators: ValidatorSet = {
  ...chainValidators,
  effective_at: WITHHELD_AT,
  public_keys: [...chainValidators.public_keys.slice(0, 4), makeSigner("another").publicKey.toHex()],
};
const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

/** The chain without the last cast of a block, whose events are announced as if it never was. */
const withholding = (chain: Recording) =>
  withEvents(chain, SHARD, WITHHELD_AT, (events) => events.slice(0, -1));

const isReaction = (type: number) => type === MessageType.MESSAGE_TYPE_REACTION_ADD;
/** A node without the reaction of 5008, in the block that merges it and in the account. */
const withoutReaction = (chain: Recording) =>
  withEvents(chain, 2, 73, (events) =>
    events.filter(({ body }) => body?.$case !== "mergeMessageBody" || body.value.message?.data?.fid !== 5008),
  );

/** The chain with another newest block, which the validators signed as well. */
const forked = withChunk(
  SHARD,
  BLOCKS,
  (chunk: SignedChunk) => {
    if (!chunk.header) return;
    chunk.header.shardRoot = new Uint8Array(20).fill(7);
    chunk.hash = blockHash(SignedShardHeader.encode(chunk.header).finish());
    chunk.commits = commitsOf(SHARD, BLOCKS, chunk.hash);
  },
  honest,
);

/** What a node follows. */
interface Scene {
  readonly chains: readonly Recording[];
  readonly network?: string;
  readonly sets?: readonly ValidatorSet[];
}

/** Starts a node with the data directory `name`. It goes with the stack, as the nodes that it follows do. */
async function follow(
  stack: AsyncDisposableStack,
  name: string,
  { chains, network, sets = [chainValidators] }: Scene,
): Promise<RunningNode> {
  const heads = new Map([0, 1, 2].map((shard) => [shard, BLOCKS]));
  const listing = { count: 0 };
  const urls: string[] = [];
  for (const chain of chains) urls.push(stack.use(await serveRecording(() => chain, heads, { listing })).url);
  return stack.use(
    await startCompiledFollower(join(dir.path, name), { urls, sets, ...(network && { network }) }),
  );
}

/** Tests that the page shows a sentence about the proof, and what is wrong as such. */
function lineTest(
  title: string,
  sentence: RegExp,
  isWrong: boolean,
  node: (stack: AsyncDisposableStack) => Promise<RunningNode>,
): void {
  consoleTest(
    title,
    async (open) => {
      await using stack = new AsyncDisposableStack();
      const { url } = await node(stack);
      const { page, goto } = await open({ origin: url });
      await goto("/console/status");
      const line = page.locator("p", { hasText: sentence });
      await line.waitFor({ timeout: PATIENCE_MS });
      expect(await line.locator(".pill", { hasText: "not proven" }).count()).toBe(Number(isWrong));
      expect(await line.getAttribute("role")).toBe(isWrong ? "status" : null);
      await page.getByText("/ready?for=proof is 200 only while the state is proven").waitFor();
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/${title.replaceAll(/\W+/g, "-")}.png` });
    },
    2 * PATIENCE_MS,
  );
}

lineTest(
  "reports in red a state that differs from the signed one, with the block and what to do",
  /Shard 1 has differed from the state its validators signed since height \d+\. Accounts that differ are read again/,
  true,
  (stack) => follow(stack, "differs", { chains: [withholding(honest)] }),
);

lineTest(
  "reports in red validators that this release does not know",
  /Shard \d is signed by validators that this release does not know\. Update svc/,
  true,
  (stack) => follow(stack, "unknown", { chains: [honest], sets: [chainValidators, changedValidators] }),
);

if (IS_LONG) {
  lineTest(
    "reports a proven state with its height and who signed it, and not in red",
    /Proven at height 12 of shard [12], .+ ago, against 5 of 7 validators\./,
    false,
    (stack) => follow(stack, "proven", { chains: [honest] }),
  );

  lineTest(
    "a difference on a network whose state no release has proven is not in red",
    /Its state is unproven: no release has proven a whole state of this network/,
    false,
    (stack) => follow(stack, "unproven", { chains: [withholding(ofTestnet)], network: "testnet" }),
  );

  lineTest(
    "reports in red two blocks that validators signed for one height",
    /Validators signed two blocks for height 12 of shard 1, which has stopped\. Ask the operators/,
    true,
    (stack) => follow(stack, "fork", { chains: [honest, forked] }),
  );

  lineTest(
    "reports in red a proof that is hours old",
    /No block of shard [12] has been proven for 3 h.*\. The section/,
    true,
    async (stack) => {
      const first = await follow(stack, "stale", { chains: [honest] });
      await untilStatus(first, isProvenFrom(BLOCKS));
      await first.stop();
      using db = openIndexWriter(indexPath(join(dir.path, "stale")));
      for (const shard of [1, 2])
        putShardProof(db, shard, { ...shardProof(db, shard), provenAt: Date.now() / 1000 - 3 * 3600 });
      return follow(stack, "stale", { chains: [honest] });
    },
  );

  lineTest(
    "counts in red the accounts that no node could repair",
    /Accounts that differ from the state that validators signed, and that no node could repair: 1\./,
    true,
    async (stack) => {
      const served = stack.use(
        await serveNetwork("oneValidator", {
          last: 120,
          snapshots: { 1: 60, 2: 60 },
          change: withoutReaction,
        }),
      );
      if (served.accounts)
        served.accounts.change = (entries) =>
          entries.filter(
            ({ key }) => fidOfKey(key) !== 5008 || !isReaction(kindOfKey(key) / MESSAGE_KIND_UNIT),
          );
      const sets = RECORDED_NETWORKS.oneValidator.sets();
      const urls = [served.upstream.url];
      return stack.use(await startCompiledFollower(join(dir.path, "quarantined"), { urls, sets }));
    },
  );
}

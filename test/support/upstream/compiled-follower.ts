import { writeFileSync } from "node:fs";
import type { ValidatorSet } from "../../../src/trust/validator-sets.ts";
import { compiledProgram } from "../compiled-program.ts";
import { type RunningNode, startNode } from "../program.ts";

export interface FollowerOptions {
  readonly urls: readonly string[];
  readonly sets: readonly ValidatorSet[];
  /** Default: devnet. */
  readonly network?: string;
}

/** Starts the compiled program, which follows nodes and keeps all roots. */
export function startCompiledFollower(
  dataDir: string,
  { urls, sets, network = "devnet" }: FollowerOptions,
): Promise<RunningNode> {
  const file = `${dataDir}.validators.json`;
  writeFileSync(file, JSON.stringify({ sets }));
  const settings = [
    `protocol.network=${network}`,
    `upstream.urls=${JSON.stringify(urls)}`,
    `trust.validators_file=${file}`,
    "trust.roots=full",
  ];
  return startNode({
    command: compiledProgram,
    dataDir,
    args: settings.flatMap((one) => ["--set", one]),
  });
}

/** What `/status` says of a followed network. */
export interface FollowedStatus {
  readonly index: { readonly rows: { readonly messages: number } };
  readonly upstream: { readonly shards: readonly { readonly applied_block: number }[] };
  readonly trust: {
    readonly refused: Readonly<Record<string, number>>;
    readonly mismatches: number;
    readonly healed: number;
    readonly shards: readonly {
      readonly shard: number;
      readonly state?: string;
      readonly proven_height?: number | null;
    }[];
  };
}

/** Asks a node for its status until `isReached`. It has a minute. */
export async function untilStatus(
  { url }: RunningNode,
  isReached: (status: FollowedStatus) => boolean,
): Promise<FollowedStatus> {
  const until = performance.now() + 60_000;
  let status: FollowedStatus | undefined;
  while (!status?.trust || !isReached(status)) {
    if (performance.now() > until) throw new Error(`the status stays ${JSON.stringify(status?.trust)}`);
    await Bun.sleep(100);
    const response = await fetch(`${url}/status`);
    if (response.ok) status = (await response.json()) as FollowedStatus;
  }
  return status;
}

/** Whether the state of both data shards is proven at a block from `height` on. */
export function isProvenFrom(height: number): (status: FollowedStatus) => boolean {
  return ({ trust }) =>
    trust.shards
      .filter(({ shard }) => shard > 0)
      .every(({ state, proven_height: proven }) => state === "proven" && (proven ?? 0) >= height);
}

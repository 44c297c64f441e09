import type { Fork } from "./forks.ts";

/** Why a shard is not followed while its validators are not known, for people. */
export function unknownValidators(shard: number): string {
  return `shard ${shard} is signed by validators that this release does not know; update svc, or set trust.validators_file`;
}

/** Why a shard is not followed after two blocks for one height, for people. */
export function forkedAt({ shard, height }: Fork): string {
  return `validators signed two blocks ${height} of shard ${shard}; nothing of it is applied until both certificates are moved out of forks/ in the data directory`;
}

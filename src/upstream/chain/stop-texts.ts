import type { Fork } from "./forks.ts";

/** Returns, for operators, why a shard is not followed while its validators are not known. */
export function unknownValidators(shard: number): string {
  return `shard ${shard} is signed by validators that this release does not know; update svc, or set trust.validators_file`;
}

/** Returns, for operators, why a shard is not followed after two blocks were signed for one height. */
export function forkedAt({ shard, height }: Fork): string {
  return `validators signed two blocks ${height} of shard ${shard}; nothing of it is applied until both certificates are moved out of forks/ in the data directory`;
}

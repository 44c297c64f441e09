import { FarcasterNetwork } from "../wire/generated/message.ts";

/** A version of the rules that the validators apply, with the time when it takes effect. */
interface EngineVersion {
  readonly version: number;
  /** Unix seconds by network; absent for a network without a date. */
  readonly activeAt: Readonly<Partial<Record<FarcasterNetwork, number>>>;
}

/** The version that moves channels into the protocol. */
export const CHANNELS_VERSION = 21;

/**
 * The versions whose rules this program distinguishes. Source: `version.rs` of snapchain 0.14.2 (8f82bcc6). There, version
 * 21 has no date on mainnet and testnet, because their registrar contract is not known yet; `protocol.engine_versions` adds
 * dates.
 */
const ENGINE_VERSIONS: readonly EngineVersion[] = [
  {
    version: 20,
    // 2026-08-13T17:00:00Z
    activeAt: { [FarcasterNetwork.FARCASTER_NETWORK_MAINNET]: 1_786_640_400 },
  },
  { version: CHANNELS_VERSION, activeAt: { [FarcasterNetwork.FARCASTER_NETWORK_DEVNET]: 0 } },
];

/** The times at which each version takes effect on one network. */
export type EngineSchedule = ReturnType<typeof engineSchedule>;

/** @param dated entries of `protocol.engine_versions`, such as "21=1790000000". They replace the dates of the table. */
export function engineSchedule(network: FarcasterNetwork, dated: readonly string[] = []) {
  const times = new Map<number, number>();
  for (const { version, activeAt } of ENGINE_VERSIONS) {
    const at = activeAt[network];
    if (at !== undefined) times.set(version, at);
  }
  for (const entry of dated) {
    const [version = 0, at = 0] = entry.split("=").map(Number);
    times.set(version, at);
  }
  return {
    /** Returns when a version takes effect, in Unix seconds; undefined while it has no date. */
    activeAt: (version: number): number | undefined => times.get(version),
    /** Reports whether a version takes effect at a time announced by another node. */
    knows: (unixSecs: number): boolean => [...times.values()].includes(unixSecs),
  };
}

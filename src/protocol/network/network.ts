import type { Config } from "../../config/schema.ts";
import { FarcasterNetwork } from "../wire/generated/message.ts";

const NETWORKS: Record<Config["protocol"]["network"], FarcasterNetwork> = {
  mainnet: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
  testnet: FarcasterNetwork.FARCASTER_NETWORK_TESTNET,
  devnet: FarcasterNetwork.FARCASTER_NETWORK_DEVNET,
};

/** Returns the wire number of a network from the settings. */
export function networkOf(name: Config["protocol"]["network"]): FarcasterNetwork {
  return NETWORKS[name];
}

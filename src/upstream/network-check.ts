import { decodeMessage } from "../protocol/signed-message.ts";
import { FarcasterNetwork, type MessageData } from "../protocol/wire/generated/message.ts";
import { PeerError } from "./peer.ts";

const NETWORK_NAMES: ReadonlyMap<number, string> = new Map([
  [FarcasterNetwork.FARCASTER_NETWORK_MAINNET, "mainnet"],
  [FarcasterNetwork.FARCASTER_NETWORK_TESTNET, "testnet"],
  [FarcasterNetwork.FARCASTER_NETWORK_DEVNET, "devnet"],
]);

/**
 * Returns the data of a message of the followed node, whose signature is not checked; undefined for one that cannot be read.
 *
 * @throws PeerError for a message of another network. Nothing else that a node reports names its network.
 */
export function dataOnNetwork(bytes: Uint8Array, network: FarcasterNetwork): MessageData | undefined {
  const message = decodeMessage(bytes);
  if (!message.ok) return undefined;
  const { data } = message.value;
  if (data.network === network) return data;
  const [theirs, ours] = [data.network, network].map((one) => NETWORK_NAMES.get(one) ?? `network ${one}`);
  throw new PeerError(`its messages are of ${theirs}, and protocol.network is ${ours}`);
}

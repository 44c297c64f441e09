import { FarcasterNetwork } from "../wire/generated/message.ts";
import { CHANNEL_ID_BYTES } from "./slots.ts";

/** The contract whose tokens are the channels of a network. */
export interface Registrar {
  readonly chainId: number;
  /** In EIP-55 form. */
  readonly token: string;
}

const SEPOLIA: Registrar = { chainId: 11_155_111, token: "0x7Dd80C661dED9bFC8D4440224A0b39b345a91BE4" };

/** From `channel_uri.rs` of snapchain 0.14.2. A constant of the network, not a setting of a node; mainnet has none yet. */
const REGISTRARS: Readonly<Partial<Record<FarcasterNetwork, Registrar>>> = {
  [FarcasterNetwork.FARCASTER_NETWORK_TESTNET]: SEPOLIA,
  [FarcasterNetwork.FARCASTER_NETWORK_DEVNET]: SEPOLIA,
};

/** Returns the registrar of a network; undefined while it has none. */
export function registrarOf(network: FarcasterNetwork): Registrar | undefined {
  return REGISTRARS[network];
}

/** The registrar of the demo network, whatever the network of its messages. */
export const DEMO_REGISTRAR: Registrar = SEPOLIA;

const MAX_TOKEN_DIGITS = 78;
const DECIMAL = /^(?:0|[1-9][0-9]*)$/;
const FORM = /^eip155:([^/]+)\/erc721:([^/]+)\/([^/]+)$/;

/** Returns the common prefix of the URIs of all channels of a registrar; undefined without a registrar. */
export function followUriPrefix(registrar: Registrar | undefined): string | undefined {
  return registrar && `eip155:${registrar.chainId}/erc721:${registrar.token}/`;
}

/** Returns the URL that followers of a channel like, which is the CAIP-19 id of its token. Undefined without a registrar. */
export function followUriOf(registrar: Registrar | undefined, channelId: Uint8Array): string | undefined {
  const prefix = followUriPrefix(registrar);
  return prefix && `${prefix}${BigInt(`0x${channelId.toHex()}`)}`;
}

/**
 * Returns the id of the channel named by a URL in the protocol's spelling: lower-case namespaces, decimal numbers without
 * leading zeros, and the registrar's checksummed address. Undefined for every other spelling.
 */
export function followedChannelOf(registrar: Registrar | undefined, url: string): Uint8Array | undefined {
  const [, chain = "", contract = "", token = ""] = (registrar && FORM.exec(url)) || [];
  if (!registrar || token.length > MAX_TOKEN_DIGITS) return undefined;
  if (!DECIMAL.test(token)) return undefined;
  if (chain !== String(registrar.chainId) || contract !== registrar.token) return undefined;
  const hex = BigInt(token)
    .toString(16)
    .padStart(CHANNEL_ID_BYTES * 2, "0");
  return hex.length === CHANNEL_ID_BYTES * 2 ? Uint8Array.fromHex(hex) : undefined;
}

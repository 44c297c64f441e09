import { MessageType } from "../../../protocol/wire/generated/message.ts";

/** The names of the protocol's numbers, spelled as the reference node spells them in JSON. */
export interface EnumNames {
  readonly byNumber: Readonly<Record<number, string>>;
  /** The start of the names, without which clients may write them. */
  readonly prefix: string;
}

const names = (prefix: string, byNumber: Readonly<Record<number, string>>): EnumNames => ({
  prefix,
  byNumber: Object.fromEntries(Object.entries(byNumber).map(([number, name]) => [number, prefix + name])),
});

export const MESSAGE_TYPES = names("MESSAGE_TYPE_", {
  0: "NONE",
  1: "CAST_ADD",
  2: "CAST_REMOVE",
  3: "REACTION_ADD",
  4: "REACTION_REMOVE",
  5: "LINK_ADD",
  6: "LINK_REMOVE",
  [MessageType.MESSAGE_TYPE_VERIFICATION_ADD]: "VERIFICATION_ADD_ETH_ADDRESS",
  8: "VERIFICATION_REMOVE",
  11: "USER_DATA_ADD",
  12: "USERNAME_PROOF",
  13: "FRAME_ACTION",
  14: "LINK_COMPACT_STATE",
  15: "LEND_STORAGE",
  16: "KEY_ADD",
  17: "KEY_REMOVE",
  18: "CHANNEL_UPDATE",
  19: "CHANNEL_MEMBER",
  20: "CHANNEL_PIN",
  21: "CHANNEL_MODERATE",
});
export const CAST_TYPES = names("", { 0: "CAST", 1: "LONG_CAST", 2: "TEN_K_CAST" });
export const REACTION_TYPES = names("REACTION_TYPE_", { 0: "NONE", 1: "LIKE", 2: "RECAST" });
export const USER_DATA_TYPES: EnumNames = {
  prefix: "USER_DATA_TYPE_",
  byNumber: {
    ...names("USER_DATA_TYPE_", {
      0: "NONE",
      1: "PFP",
      2: "DISPLAY",
      3: "BIO",
      5: "URL",
      6: "USERNAME",
      7: "LOCATION",
      8: "TWITTER",
      9: "GITHUB",
      10: "BANNER",
      13: "PROFILE_TOKEN",
      14: "LIVE_AT",
    }).byNumber,
    11: "USER_DATA_PRIMARY_ADDRESS_ETHEREUM",
    12: "USER_DATA_PRIMARY_ADDRESS_SOLANA",
  },
};
export const USERNAME_TYPES = names("USERNAME_TYPE_", { 0: "NONE", 1: "FNAME", 2: "ENS_L1", 3: "BASENAME" });
export const NETWORKS = names("FARCASTER_NETWORK_", { 0: "NONE", 1: "MAINNET", 2: "TESTNET", 3: "DEVNET" });
export const HUB_EVENT_TYPES = names("HUB_EVENT_TYPE_", {
  0: "NONE",
  1: "MERGE_MESSAGE",
  2: "PRUNE_MESSAGE",
  3: "REVOKE_MESSAGE",
  6: "MERGE_USERNAME_PROOF",
  9: "MERGE_ON_CHAIN_EVENT",
  10: "MERGE_FAILURE",
  11: "BLOCK_CONFIRMED",
  12: "CHANNEL_OWNER_CHANGE_HINT",
});
export const OWNER_CHANGE_CAUSES = names("CHANNEL_OWNER_CHANGE_CAUSE_", {
  0: "NONE",
  1: "REGISTER",
  2: "TRANSFER",
  3: "VERIFICATION_ADD",
  4: "VERIFICATION_REMOVE",
});
export const HASH_SCHEMES = names("HASH_SCHEME_", { 0: "NONE", 1: "BLAKE3" });
export const SIGNATURE_SCHEMES = names("SIGNATURE_SCHEME_", { 0: "NONE", 1: "ED25519", 2: "EIP712" });
export const PROTOCOLS = names("PROTOCOL_", { 0: "ETHEREUM", 1: "SOLANA" });
export const ON_CHAIN_EVENT_TYPES = names("EVENT_TYPE_", {
  0: "NONE",
  1: "SIGNER",
  2: "SIGNER_MIGRATED",
  3: "ID_REGISTER",
  4: "STORAGE_RENT",
  5: "TIER_PURCHASE",
  6: "CHANNEL_REGISTER",
});
export const CHANNEL_REGISTER_EVENT_TYPES = names("CHANNEL_REGISTER_EVENT_TYPE_", {
  0: "NONE",
  1: "REGISTER",
  2: "RENEW",
  3: "TRANSFER",
});
export const CASTING_MODES = names("CASTING_MODE_", {
  0: "NONE",
  1: "EVERYONE",
  2: "MEMBERS_ONLY",
  3: "RECOMMENDED",
});
export const MEMBERSHIP_MODES = names("MEMBERSHIP_MODE_", { 0: "NONE", 1: "OPEN", 2: "APPROVAL" });
export const CHANNEL_MEMBER_ACTIONS = names("CHANNEL_MEMBER_ACTION_", {
  0: "NONE",
  1: "ADD_MEMBER",
  2: "REMOVE_MEMBER",
  3: "ADD_MODERATOR",
  4: "REMOVE_MODERATOR",
  5: "BAN",
  6: "UNBAN",
});
export const CHANNEL_MODERATE_ACTIONS = names("CHANNEL_MODERATE_ACTION_", {
  0: "NONE",
  1: "HIDE",
  2: "UNHIDE",
});
export const CHANNEL_MEMBER_STATES = names("CHANNEL_MEMBER_STATE_", {
  0: "NONE",
  1: "MEMBER",
  2: "MODERATOR",
  3: "REMOVED",
  4: "BANNED",
});
export const SIGNER_EVENT_TYPES = names("SIGNER_EVENT_TYPE_", {
  0: "NONE",
  1: "ADD",
  2: "REMOVE",
  3: "ADMIN_RESET",
});
export const SIGNER_SOURCES = names("SIGNER_SOURCE_", { 0: "NONE", 1: "ONCHAIN", 2: "OFFCHAIN" });
// The reference node spells these without their prefixes.
export const ID_REGISTER_EVENT_TYPES = names("", {
  0: "None",
  1: "Register",
  2: "Transfer",
  3: "ChangeRecovery",
});
export const STORE_TYPES = names("", {
  1: "Casts",
  2: "Links",
  3: "Reactions",
  4: "UserData",
  5: "Verifications",
  6: "UsernameProofs",
  7: "None",
});
export const UNIT_TYPES = names("", { 0: "UnitTypeLegacy", 1: "UnitType2024", 2: "UnitType2025" });
export const TIER_TYPES = names("", { 0: "None", 1: "Pro" });

/** Returns the name of a number, or the number if it has none. */
export function nameOf({ byNumber }: EnumNames, number: number): string | number {
  return byNumber[number] ?? number;
}

/** Returns the number that a text stands for: itself, a name, or a name without its prefix, in any case. */
export function numberOf({ byNumber, prefix }: EnumNames, text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const wanted = text.toUpperCase();
  const found = Object.entries(byNumber).find(
    ([, name]) => name.toUpperCase() === wanted || name.toUpperCase() === prefix + wanted,
  );
  return found === undefined ? undefined : Number(found[0]);
}

/** Bytes as the reference node writes them in JSON. */

export const hex = (bytes: Uint8Array): string => `0x${bytes.toHex()}`;
export const base64 = (bytes: Uint8Array): string => bytes.toBase64();

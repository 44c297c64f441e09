import { ChannelOwnerChangeCause, HubEventType } from "../../../protocol/wire/generated/hub.ts";
import {
  CastingMode,
  ChannelMemberAction,
  ChannelModerateAction,
  FarcasterNetwork,
  HashScheme,
  MembershipMode,
  MessageType,
  ReactionType,
  SignatureScheme,
  UserDataType,
  UserNameType,
} from "../../../protocol/wire/generated/message.ts";
import {
  ChannelRegisterEventType,
  OnChainEventType,
  SignerEventType,
} from "../../../protocol/wire/generated/on-chain.ts";
import { ChannelMemberState } from "../../../protocol/wire/generated/reads.ts";
import { SignerSource } from "../../../protocol/wire/generated/state.ts";

/** The names of the protocol's numbers, in the reference node's JSON spelling. */
export interface EnumNames {
  readonly byNumber: Readonly<Record<number, string>>;
  /** The prefix of the names, which clients may omit. */
  readonly prefix: string;
}

const names = (prefix: string, byNumber: Readonly<Record<number, string>>): EnumNames => ({
  prefix,
  byNumber: Object.fromEntries(Object.entries(byNumber).map(([number, name]) => [number, prefix + name])),
});

/** Returns the names of a protocol enum. `spelled` contains those that the reference node spells differently. */
function namesOf(
  members: Readonly<Record<string, string | number>>,
  prefix: string,
  spelled: Readonly<Record<number, string>> = {},
): EnumNames {
  const named = Object.entries(members).filter(([, name]) => typeof name === "string");
  return { prefix, byNumber: { ...Object.fromEntries(named), ...spelled } };
}

export const MESSAGE_TYPES = namesOf(MessageType, "MESSAGE_TYPE_", {
  [MessageType.MESSAGE_TYPE_VERIFICATION_ADD]: "MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS",
});
export const REACTION_TYPES = namesOf(ReactionType, "REACTION_TYPE_");
export const USER_DATA_TYPES = namesOf(UserDataType, "USER_DATA_TYPE_", {
  [UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM]: "USER_DATA_PRIMARY_ADDRESS_ETHEREUM",
  [UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA]: "USER_DATA_PRIMARY_ADDRESS_SOLANA",
});
export const USERNAME_TYPES = namesOf(UserNameType, "USERNAME_TYPE_");
export const NETWORKS = namesOf(FarcasterNetwork, "FARCASTER_NETWORK_");
export const HUB_EVENT_TYPES = namesOf(HubEventType, "HUB_EVENT_TYPE_");
export const OWNER_CHANGE_CAUSES = namesOf(ChannelOwnerChangeCause, "CHANNEL_OWNER_CHANGE_CAUSE_");
export const HASH_SCHEMES = namesOf(HashScheme, "HASH_SCHEME_");
export const SIGNATURE_SCHEMES = namesOf(SignatureScheme, "SIGNATURE_SCHEME_");
export const ON_CHAIN_EVENT_TYPES = namesOf(OnChainEventType, "EVENT_TYPE_");
export const CHANNEL_REGISTER_EVENT_TYPES = namesOf(ChannelRegisterEventType, "CHANNEL_REGISTER_EVENT_TYPE_");
export const CASTING_MODES = namesOf(CastingMode, "CASTING_MODE_");
export const MEMBERSHIP_MODES = namesOf(MembershipMode, "MEMBERSHIP_MODE_");
export const CHANNEL_MEMBER_ACTIONS = namesOf(ChannelMemberAction, "CHANNEL_MEMBER_ACTION_");
export const CHANNEL_MODERATE_ACTIONS = namesOf(ChannelModerateAction, "CHANNEL_MODERATE_ACTION_");
export const CHANNEL_MEMBER_STATES = namesOf(ChannelMemberState, "CHANNEL_MEMBER_STATE_");
export const SIGNER_EVENT_TYPES = namesOf(SignerEventType, "SIGNER_EVENT_TYPE_");
export const SIGNER_SOURCES = namesOf(SignerSource, "SIGNER_SOURCE_");
export const PROTOCOLS = names("PROTOCOL_", { 0: "ETHEREUM", 1: "SOLANA" });
// The reference node omits the prefixes of these.
export const CAST_TYPES = names("", { 0: "CAST", 1: "LONG_CAST", 2: "TEN_K_CAST" });
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

/** Returns the number that a text represents: a number itself, a name, or a name without its prefix, in any case. */
export function numberOf({ byNumber, prefix }: EnumNames, text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const wanted = text.toUpperCase();
  const found = Object.entries(byNumber).find(
    ([, name]) => name.toUpperCase() === wanted || name.toUpperCase() === prefix + wanted,
  );
  return found === undefined ? undefined : Number(found[0]);
}

/** Bytes in the format of the reference node's JSON. */

export const hex = (bytes: Uint8Array): string => `0x${bytes.toHex()}`;
export const base64 = (bytes: Uint8Array): string => bytes.toBase64();

import { MessageType } from "../protocol/wire/generated/message.ts";

/** Message types of the permissions that a gasless key can be granted, in the order in which they are granted. */
const GRANTED = {
  PUBLISH_CAST: MessageType.MESSAGE_TYPE_CAST_ADD,
  DELETE_CAST: MessageType.MESSAGE_TYPE_CAST_REMOVE,
  PUBLISH_REACTION: MessageType.MESSAGE_TYPE_REACTION_ADD,
  DELETE_REACTION: MessageType.MESSAGE_TYPE_REACTION_REMOVE,
  FOLLOW_USER: MessageType.MESSAGE_TYPE_LINK_ADD,
  UNFOLLOW_USER: MessageType.MESSAGE_TYPE_LINK_REMOVE,
  ADD_VERIFICATION: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
  REMOVE_VERIFICATION: MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE,
  UPDATE_PROFILE: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
} as const satisfies Record<string, MessageType>;

/** Permissions that the protocol reserves for keys on chain. */
const ON_CHAIN = {
  UPDATE_CHANNEL: MessageType.MESSAGE_TYPE_CHANNEL_UPDATE,
  MANAGE_CHANNEL_MEMBERS: MessageType.MESSAGE_TYPE_CHANNEL_MEMBER,
  PIN_IN_CHANNEL: MessageType.MESSAGE_TYPE_CHANNEL_PIN,
  MODERATE_CHANNEL: MessageType.MESSAGE_TYPE_CHANNEL_MODERATE,
} as const satisfies Record<string, MessageType>;

const TYPE_OF = { ...GRANTED, ...ON_CHAIN };
const GRANTED_TYPES: readonly number[] = Object.values(GRANTED);
const ON_CHAIN_TYPES: readonly number[] = Object.values(ON_CHAIN);

/** Stands for all permissions. */
const WRITE_ALL = "WRITE_ALL";

export type Permission = keyof typeof TYPE_OF | typeof WRITE_ALL;

export const PERMISSIONS = [WRITE_ALL, ...Object.keys(TYPE_OF)] as [Permission, ...Permission[]];

/**
 * Returns the message types of permissions as signers store them: ascending, without duplicates. An empty list and `WRITE_ALL` mean
 * everything, and return the types that a gasless key can be granted.
 */
export function typesOf(permissions: readonly Permission[]): readonly number[] {
  if (permissions.length === 0 || permissions.includes(WRITE_ALL)) return GRANTED_TYPES;
  return Object.entries(TYPE_OF)
    .filter(([name]) => permissions.includes(name as Permission))
    .map(([, type]) => type);
}

/** Returns the permissions of stored message types. */
export function permissionsOf(types: readonly number[]): readonly Permission[] {
  if (isAll(types)) return [WRITE_ALL];
  return Object.entries(TYPE_OF).flatMap(([name, type]) =>
    types.includes(type) ? [name as Permission] : [],
  );
}

function isAll(types: readonly number[]): boolean {
  return GRANTED_TYPES.every((type) => types.includes(type));
}

/** Reports whether a signer with these stored message types may sign messages of a type. */
export function permits(types: readonly number[], type: number): boolean {
  return types.includes(type) || (needsOnChainKey(type) && isAll(types));
}

/** Reports whether the network accepts messages of a type only from keys on chain. */
export function needsOnChainKey(type: number): boolean {
  return ON_CHAIN_TYPES.includes(type);
}

/** Filters stored types to those that a gasless key can be granted. */
export function grantedTo(types: readonly number[]): readonly number[] {
  return types.filter((type) => !needsOnChainKey(type));
}

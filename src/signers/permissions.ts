import { MessageType } from "../protocol/wire/generated/message.ts";

/** The message types of each permission of a signer, in the order in which a key is granted them. */
const TYPE_OF = {
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

/** All of them. */
export const WRITE_ALL = "WRITE_ALL";

export type Permission = keyof typeof TYPE_OF | typeof WRITE_ALL;

export const PERMISSIONS = [WRITE_ALL, ...Object.keys(TYPE_OF)] as [Permission, ...Permission[]];

/** Returns the message types of permissions, ascending and each once; all of them for none or `WRITE_ALL`. */
export function typesOf(permissions: readonly Permission[]): readonly number[] {
  const isAll = permissions.length === 0 || permissions.includes(WRITE_ALL);
  return Object.entries(TYPE_OF)
    .filter(([name]) => isAll || permissions.includes(name as Permission))
    .map(([, type]) => type);
}

/** Returns the permissions of message types. */
export function permissionsOf(types: readonly number[]): readonly Permission[] {
  const names = Object.entries(TYPE_OF).filter(([, type]) => types.includes(type));
  if (names.length === Object.keys(TYPE_OF).length) return [WRITE_ALL];
  return names.map(([name]) => name as Permission);
}

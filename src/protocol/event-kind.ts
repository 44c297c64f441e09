/** What can happen to the network's state, by the names under which receivers hear of it. */
export type EventKind =
  | "cast.created"
  | "cast.deleted"
  | "follow.created"
  | "follow.deleted"
  | "reaction.created"
  | "reaction.deleted"
  | "user.created"
  | "user.updated";

/** The kinds of changes that webhooks can subscribe to. */
export type EventKind =
  | "cast.created"
  | "cast.deleted"
  | "follow.created"
  | "follow.deleted"
  | "reaction.created"
  | "reaction.deleted"
  | "user.created"
  | "user.updated";

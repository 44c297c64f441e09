import type { Cast } from "../data/objects.ts";

/** A cast and the replies below it, as `/cast/conversation` has them. */
export interface Conversation {
  readonly cast: Cast;
  readonly replies: readonly Conversation[];
}

/** A reply in the order of the page, and how deep it is below the cast: 1 for a direct reply. */
export interface ThreadRow {
  readonly cast: Cast;
  readonly depth: number;
  /** Replies of this cast that the response leaves out. */
  readonly hidden: number;
}

/** Returns the replies of a conversation from top to bottom: each one, then those below it. */
export function threadRows(conversation: Conversation): ThreadRow[] {
  const rows: ThreadRow[] = [];
  const visit = ({ cast, replies }: Conversation, depth: number) => {
    if (depth > 0) rows.push({ cast, depth, hidden: hiddenReplies({ cast, replies }) });
    for (const reply of replies) visit(reply, depth + 1);
  };
  visit(conversation, 0);
  return rows;
}

/** Returns how many replies a cast has beyond those that a conversation shows. */
export const hiddenReplies = ({ cast, replies }: Conversation) =>
  Math.max(0, cast.replies.count - replies.length);

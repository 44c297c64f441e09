import type { Cast, User } from "../data/objects.ts";
import type { Page } from "../data/pages.ts";
import { CastRow } from "../parts/cast-row.tsx";
import { Time } from "../parts/time.tsx";
import { PersonName } from "../text/user-name.tsx";

interface Act {
  readonly user: User;
  readonly timestamp: number;
}

/** An entry of the in-app list. Reactions to one cast and follows are grouped; `count` has all of them. */
export interface Notification {
  readonly type: "cast-mention" | "cast-reply" | "reaction" | "follow";
  readonly most_recent_timestamp: number;
  readonly cast: Cast | null;
  readonly reactions: readonly (Act & { readonly reaction_type: "like" | "recast" })[];
  readonly follows: readonly Act[];
  readonly count: number;
}

export const notificationsOf = (body: {
  notifications: readonly Notification[];
  next?: { cursor: string | null };
}): Page<Notification> => ({ items: body.notifications, next: body.next?.cursor ?? null });

export const notificationKey = ({ type, most_recent_timestamp, cast, follows }: Notification) =>
  `${type} ${most_recent_timestamp} ${cast?.hash ?? follows[0]?.user.fid ?? ""}`;

const SHOWN_NAMES = 2;

function Who({ acts, count }: { acts: readonly Act[]; count: number }) {
  const people = [...new Map(acts.map(({ user }) => [user.fid, user])).values()].slice(0, SHOWN_NAMES);
  const others = count - people.length;
  return (
    <>
      {people.map((user, at) => (
        <span key={user.fid}>
          {at > 0 && (others > 0 ? ", " : " and ")}
          <PersonName user={user} />
        </span>
      ))}
      {others > 0 && ` and ${others} more`}
    </>
  );
}

function Sentence({ entry }: { entry: Notification }) {
  const { type, reactions, follows, count, cast } = entry;
  if (type === "follow")
    return (
      <>
        <Who acts={follows} count={count} /> followed
      </>
    );
  if (type === "reaction") {
    const verbs = new Set(reactions.map(({ reaction_type }) => reaction_type));
    const verb = verbs.size > 1 ? "liked or recast" : verbs.has("recast") ? "recast" : "liked";
    return (
      <>
        <Who acts={reactions} count={count} /> {verb} this cast
      </>
    );
  }
  if (!cast) return null;
  return (
    <>
      <PersonName user={cast.author} /> {type === "cast-reply" ? "replied" : "mentioned this person"}
    </>
  );
}

/** An entry of the in-app notifications: a sentence, and the cast that it is about. */
export function NotificationRow({ entry }: { entry: Notification }) {
  return (
    <div class="notification">
      <p class="row s wrap sentence">
        <span class="grow">
          <Sentence entry={entry} />
        </span>
        <Time at={entry.most_recent_timestamp} />
      </p>
      {entry.cast && <CastRow cast={entry.cast} />}
    </div>
  );
}

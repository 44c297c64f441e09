import type { StreamEvent } from "../data/event-stream.ts";
import type { Cast, User } from "../data/objects.ts";
import { displayNameOf } from "../text/name.ts";
import { UserName } from "../text/user-name.tsx";
import { Face } from "./face.tsx";
import { Time } from "./time.tsx";

interface EventData {
  readonly user: User;
  readonly target_user?: User | null;
  readonly cast?: Cast | null;
  readonly reaction_type?: string;
}

const Who = ({ user }: { user: User }) => (
  <b>
    <UserName name={displayNameOf(user)} />
  </b>
);

/** Who did it, and the rest of the sentence. */
function sentenceOf({ kind, data }: StreamEvent) {
  if (kind.startsWith("cast.")) {
    const cast = data as Cast;
    const verb = kind === "cast.deleted" ? "deleted a cast" : cast.parent_hash === null ? "cast" : "replied";
    return {
      user: cast.author,
      rest: (
        <>
          {verb}
          {cast.channel && ` in /${cast.channel.id}`}
        </>
      ),
      path: `/console/casts/${cast.hash}`,
    };
  }
  if (kind.startsWith("user.")) {
    const user = data as User;
    return {
      user,
      rest: kind === "user.created" ? "joined" : "changed their profile",
      path: `/console/people/${user.fid}`,
    };
  }
  const { user, target_user, cast, reaction_type } = data as EventData;
  if (kind.startsWith("follow."))
    return {
      user,
      rest: (
        <>
          {kind === "follow.created" ? "followed " : "unfollowed "}
          {target_user ? <Who user={target_user} /> : "somebody"}
        </>
      ),
      path: `/console/people/${target_user?.fid ?? user.fid}`,
    };
  const liked = reaction_type === "recast" ? "recast" : "liked";
  const verb = kind === "reaction.deleted" ? `no longer ${liked}` : liked;
  return {
    user,
    rest: (
      <>
        {verb}{" "}
        {cast ? (
          <>
            a cast of <Who user={cast.author} />
          </>
        ) : (
          "something"
        )}
      </>
    ),
    path: cast ? `/console/casts/${cast.hash}` : `/console/people/${user.fid}`,
  };
}

/** An event as a sentence. */
export function EventLine({ event }: { event: StreamEvent }) {
  const { user, rest, path } = sentenceOf(event);
  return (
    <li class="row" data-row tabIndex={-1}>
      <Face user={user} size={1.75} />
      <a class="grow plain" data-open href={path}>
        <Who user={user} /> <span class="dim">{rest}</span>
      </a>
      <Time at={event.createdAt} />
    </li>
  );
}

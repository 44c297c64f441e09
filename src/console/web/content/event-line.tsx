import type { ComponentChildren } from "preact";
import { type ChannelEventKind, isChannelEvent } from "../../../protocol/event-kind.ts";
import type { Cast, Channel as ChannelObject, User } from "../data/call.ts";
import type { StreamEvent } from "../data/event-stream.ts";
import { knownPerson } from "../data/known-people.ts";
import { Time } from "../parts/pill.tsx";
import * as msg from "../text/en/common.ts";
import { displayNameOf, handleOf } from "../text/name.ts";
import { castPage, channelPage, pageOfPerson, personPage } from "../text/page-paths.ts";
import { ChannelName, UserName } from "../text/user-text.tsx";
import { Face } from "./face.tsx";

interface ChannelEventData {
  readonly channel: ChannelObject;
  readonly actor?: User | null;
  readonly user?: User | null;
  readonly cast?: Cast | null;
  readonly hidden?: boolean;
}

interface EventData {
  readonly user: User;
  readonly target_user?: User | null;
  readonly cast?: Cast | null;
  readonly reaction_type?: string;
}

/** An event as a sentence, and the page to which it links. `cast` is the cast whose text is shown below it. */
interface Sentence {
  /** Null if no user is known: the sentence is then about the channel. */
  readonly user: User | null;
  readonly channel?: ChannelObject;
  readonly rest: ComponentChildren;
  readonly page: string;
  readonly cast?: Cast | undefined;
}

const Who = ({ user }: { user: User }) => (
  <a class="name" href={pageOfPerson(user)} title={msg.fid(handleOf(user), user.fid)}>
    <UserName name={displayNameOf(user)} />
  </a>
);

/** A person, by name if this node knows it. */
function Known({ fid }: { fid: number }) {
  const user = knownPerson(fid);
  return user ? <Who user={user} /> : <a href={personPage(fid)}>{msg.fidOf(fid)}</a>;
}

const Channel = ({ channel }: { channel: Cast["channel"] }) =>
  channel &&
  msg.inLabel(
    <a href={channelPage(channel.id)}>
      <ChannelName name={channel.name} />
    </a>,
  );

function castSentence(kind: string, cast: Cast): Sentence {
  const page = castPage(cast.hash);
  const { author, channel, parent_author } = cast;
  const isReply = cast.parent_hash !== null;
  if (kind === "cast.deleted")
    return {
      user: author,
      rest: isReply ? msg.deletedAReply : msg.deletedACast,
      page: pageOfPerson(author),
      cast,
    };
  const rest =
    isReply && parent_author.fid !== null
      ? msg.repliedTo(
          parent_author.fid === author.fid ? msg.themselves : <Known fid={parent_author.fid} />,
          <Channel channel={channel} />,
        )
      : msg.cast(<Channel channel={channel} />);
  return { user: author, rest, page, cast };
}

function channelSentence(kind: ChannelEventKind, data: ChannelEventData): Sentence {
  const { channel, actor = null, user = null, cast, hidden } = data;
  const page = channelPage(channel.id);
  const where = (
    <a href={page}>
      <ChannelName name={channel.name} />
    </a>
  );
  const whom = user ? <Who user={user} /> : msg.anFidThatIsNotRegistered;
  const isOwn = actor !== null && actor.fid === user?.fid;
  const rest: Record<ChannelEventKind, () => ComponentChildren> = {
    "channel.created": () => msg.wasRegistered,
    "channel.updated": () => (actor ? msg.changedTheChannel(where) : msg.changedInTheRegistry),
    "channel.member.added": () => (isOwn ? msg.joinedChannel(where) : msg.addedToChannel(whom, where)),
    "channel.member.removed": () => (isOwn ? msg.leftChannel(where) : msg.removedFromChannel(whom, where)),
    "channel.member.banned": () => msg.bannedFromChannel(whom, where),
    "channel.member.unbanned": () => msg.unbannedFromChannel(whom, where),
    "channel.moderator.added": () => msg.madeModerator(whom, where),
    "channel.moderator.removed": () => msg.noLongerModerator(whom, where),
    "channel.pinned": () => msg.pinnedIn(where),
    "channel.unpinned": () => msg.unpinnedIn(where),
    "channel.follow.created": () => msg.followed(where),
    "channel.follow.deleted": () => msg.unfollowed(where),
    "cast.moderated": () => (hidden ? msg.hidCastIn(where) : msg.showsCastIn(where)),
  };
  return {
    user: actor ?? (kind.startsWith("channel.follow.") ? user : null),
    channel,
    rest: rest[kind](),
    page,
    cast: cast ?? undefined,
  };
}

/** Describes an event in a sentence. */
function sentenceOf({ kind, data }: StreamEvent): Sentence {
  if (isChannelEvent(kind)) return channelSentence(kind, data as ChannelEventData);
  if (kind.startsWith("cast.")) return castSentence(kind, data as Cast);
  if (kind.startsWith("user.")) {
    const user = data as User;
    return {
      user,
      rest: kind === "user.created" ? msg.joined : msg.changedTheirProfile,
      page: pageOfPerson(user),
    };
  }
  const { user, target_user, cast, reaction_type } = data as EventData;
  if (kind.startsWith("follow.")) {
    const target = target_user ? <Who user={target_user} /> : msg.anFidThatIsNotRegistered;
    return {
      user,
      rest: kind === "follow.created" ? msg.followed(target) : msg.unfollowed(target),
      page: pageOfPerson(target_user ?? user),
    };
  }
  const [done, undone] =
    reaction_type === "recast" ? [msg.recastWhat, msg.noLongerRecasts] : [msg.likedWhat, msg.noLongerLikes];
  const object = cast
    ? msg.aCastOf(<a href={castPage(cast.hash)}>{msg.aCast}</a>, <Who user={cast.author} />)
    : msg.somethingNotFoundHere;
  return {
    user,
    rest: kind === "reaction.deleted" ? undone(object) : done(object),
    page: cast ? castPage(cast.hash) : pageOfPerson(user),
    cast: cast ?? undefined,
  };
}

/** The face for an event of the registry. */
const NO_ONE = { fid: 0, username: "#" };

/** Shows an event as a sentence in a row; with `withText` also the beginning of the cast concerned. */
export function EventLine({ event, withText = false }: { event: StreamEvent; withText?: boolean }) {
  const { user, channel, rest, page, cast } = sentenceOf(event);
  return (
    <li class="row event" data-row tabIndex={-1} data-kind={event.kind}>
      <Face user={user ?? NO_ONE} size={1.75} />
      <div class="grow">
        <p class="sentence">
          {user ? <Who user={user} /> : channel && <ChannelName name={channel.name} />}{" "}
          <span class="dim">{rest}</span>
        </p>
        {withText && cast && cast.text !== "" && (
          <p class="s dim lines">
            <bdi class="user">{cast.text}</bdi>
          </p>
        )}
      </div>
      <a class="when" href={page} data-open>
        <Time at={event.createdAt} />
        <span class="skip">{msg.openIt}</span>
      </a>
    </li>
  );
}

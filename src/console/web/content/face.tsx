import { useState } from "preact/hooks";
import type { Channel, User } from "../data/call.ts";
import { Rows } from "../parts/list-region.tsx";
import * as msg from "../text/en/common.ts";
import { imageUrl } from "../text/link.ts";
import { displayNameOf, initialOf } from "../text/name.ts";
import { channelPage } from "../text/page-paths.ts";
import { ChannelName, PersonName, UserName, UserText } from "../text/user-text.tsx";
import { areImagesLoaded } from "./images.tsx";

interface Faced {
  readonly fid: number;
  readonly username: string;
  readonly display_name?: string | null;
  readonly pfp_url?: string | null;
}

/**
 * A face drawn from the fid, so that a page is friendly without any remote image. `size` in rem. In a document that may load images from
 * other hosts, the person's picture covers it.
 */
export function Face({ user, size = 2.5 }: { user: Faced; size?: number }) {
  const [isBroken, setBroken] = useState(false);
  const picture = areImagesLoaded && !isBroken ? imageUrl(user.pfp_url) : undefined;
  return (
    <span
      class="face"
      aria-hidden="true"
      style={{ "--h": String((user.fid * 47) % 360), "--d": `${size}rem` }}
    >
      {picture === undefined ? (
        initialOf(displayNameOf(user))
      ) : (
        <img
          src={picture}
          alt=""
          width={size * 16}
          height={size * 16}
          loading="lazy"
          decoding="async"
          referrerpolicy="no-referrer"
          onError={() => setBroken(true)}
        />
      )}
    </span>
  );
}

/** Derives the color of the icon from the id. */
function hueOf(appId: string): number {
  let sum = 0;
  for (const char of appId) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9973;
  return sum;
}

/** The icon of an app: the first letter of its name. */
export function AppFace({ appId, name, size }: { appId: string; name: string; size?: number }) {
  return (
    <Face
      user={{ fid: hueOf(appId), username: name, display_name: name }}
      {...(size !== undefined && { size })}
    />
  );
}

/** A person as a list row: face, name, handle, and bio. */
export function PersonRow({ user, withBio = false }: { user: User; withBio?: boolean }) {
  const bio = user.profile.bio.text;
  return (
    <div class="row person" data-row tabIndex={-1} data-fid={user.fid}>
      <Face user={user} size={2.25} />
      <div class="grow">
        <div class="who">
          <PersonName user={user} isRow />
        </div>
        {withBio && bio !== "" && (
          <p class="s dim line">
            <UserText text={bio} />
          </p>
        )}
      </div>
    </div>
  );
}

/** People as the rows of a card. */
export const PeopleRows = ({ users, withBio = false }: { users: readonly User[]; withBio?: boolean }) => (
  <Rows items={users} keyOf={({ fid }) => fid} row={(user) => <PersonRow user={user} withBio={withBio} />} />
);

/** A channel as a list row. The id of some channels is a URL, which is also their name. */
export function ChannelRow({ channel }: { channel: Channel }) {
  return (
    <div class="row person" data-row tabIndex={-1} data-id={channel.id}>
      <div class="grow">
        <div class="who">
          <a class="name" data-open href={channelPage(channel.id)}>
            <ChannelName name={channel.name} />
          </a>
          {channel.name !== channel.id && (
            <span class="dim s handle">
              <UserName name={channel.id} />
            </span>
          )}
        </div>
        {channel.description && (
          <p class="s dim line">
            <UserText text={channel.description} />
          </p>
        )}
      </div>
      <span class="dim s">{msg.countMembers(channel.member_count)}</span>
    </div>
  );
}

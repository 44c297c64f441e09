import { plural } from "../data/format.ts";
import type { Channel } from "../data/objects.ts";
import { channelPage } from "../text/client-urls.ts";
import { ChannelName, UserName } from "../text/user-name.tsx";
import { UserText } from "../text/user-text.tsx";

/** A channel as a row of a list. The id of some channels is a URL, which is their name as well. */
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
      <span class="dim s">{plural(channel.member_count, "member")}</span>
    </div>
  );
}

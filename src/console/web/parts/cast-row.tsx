import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { get } from "../data/call.ts";
import { formatCompact, formatCount } from "../data/format.ts";
import type { Cast } from "../data/objects.ts";
import { Icon, type IconName } from "../icons.tsx";
import { CastText } from "../text/cast-text.tsx";
import { castPage, channelPage } from "../text/client-urls.ts";
import { ChannelName, PersonName } from "../text/user-name.tsx";
import { CallPanel } from "./call-panel.tsx";
import { Embeds } from "./embeds.tsx";
import { Face } from "./face.tsx";
import { CallButton } from "./region.tsx";
import { Time } from "./time.tsx";

function Figure({ icon, count, what }: { icon: IconName; count: number; what: string }) {
  return (
    <span title={`${formatCount(count)} ${what}`}>
      <Icon name={icon} size={15} />
      {formatCompact(count)}
      <span class="skip"> {what}</span>
    </span>
  );
}

/** The channel that a cast is in, as a pill. */
export function ChannelPill({ channel }: { channel: Cast["channel"] }) {
  if (!channel) return null;
  return (
    <a class="pill acc channel" href={channelPage(channel.id)}>
      <span>
        <ChannelName name={channel.name} />
      </span>
    </a>
  );
}

const INTERACTIVE = "a, button, summary, input, textarea, select, pre, .api";

/** A cast in a list. A click beside its links opens its thread; `isOpen` is the one that the page is about. */
export function CastRow({
  cast,
  isOpen = false,
  withChannel = true,
}: {
  cast: Cast;
  isOpen?: boolean;
  /** False where all casts are in one channel: in a thread, on the page of a channel. */
  withChannel?: boolean;
}) {
  const { route } = useLocation();
  const [isCallShown, setCallShown] = useState(false);
  const page = castPage(cast.hash);
  const { author } = cast;
  function open(event: MouseEvent) {
    if (isOpen || (event.target as Element).closest(INTERACTIVE)) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || !getSelection()?.isCollapsed) return;
    route(page);
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the time is a link to the same page
    <article class="cast" data-row tabIndex={-1} data-hash={cast.hash} onClick={open}>
      <Face user={author} />
      <div class="body">
        <div class="who">
          <PersonName user={author} />
          <a class="when" href={page} data-open>
            <Time at={cast.timestamp} />
            <span class="skip">, open the thread</span>
          </a>
          {withChannel && <ChannelPill channel={cast.channel} />}
        </div>
        <CastText cast={cast} />
        <Embeds embeds={cast.embeds} />
        <div class="acts">
          <Figure icon="reply" count={cast.replies.count} what="replies" />
          <Figure icon="recast" count={cast.reactions.recasts_count} what="recasts" />
          <Figure icon="heart" count={cast.reactions.likes_count} what="likes" />
          <span class="grow" />
          <CallButton isOpen={isCallShown} onToggle={() => setCallShown(!isCallShown)} />
        </div>
        {isCallShown && (
          <CallPanel call={get("/cast", { identifier: cast.hash })} title="The call of this cast" />
        )}
      </div>
    </article>
  );
}

import { useState } from "preact/hooks";
import { get } from "../data/call.ts";
import { formatCompact, formatCount } from "../data/format.ts";
import type { Cast } from "../data/objects.ts";
import { Icon, type IconName } from "../icons.tsx";
import { CastText } from "../text/cast-text.tsx";
import { PersonName } from "../text/user-name.tsx";
import { CallPanel } from "./call-panel.tsx";
import { Face } from "./face.tsx";
import { CallButton } from "./region.tsx";
import { Time } from "./time.tsx";

/** A number beside a picture, in words for those who do not see the picture. */
function Figure({ icon, count, word }: { icon: IconName; count: number; word: string }) {
  return (
    <span title={`${formatCount(count)} ${word}`}>
      <Icon name={icon} size={15} />
      {formatCompact(count)}
      <span class="skip"> {word}</span>
    </span>
  );
}

/** A cast in a list. Enter opens its thread. */
export function CastRow({ cast }: { cast: Cast }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <article class="cast" data-row tabIndex={-1}>
      <Face user={cast.author} />
      <div class="stack tight">
        <div class="who">
          <PersonName user={cast.author} />
          <a data-open href={`/console/casts/${cast.hash}`}>
            <Time at={cast.timestamp} />
          </a>
          {cast.channel && (
            <a class="pill acc" href={`/console/channels/${encodeURIComponent(cast.channel.id)}`}>
              /{cast.channel.id}
            </a>
          )}
        </div>
        <CastText cast={cast} />
        <div class="acts">
          <Figure icon="reply" count={cast.replies.count} word="replies" />
          <Figure icon="recast" count={cast.reactions.recasts_count} word="recasts" />
          <Figure icon="heart" count={cast.reactions.likes_count} word="likes" />
          <span class="grow" />
          <CallButton isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
        </div>
        {isOpen && (
          <CallPanel call={get("/cast", { identifier: cast.hash, type: "hash" })} title="This cast" />
        )}
      </div>
    </article>
  );
}

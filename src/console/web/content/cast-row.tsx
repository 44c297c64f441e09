import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type Cast, get } from "../data/call.ts";
import { Icon, type IconName } from "../icons/icons.tsx";
import { CallPanel } from "../parts/call-panel.tsx";
import { Time } from "../parts/pill.tsx";
import { CallButton } from "../parts/region.tsx";
import * as msg from "../text/en/common.ts";
import { formatCompact } from "../text/format.ts";
import { imageUrl, isPicture, readLink } from "../text/link.ts";
import { castPage, channelPage } from "../text/page-paths.ts";
import { castRuns, mayFold } from "../text/runs.ts";
import { ChannelName, ForeignLink, PersonName, UserText } from "../text/user-text.tsx";
import { Face } from "./face.tsx";
import { areImagesLoaded } from "./images.tsx";

/** Cuts long text after 12 lines, with a button for the rest. Its height is measured before it scrolls into view. */
function FoldedText({ text, children }: { text: string; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isCut, setCut] = useState(false);
  const isCandidate = mayFold(text);
  useEffect(() => {
    const element = box.current;
    if (!element || !isCandidate || isOpen) return;
    const observer = new ResizeObserver(() => setCut(element.scrollHeight > element.clientHeight + 1));
    observer.observe(element);
    return () => observer.disconnect();
  }, [isCandidate, isOpen]);
  return (
    <>
      <div ref={box} class={isCandidate && !isOpen ? "text folded" : "text"}>
        {children}
      </div>
      {(isCut || isOpen) && (
        <button type="button" class="btn quiet fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? msg.showLess : msg.showAll}
        </button>
      )}
    </>
  );
}

/** Renders the text of a cast as text nodes and links, folded after 12 lines. */
function CastText({ cast }: { cast: Cast }) {
  if (cast.text === "") return null;
  return (
    <FoldedText text={cast.text}>
      <UserText text={cast.text} runs={castRuns(cast)} />
    </FoldedText>
  );
}

/** Shows an image from another host, if the document allows them. An image that fails to load is omitted. */
function ForeignImage({ url }: { url: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return null;
  return (
    <img
      class="picture"
      src={url}
      alt=""
      width={480}
      height={270}
      loading="lazy"
      decoding="async"
      referrerpolicy="no-referrer"
      onError={() => setBroken(true)}
    />
  );
}

type UrlOfCast = Extract<Cast["embeds"][number], { url: string }>;

/** Shows what a linked page says about itself. Its image is loaded from its own host, if the document allows that. */
function Preview({ html, frame }: NonNullable<UrlOfCast["metadata"]>) {
  const { ogTitle: title, ogDescription: description } = html ?? {};
  const image = areImagesLoaded ? imageUrl(frame?.image ?? html?.ogImage?.[0]?.url ?? "") : undefined;
  if (title === undefined && image === undefined) return null;
  return (
    <div class="preview">
      {image !== undefined && <ForeignImage url={image} />}
      {title !== undefined && (
        <b class="line">
          <UserText text={title} runs={[{ kind: "text", text: title }]} />
        </b>
      )}
      {description !== undefined && (
        <p>
          <UserText text={description} runs={[{ kind: "text", text: description }]} />
        </p>
      )}
    </div>
  );
}

function UrlEmbed({ url, metadata }: UrlOfCast) {
  const link = readLink(url);
  if (!link)
    return (
      <span class="embed">
        <UserText text={url} runs={[{ kind: "text", text: url }]} />
      </span>
    );
  const image = areImagesLoaded && isPicture(url) ? imageUrl(url) : undefined;
  return (
    <>
      {image !== undefined && <ForeignImage url={image} />}
      {metadata?._status === "RESOLVED" && <Preview {...metadata} />}
      <ForeignLink link={link} class="embed">
        <Icon name="globe" size={15} />
        <bdi dir="ltr" class="line">
          <b>{link.host}</b>
          {link.rest}
        </bdi>
      </ForeignLink>
    </>
  );
}

/** A cast inside another one. */
function QuotedCast({ cast }: { cast: Cast }) {
  return (
    <blockquote class="quoted">
      <div class="who">
        <PersonName user={cast.author} />
        <a href={castPage(cast.hash)}>
          <Time at={cast.timestamp} />
        </a>
      </div>
      <CastText cast={cast} />
    </blockquote>
  );
}

function Embed({ embed }: { embed: Cast["embeds"][number] }) {
  if ("url" in embed) return <UrlEmbed {...embed} />;
  if (embed.cast) return <QuotedCast cast={embed.cast} />;
  return (
    <a class="embed" href={castPage(embed.cast_id.hash)}>
      <span class="line">
        {msg.aCastOfFid(embed.cast_id.fid, <span class="mono">{embed.cast_id.hash}</span>)}
      </span>
    </a>
  );
}

/** Shows what is below a cast's text: links, with what the node knows about their pages, and quoted casts. */
function Embeds({ embeds }: { embeds: readonly Cast["embeds"][number][] }) {
  if (embeds.length === 0) return null;
  return (
    <div class="embeds">
      {embeds.map((embed, at) => (
        <Embed embed={embed} key={at} />
      ))}
    </div>
  );
}

function Figure({ icon, count, inWords }: { icon: IconName; count: number; inWords: string }) {
  return (
    <span title={inWords}>
      <Icon name={icon} size={15} />
      <span aria-hidden="true">{formatCompact(count)}</span>
      <span class="skip">{inWords}</span>
    </span>
  );
}

/** Shows the channel of a cast as a pill. */
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

/** A cast in a list. A click outside its links opens its thread; `isOpen` marks the cast that the page is about. */
export function CastRow(props: {
  cast: Cast;
  isOpen?: boolean;
  /** False if all casts are in one channel: in a thread, or on the page of a channel. */
  withChannel?: boolean;
}) {
  const { cast, isOpen = false, withChannel = true } = props;
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
            <span class="skip">{msg.openTheThread}</span>
          </a>
          {withChannel && <ChannelPill channel={cast.channel} />}
        </div>
        <CastText cast={cast} />
        <Embeds embeds={cast.embeds} />
        <div class="acts">
          <Figure icon="reply" count={cast.replies.count} inWords={msg.countReplies(cast.replies.count)} />
          <Figure
            icon="recast"
            count={cast.reactions.recasts_count}
            inWords={msg.countRecasts(cast.reactions.recasts_count)}
          />
          <Figure
            icon="heart"
            count={cast.reactions.likes_count}
            inWords={msg.countLikes(cast.reactions.likes_count)}
          />
          <span class="grow" />
          <CallButton isOpen={isCallShown} onToggle={() => setCallShown(!isCallShown)} />
        </div>
        {isCallShown && (
          <CallPanel call={get("/cast", { identifier: cast.hash })} title={msg.theCallOfThisCast} />
        )}
      </div>
    </article>
  );
}

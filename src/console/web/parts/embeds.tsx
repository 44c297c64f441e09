import { useState } from "preact/hooks";
import { areImagesLoaded } from "../data/images.ts";
import type { Cast, CastEmbed } from "../data/objects.ts";
import { Icon } from "../icons.tsx";
import { CastText } from "../text/cast-text.tsx";
import { castPage } from "../text/client-urls.ts";
import { ForeignLink } from "../text/foreign-link.tsx";
import { imageUrl, isPicture, readLink } from "../text/link.ts";
import { PersonName } from "../text/user-name.tsx";
import { UserText } from "../text/user-text.tsx";
import { Time } from "./time.tsx";

/** An image from another host, only in a document that allows them. One that does not load is left out. */
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

function UrlEmbed({ url }: { url: string }) {
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

/** A cast within another one. */
export function QuotedCast({ cast }: { cast: Cast }) {
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

function Embed({ embed }: { embed: CastEmbed }) {
  if (embed.url !== undefined) return <UrlEmbed url={embed.url} />;
  if (embed.cast) return <QuotedCast cast={embed.cast} />;
  if (!embed.cast_id) return null;
  return (
    <a class="embed" href={castPage(embed.cast_id.hash)}>
      <span class="line">
        A cast of fid {embed.cast_id.fid} <span class="mono">{embed.cast_id.hash}</span>
      </span>
    </a>
  );
}

/** What a cast shows below its text: links and quoted casts. Nothing of them is fetched. */
export function Embeds({ embeds }: { embeds: readonly CastEmbed[] }) {
  if (embeds.length === 0) return null;
  return (
    <div class="embeds">
      {embeds.map((embed, at) => (
        <Embed embed={embed} key={at} />
      ))}
    </div>
  );
}

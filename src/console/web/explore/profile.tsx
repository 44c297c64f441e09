import type { ComponentChildren } from "preact";
import { formatCount, formatMoment, shortHex } from "../data/format.ts";
import type { User } from "../data/objects.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Face } from "../parts/face.tsx";
import { LoadImages } from "../parts/load-images.tsx";
import { Heading } from "../parts/page-head.tsx";
import { Pill } from "../parts/pill.tsx";
import { pageOfPerson } from "../text/client-urls.ts";
import { ForeignLink, LinkText } from "../text/foreign-link.tsx";
import { readLink } from "../text/link.ts";
import { displayNameOf, handleOf, plainName } from "../text/name.ts";
import { UserName } from "../text/user-name.tsx";
import { UserText } from "../text/user-text.tsx";

function Website({ url }: { url: string }) {
  const link = readLink(url) ?? readLink(`https://${url}`);
  if (!link) return null;
  return (
    <ForeignLink link={link} class="line">
      <LinkText link={link} />
    </ForeignLink>
  );
}

function Addresses({ user }: { user: User }) {
  const { eth_addresses, sol_addresses } = user.verified_addresses;
  const all = [...eth_addresses, ...sol_addresses];
  return (
    <details class="s">
      <summary>
        custody <span class="mono">{shortHex(user.custody_address ?? "unknown")}</span>
        {all.length > 0 && `, ${formatCount(all.length)} verified`}
      </summary>
      <dl class="pairs">
        <dt>Custody</dt>
        <dd>
          <Address text={user.custody_address ?? "unknown"} />
        </dd>
        {all.map((address) => (
          <>
            <dt>Verified</dt>
            <dd>
              <Address text={address} />
            </dd>
          </>
        ))}
        <dt>Registered</dt>
        <dd>{formatMoment(user.registered_at * 1000)}</dd>
      </dl>
    </details>
  );
}

const Address = ({ text }: { text: string }) => (
  <span class="row wrap tight">
    <span class="mono user">{text}</span>
    <CopyButton text={text} />
  </span>
);

/** Who a person is: face, names, what they say of themselves, counts; and the tabs of the page. */
export function Profile({ user, children }: { user: User; children: ComponentChildren }) {
  const name = displayNameOf(user);
  const { bio, location, url } = user.profile;
  const page = pageOfPerson(user);
  return (
    <section class="card profile">
      <div class="pad stack">
        <div class="row id">
          <Face user={user} size={4.5} />
          <div class="grow stack">
            <Heading text={`${plainName(name)} (${handleOf(user)})`}>
              <UserName name={name} />
            </Heading>
            <p class="dim">
              {handleOf(user)} · fid {user.fid}
            </p>
          </div>
          <LoadImages />
        </div>
        {bio.text !== "" && (
          <p class="measure bio">
            <UserText text={bio.text} />
          </p>
        )}
        <div class="row wrap s">
          <a href={`${page}?tab=following`}>
            <b>{formatCount(user.following_count)}</b> following
          </a>
          <a href={`${page}?tab=followers`}>
            <b>{formatCount(user.follower_count)}</b> followers
          </a>
          {user.pro?.status === "subscribed" && <Pill kind="ok">pro</Pill>}
          {url && <Website url={url} />}
          {location && (
            <span class="dim">
              {location.latitude.toFixed(2)}, {location.longitude.toFixed(2)}
            </span>
          )}
        </div>
        <Addresses user={user} />
      </div>
      {children}
    </section>
  );
}

import type { ComponentChildren } from "preact";
import type { Link } from "./link.ts";
import { channelPrefix, displayNameOf, handleOf, nameParts } from "./name.ts";
import { channelPage, pageOfClientUrl, pageOfPerson, personPage } from "./page-paths.ts";
import { type Run, textRuns } from "./runs.ts";

/** The address of a link as it is: its host in bold, then the path. */
export function LinkText({ link }: { link: Link }) {
  return (
    <bdi dir="ltr">
      <b>{link.host}</b>
      {link.rest}
    </bdi>
  );
}

/** A link that a user wrote. A link to a known client opens in the console; any other opens a tab without a reference to this page. */
export function ForeignLink(props: { link: Link; class?: string; children?: ComponentChildren }) {
  const { link, class: className, children } = props;
  const shown = children ?? <LinkText link={link} />;
  const page = pageOfClientUrl(link.href);
  if (page !== undefined)
    return (
      <a href={page} class={className} title={link.href}>
        {shown}
      </a>
    );
  return (
    <a
      href={link.href}
      class={className}
      title={link.href}
      target="_blank"
      rel="noopener noreferrer nofollow ugc"
      referrerpolicy="no-referrer"
    >
      {shown}
    </a>
  );
}

interface Named {
  readonly fid: number;
  readonly username: string;
  readonly display_name?: string | null;
}

/** A name that a user chose, isolated from the surrounding text; invisible characters are shown as marks. */
export function UserName({ name }: { name: string }) {
  return (
    <bdi class="user">
      {nameParts(name).map((part, at) =>
        "text" in part ? (
          part.text
        ) : (
          <span class="mark" role="img" aria-label={part.mark} title={part.mark} key={at} />
        ),
      )}
    </bdi>
  );
}

/** Longer names may have to break to fit into a line. */
const MAX_WHOLE_CHARS = 20;

/** The name of a channel, after its slash, without a line break between the two. */
export function ChannelName({ name }: { name: string }) {
  return (
    <span class={name.length > MAX_WHOLE_CHARS ? undefined : "whole"}>
      {channelPrefix(name)}
      <UserName name={name} />
    </span>
  );
}

/**
 * A person within a line: the display name as a link to their page, and the handle, which distinguishes people of the same name. With
 * `isRow`, Enter on the row opens the page.
 */
export function PersonName({ user, isRow = false }: { user: Named; isRow?: boolean }) {
  const name = displayNameOf(user);
  const handle = handleOf(user);
  return (
    <>
      <a class="name" href={pageOfPerson(user)} title={`fid ${user.fid}`} data-open={isRow || undefined}>
        <UserName name={name} />
      </a>
      {name !== handle && (
        <>
          {" "}
          <span class="dim s handle">{handle}</span>
        </>
      )}
    </>
  );
}

function RunView({ run }: { run: Run }) {
  switch (run.kind) {
    case "text":
      return <>{run.text}</>;
    case "link":
      return <ForeignLink link={run.link} />;
    case "mention":
      return (
        <a href={personPage(run.fid)}>
          <bdi>{run.text}</bdi>
        </a>
      );
    case "channel":
      return (
        <a href={channelPage(run.id)}>
          <bdi>{run.text}</bdi>
        </a>
      );
  }
}

/** Text that a person wrote, in a separate box, with its links, mentions and channels. `runs` is given if the text has mentions. */
export function UserText({ text, runs = textRuns(text) }: { text: string; runs?: readonly Run[] }) {
  return (
    <bdi class="user">
      {runs.map((run, at) => (
        <RunView run={run} key={at} />
      ))}
    </bdi>
  );
}

import { pageOfPerson } from "./client-urls.ts";
import { channelPrefix, displayNameOf, handleOf, nameParts } from "./name.ts";

interface Named {
  readonly fid: number;
  readonly username: string;
  readonly display_name?: string | null;
}

/** A name that a user chose, isolated from the text around it; characters that would be invisible are drawn as marks. */
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

/** The name of a channel, behind its slash. */
export function ChannelName({ name }: { name: string }) {
  return (
    <>
      {channelPrefix(name)}
      <UserName name={name} />
    </>
  );
}

/**
 * A person within a line: displayed name as a link to their page, and the handle, which is different for two people of the same
 * name. With `isRow` Enter on the row opens the page.
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

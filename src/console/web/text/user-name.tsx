import { displayNameOf, handleOf, nameParts } from "./name.ts";

interface Named {
  readonly fid: number;
  readonly username: string;
  readonly display_name?: string | null;
}

/** A name that somebody chose, isolated from the text around it; characters that would be invisible are drawn. */
export function UserName({ name }: { name: string }) {
  return (
    <bdi class="user">
      {nameParts(name).map((part) =>
        "text" in part ? (
          part.text
        ) : (
          <span class="mark" title={part.mark}>
            ◌
          </span>
        ),
      )}
    </bdi>
  );
}

/** A person in a row: displayed name as a link to their page, and the handle that tells two of the same name apart. */
export function PersonName({ user }: { user: Named }) {
  const path = user.username.startsWith("!") ? `${user.fid}` : encodeURIComponent(user.username);
  return (
    <>
      <a class="name" href={`/console/people/${path}`}>
        <UserName name={displayNameOf(user)} />
      </a>
      <span class="dim s handle">
        <UserName name={handleOf(user)} />
      </span>
    </>
  );
}

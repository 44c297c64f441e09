import type { User } from "../data/objects.ts";
import { PersonName } from "../text/user-name.tsx";
import { UserText } from "../text/user-text.tsx";
import { Face } from "./face.tsx";

/** A person as a row of a list: face, name, handle, and what they say of themselves. */
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

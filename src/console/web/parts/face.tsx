import { displayNameOf, initialOf } from "../text/name.ts";

interface Faced {
  readonly fid: number;
  readonly username: string;
  readonly display_name?: string | null;
}

/** A face made from the fid, so that a page is friendly without one remote image. `size` in rem. */
export function Face({ user, size = 2.5 }: { user: Faced; size?: number }) {
  return (
    <span
      class="face"
      aria-hidden="true"
      style={{ "--h": String((user.fid * 47) % 360), "--d": `${size}rem` }}
    >
      {initialOf(displayNameOf(user))}
    </span>
  );
}

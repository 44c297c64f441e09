import { useState } from "preact/hooks";
import { areImagesLoaded } from "../data/images.ts";
import { imageUrl } from "../text/link.ts";
import { displayNameOf, initialOf } from "../text/name.ts";

interface Faced {
  readonly fid: number;
  readonly username: string;
  readonly display_name?: string | null;
  readonly pfp_url?: string | null;
}

/**
 * A face made from the fid, so that a page is friendly without one remote image. `size` in rem. A picture that the person chose covers
 * it in a document that may load images of other hosts.
 */
export function Face({ user, size = 2.5 }: { user: Faced; size?: number }) {
  const [isBroken, setBroken] = useState(false);
  const picture = areImagesLoaded && !isBroken ? imageUrl(user.pfp_url) : undefined;
  return (
    <span
      class="face"
      aria-hidden="true"
      style={{ "--h": String((user.fid * 47) % 360), "--d": `${size}rem` }}
    >
      {picture === undefined ? (
        initialOf(displayNameOf(user))
      ) : (
        <img
          src={picture}
          alt=""
          width={size * 16}
          height={size * 16}
          loading="lazy"
          decoding="async"
          referrerpolicy="no-referrer"
          onError={() => setBroken(true)}
        />
      )}
    </span>
  );
}

import { PageHead } from "../parts/page-head.tsx";

/** A path that the console does not have. */
export function NotFound() {
  return (
    <>
      <PageHead title="There is no such page" />
      <p>
        Go to <a href="/console">Explore</a>, or search for a person, a cast or a channel above.
      </p>
    </>
  );
}

import { Region, type RegionProps } from "../parts/region.tsx";
import { owner } from "./owner.ts";
import type { Prompted } from "./use-owner-query.ts";

/** A region of the owner's data. Without a session it stands for a button that costs a prompt of the wallet. */
export function OwnerRegion<T>({ prompted, ...props }: RegionProps<T> & { readonly prompted: Prompted }) {
  const { query } = props;
  // Without a session "Try again" opens a prompt, which the owner asks for by the click.
  const { data, error, isStale, loadedAtMs } = query;
  const refresh = () => (owner.peek()?.session ? query.refresh() : prompted.ask());
  if (!prompted.costsPrompt)
    return <Region {...props} query={{ data, error, isStale, loadedAtMs, refresh }} />;
  return (
    <section class="card region">
      <header>
        <h2 class="grow">{props.title}</h2>
      </header>
      <div class="empty row wrap">
        <span class="grow">Without a session, each look costs one signature of your wallet.</span>
        <button type="button" class="btn" onClick={prompted.ask}>
          Sign and show
        </button>
      </div>
    </section>
  );
}

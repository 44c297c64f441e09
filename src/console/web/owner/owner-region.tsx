import { Region, type RegionProps } from "../parts/region.tsx";
import type { Prompted } from "./use-owner-query.ts";

/** A region of the owner's data. Without a session it stands for a button that costs a prompt of the wallet. */
export function OwnerRegion<T>({ prompted, ...props }: RegionProps<T> & { readonly prompted: Prompted }) {
  if (!prompted.costsPrompt) return <Region {...props} />;
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

import { plural } from "../../data/format.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { type CampaignDetails, isUnderWay } from "./campaign.ts";

/** The people whose client asked to wait, once the campaign is over. */
export function RetryCard({ campaign, onSend }: { campaign: CampaignDetails; onSend: () => void }) {
  const { retryable_fids: fids } = campaign;
  if (isUnderWay(campaign) || fids.length === 0) return null;
  return (
    <section class="card" aria-labelledby="retry">
      <header>
        <h2 class="grow" id="retry">
          {plural(fids.length, "person", "people")} can get it later
        </h2>
        <CopyButton text={fids.join(", ")} label="Copy their fids" />
      </header>
      <div class="pad stack">
        <p>Their client asked to wait. Nobody who has the notification gets it twice.</p>
        <div>
          <button type="button" class="btn go" onClick={onSend}>
            Send to those again
          </button>
        </div>
      </div>
    </section>
  );
}

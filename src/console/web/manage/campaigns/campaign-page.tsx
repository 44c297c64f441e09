import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { leaveDraft } from "../../data/draft.ts";
import { DemoPhones } from "../../demo/phones.tsx";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { useOwnerQuery } from "../../owner/use-owner-query.ts";
import { announce } from "../../parts/announcer.tsx";
import { useIsPaused } from "../../parts/paused-notice.tsx";
import { WhileFresh } from "../../parts/silence.tsx";
import { plainName } from "../../text/name.ts";
import { APPS_PATH, type App, appCall, appPath } from "../apps/app.ts";
import { NotificationPreview } from "../apps/notification-preview.tsx";
import { draftName } from "../apps/send-draft.ts";
import { ManagePage } from "../manage-page.tsx";
import { type CampaignDetails, draftOf, isUnderWay, type Progress, progressOf } from "./campaign.ts";
import { campaignCall } from "./campaign-calls.ts";
import { CampaignState } from "./campaign-state.tsx";
import { HostResults } from "./host-results.tsx";
import { ProgressCard } from "./progress-card.tsx";
import { RetryCard } from "./retry-card.tsx";

const WATCH_MS = 1000;

function useCampaign(campaignId: string) {
  // The answer decides whether there is anything to wait for: before it, nothing is asked again.
  const [isWatched, setWatched] = useState(false);
  const query = useOwnerQuery<{ campaign: CampaignDetails }>(campaignCall(campaignId), {
    everyMs: isWatched ? WATCH_MS : undefined,
  });
  const campaign = query.data?.campaign;
  const isGoingOn = campaign !== undefined && isUnderWay(campaign);
  useEffect(() => setWatched(isGoingOn), [isGoingOn]);
  return query;
}

function Campaign({
  campaign,
  app,
  loadedAtMs,
  onSend,
}: {
  campaign: CampaignDetails;
  app: App | undefined;
  loadedAtMs: number | undefined;
  onSend: () => void;
}) {
  const shown = useRef<Progress | undefined>(undefined);
  shown.current = progressOf(campaign, shown.current);
  const isPaused = useIsPaused("sends");
  const { app_id, notification } = campaign;
  return (
    <div class="stack">
      <ProgressCard
        campaign={campaign}
        progress={shown.current}
        loadedAtMs={loadedAtMs}
        isPaused={isPaused}
      />
      <RetryCard campaign={campaign} onSend={onSend} />
      <HostResults campaign={campaign} />
      <div class="split even">
        <NotificationPreview
          appId={app_id}
          appName={app?.name ?? notification.title}
          title={notification.title}
          body={notification.body}
        />
        <DemoPhones appId={app_id} appName={app?.name} notificationId={notification.uuid} />
      </div>
    </div>
  );
}

function CampaignPage({ campaignId }: { campaignId: string }) {
  const { route } = useLocation();
  const query = useCampaign(campaignId);
  const campaign = query.data?.campaign;
  const app = useOwnerQuery<{ app: App }>(campaign && appCall(campaign.app_id)).data?.app;
  const title = campaign ? plainName(campaign.notification.title) : "Campaign";
  function sendAgain(to: "everyone" | "retryable") {
    if (!campaign) return;
    // Without its draft the form would be one to everybody.
    if (!leaveDraft(draftName(campaign.app_id), draftOf(campaign, to)))
      return announce(
        "This browser cannot keep so long a list. Copy the fids, and send to a part of them at a time.",
      );
    route(appPath(campaign.app_id, "send"));
  }
  const appCrumb = campaign && {
    label: app ? plainName(app.name) : "App",
    href: appPath(campaign.app_id, "campaigns"),
  };
  return (
    <ManagePage
      title={title}
      crumbs={[{ label: "Mini apps", href: APPS_PATH }, ...(appCrumb ? [appCrumb] : [])]}
      actions={
        <>
          {campaign && <CampaignState campaign={campaign} />}
          <button
            type="button"
            class="btn"
            aria-disabled={campaign === undefined}
            onClick={() => sendAgain("everyone")}
          >
            Duplicate
          </button>
        </>
      }
    >
      {() => (
        <>
          {(!campaign || query.error) && (
            <OwnerRegion title="The campaign" call={campaignCall(campaignId)} query={query} prompted={query}>
              {() => <p class="pad dim">Below are the last figures that the node gave.</p>}
            </OwnerRegion>
          )}
          {campaign && (
            <WhileFresh query={query}>
              <Campaign
                campaign={campaign}
                app={app}
                loadedAtMs={query.loadedAtMs}
                onSend={() => sendAgain("retryable")}
              />
            </WhileFresh>
          )}
        </>
      )}
    </ManagePage>
  );
}

/** One campaign, also while it runs. */
export function Page() {
  const { params } = useRoute();
  const campaignId = params.id ?? "";
  return <CampaignPage campaignId={campaignId} key={campaignId} />;
}

import { useRef } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { useIsPaused } from "../../content/node-state.tsx";
import { NotificationPreview } from "../../content/notification.tsx";
import { leaveDraft } from "../../data/draft.ts";
import { DemoPhones } from "../../demo/phones.tsx";
import { OwnerRegion, useOwnerQuery, useWhileDue } from "../../owner/owner-data.tsx";
import { announce, CopyButton } from "../../parts/copy.tsx";
import { Card, WhileFresh } from "../../parts/region.tsx";
import * as msg from "../../text/en/manage/apps.ts";
import { plainName } from "../../text/name.ts";
import { ManagePage } from "../manage-page.tsx";
import { APPS_PATH, type App, appCall, appPath } from "./apps.tsx";
import {
  type CampaignDetails,
  draftName,
  draftOfCampaign,
  isUnderWay,
  type Progress,
  progressOf,
} from "./campaign.ts";
import { CampaignState, campaignCall, HostResults, ProgressCard } from "./campaign-results.tsx";
import { OpenResults, resultsCall } from "./open-results.tsx";
import { schedulePath } from "./scheduled.tsx";

const WATCH_MS = 1000;

/** The people whose client asked to wait, once the campaign has ended. */
function RetryCard({ campaign, onSend }: { campaign: CampaignDetails; onSend: () => void }) {
  const { retryable_fids: fids } = campaign;
  if (isUnderWay(campaign) || fids.length === 0) return null;
  const people = msg.countPeople(fids.length);
  return (
    <Card
      title={msg.canGetItLater(people)}
      aside={<CopyButton text={fids.join(", ")} label={msg.copyTheirFids} />}
    >
      <p>{msg.theirClientAskedToSendLater}</p>
      <div>
        <button type="button" class="btn go" onClick={onSend}>
          {msg.retry(people)}
        </button>
      </div>
    </Card>
  );
}

function Campaign(props: {
  campaign: CampaignDetails;
  app: App | undefined;
  loadedAtMs: number | undefined;
  onSend: () => void;
}) {
  const { campaign, app, loadedAtMs, onSend } = props;
  const shown = useRef<Progress | undefined>(undefined);
  shown.current = progressOf(campaign, shown.current);
  const isPaused = useIsPaused("sends");
  const { app_id, campaign_id, notification } = campaign;
  const opens = useOwnerQuery(resultsCall({ campaign_id }));
  const { schedule_id } = campaign;
  return (
    <div class="stack">
      {schedule_id !== null && (
        <p>{msg.partOf(<a href={schedulePath(app_id, schedule_id)}>{msg.aScheduledSend}</a>)}</p>
      )}
      <ProgressCard
        campaign={campaign}
        progress={shown.current}
        loadedAtMs={loadedAtMs}
        isPaused={isPaused}
      />
      <RetryCard campaign={campaign} onSend={onSend} />
      <HostResults campaign={campaign} />
      <OpenResults of={{ campaign_id }} />
      <div class="split even">
        <NotificationPreview
          appId={app_id}
          appName={app?.name ?? notification.title}
          title={notification.title}
          body={notification.body}
        />
        <DemoPhones
          appId={app_id}
          appName={app?.name}
          notificationId={notification.uuid}
          onOpened={() => opens.refresh()}
        />
      </div>
    </div>
  );
}

function CampaignPage({ campaignId }: { campaignId: string }) {
  const { route } = useLocation();
  const query = useWhileDue(campaignCall(campaignId), ({ campaign }) => isUnderWay(campaign), {
    dueMs: WATCH_MS,
  });
  const campaign = query.data?.campaign;
  const app = useOwnerQuery(campaign && appCall(campaign.app_id)).data?.app;
  function sendAgain(to: "everyone" | "retryable") {
    if (!campaign) return;
    // Without its draft, the form would send to everyone.
    if (!leaveDraft(draftName(campaign.app_id), draftOfCampaign(campaign, to)))
      return announce(msg.thisBrowserCannotStoreSoLong);
    route(appPath(campaign.app_id, "send"));
  }
  const appCrumb = campaign && {
    label: app ? plainName(app.name) : msg.app,
    href: appPath(campaign.app_id, "campaigns"),
  };
  return (
    <ManagePage
      title={campaign ? plainName(campaign.notification.title) : msg.campaign}
      crumbs={[{ label: msg.miniApps, href: APPS_PATH }, ...(appCrumb ? [appCrumb] : [])]}
      actions={
        <>
          {campaign && <CampaignState campaign={campaign} />}
          <button
            type="button"
            class="btn"
            aria-disabled={campaign === undefined}
            onClick={() => sendAgain("everyone")}
          >
            {msg.duplicate}
          </button>
        </>
      }
    >
      {() => (
        <>
          {(!campaign || query.error) && (
            <OwnerRegion title={msg.campaign} query={query}>
              {() => <p class="pad dim">{msg.belowAreTheLastFiguresFrom}</p>}
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

/** One campaign, even while it runs. */
export function Page() {
  const { params } = useRoute();
  const campaignId = params.id ?? "";
  return <CampaignPage campaignId={campaignId} key={campaignId} />;
}

import { Face } from "../content/face.tsx";
import { get } from "../data/call.ts";
import { useQuery } from "../data/query.ts";
import { Icon, type IconName } from "../icons/icons.tsx";
import { useOwnIncidents } from "../notices/own-incidents.ts";
import { ActionButton, useAction } from "../owner/action.tsx";
import { leave } from "../owner/connection.ts";
import { type Owner, owner } from "../owner/owner.ts";
import { apiPrefix, pageConfig } from "../page-config.ts";
import { Pill } from "../parts/pill.tsx";
import { Skeleton } from "../parts/region.tsx";
import { SinceCard } from "../status/since.tsx";
import * as msg from "../text/en/manage/manage.ts";
import { formatExact, formatMoment } from "../text/format.ts";
import { displayNameOf, handleOf } from "../text/name.ts";
import { UserName } from "../text/user-text.tsx";
import { ManagePage } from "./manage-page.tsx";

const DOORS: readonly { href: string; icon: IconName; title: string; text: string }[] = [
  {
    href: "/console/manage/apps",
    icon: "bell",
    title: msg.miniApps,
    text: msg.theirAudienceAndPushesToIt,
  },
  {
    href: "/console/manage/webhooks",
    icon: "webhook",
    title: msg.webhooks,
    text: msg.eventsAtYourServerAsThey,
  },
  {
    href: "/console/manage/keys",
    icon: "code",
    title: msg.apiKeys,
    text: msg.forProgramsThatWriteOrThat,
  },
  {
    href: "/console/manage/signers",
    icon: "wallet",
    title: msg.signers,
    text: msg.keysThatLetYourAppsAct,
  },
  {
    href: "/console/manage/login",
    icon: "person",
    title: msg.signIn,
    text: msg.appsWhoseVisitorsSignInHere,
  },
  {
    href: "/console/manage/notices",
    icon: "broadcast",
    title: msg.notices,
    text: msg.whatHappensToYourRecords,
  },
  {
    href: "/console/manage/activity",
    icon: "recast",
    title: msg.activity,
    text: msg.whatChangedAndWhoIsSignedIn,
  },
];

/** The number of open incidents of the owner's records. */
function OpenIncidents() {
  const incidents = useOwnIncidents().data?.incidents ?? [];
  const open = incidents.filter(({ state }) => state !== "resolved").length;
  if (open === 0) return null;
  return (
    <a href="/console/manage/notices">
      <Pill kind="bad">{msg.openIncidents(open)}</Pill>
    </a>
  );
}

function Who({ current }: { current: Owner }) {
  const { data, error } = useQuery(get("/user", { fid: current.fid }));
  const { session, fid } = current;
  const action = useAction();
  // Two lines, because a name may need a second one.
  if (!data && !error)
    return (
      <section class="card">
        <Skeleton rows={1} />
      </section>
    );
  const user = data?.user ?? { fid, username: String(fid), display_name: null };
  return (
    <section class="card pad stack" aria-label={msg.signedInAs}>
      <div class="row wrap">
        <Face user={user} size={3} />
        <div class="grow roomy">
          <p>
            <b>
              <UserName name={displayNameOf(user)} />
            </b>{" "}
            <span class="dim">{msg.userAndFid(handleOf(user), fid)}</span>
          </p>
          <p class="xs mono dim user">{current.address}</p>
        </div>
        <OpenIncidents />
        {current.isDemo && <Pill kind="warn">{msg.demoPerson}</Pill>}
        <ActionButton action={action} onClick={() => action.run(() => leave().then(() => undefined))}>
          {msg.signOut}
        </ActionButton>
      </div>
      {session && (
        <p class="s dim">
          {msg.thisBrowserForFidUntilSign(
            session.access === "operate" ? msg.readsTestsAndReplays : msg.reads,
            fid,
            <time
              dateTime={new Date(session.expiresAt * 1000).toISOString()}
              title={formatExact(session.expiresAt * 1000)}
            >
              {formatMoment(session.expiresAt * 1000)}
            </time>,
          )}
        </p>
      )}
      {!current.wallet && session && <p class="s dim">{msg.isNotOpenInThisBrowser(current.walletName)}</p>}
    </section>
  );
}

/** Connecting, choosing the fid, the session, and links to the other pages. */
export function Page() {
  return (
    <ManagePage title={owner.value ? msg.manage : msg.manageWhatIsYours}>
      {(current) => (
        <>
          {pageConfig.history && <SinceCard path={`${apiPrefix}/history/since`} />}
          <Who current={current} />
          <div class="split even doors">
            {DOORS.map(({ href, icon, title, text }) => (
              <a class="card door" href={href} key={href}>
                <Icon name={icon} size={22} />
                <h2>{title}</h2>
                <p class="dim">{text}</p>
              </a>
            ))}
          </div>
        </>
      )}
    </ManagePage>
  );
}

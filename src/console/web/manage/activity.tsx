import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Schemas } from "../data/call.ts";
import { listOf } from "../data/pages.ts";
import { Outcome, useAction } from "../owner/action.tsx";
import { runOperation } from "../owner/operation.ts";
import { dropSession, noSessionReason, owner } from "../owner/owner.ts";
import { OwnerRegion, useOwnerPages, useOwnerQuery } from "../owner/owner-data.tsx";
import { sessionRequest } from "../owner/session-request.ts";
import { signed } from "../owner/signed-call.ts";
import { Pill, Time } from "../parts/pill.tsx";
import * as msg from "../text/en/manage/manage.ts";
import { formatMoment, shortHex } from "../text/format.ts";
import { plainName } from "../text/name.ts";
import { UserName } from "../text/user-text.tsx";
import { auditWords } from "./audit-words.ts";
import { ManagePage } from "./manage-page.tsx";

type Session = Schemas["Session"];
type AuditEntry = Schemas["AuditEntry"];

const SESSIONS = signed("GET /session/list");
const AUDIT = {
  everything: signed("GET /audit", { query: { limit: 25 } }),
  records: signed("GET /audit", { query: { of: "records", limit: 25 } }),
} as const;
type AuditSelection = keyof typeof AUDIT;

/** Ends a session: that of this browser with its own key, any other with the wallet. */
async function endSession({ session_id: id, label }: Session): Promise<void> {
  const call = signed("DELETE /session", { query: { session_id: id } });
  if (id === owner.peek()?.session?.id) {
    await sessionRequest(call);
    await dropSession();
    return;
  }
  await runOperation({
    ...call,
    title: msg.endASession,
    words: msg.theSessionEndsAtOnceOn(plainName(label)),
  });
}

const endAll = () =>
  runOperation({
    ...signed("DELETE /session", { query: { all: true } }),
    title: msg.endAllSessions,
    words: msg.everySessionOfYourFidEnds,
  }).then(dropSession);

function SessionRow(props: { session: Session; isThisBrowser: boolean; onEnd: () => void }) {
  const { session, isThisBrowser, onEnd } = props;
  const { label, access, origin, created_at, expires_at, last_used_at } = session;
  return (
    <li class="row wrap">
      <div class="grow">
        <p class="row wrap tight">
          <b>
            <UserName name={label} />
          </b>
          {isThisBrowser && <Pill kind="acc">{msg.thisBrowser}</Pill>}
        </p>
        <p class="s dim user">
          {msg.canOnStartedEnds(
            access === "operate" ? msg.readTestReplayEnableAndDisable : msg.read,
            <bdi>{origin}</bdi>,
            <Time ago at={created_at} />,
            last_used_at === null ? msg.notUsedYet : msg.lastUsed,
            last_used_at !== null && <Time ago at={last_used_at} />,
            formatMoment(expires_at * 1000),
          )}
        </p>
      </div>
      <button type="button" class="btn" onClick={onEnd}>
        {msg.end(<span class="skip">{msg.theSession(plainName(label))}</span>)}
      </button>
    </li>
  );
}

function Sessions() {
  const sessions = useOwnerQuery(SESSIONS);
  const action = useAction();
  const current = owner.value?.session?.id;
  const end = (work: () => Promise<unknown>) =>
    action.run(async () => {
      await work();
      sessions.refresh();
      return undefined;
    });
  return (
    <OwnerRegion
      title={msg.sessions}
      query={sessions}
      aside={
        <button type="button" class="btn bad" onClick={() => void end(endAll)}>
          {msg.endAll}
        </button>
      }
      isEmpty={(data) => data.sessions.length === 0}
      empty={<p>{msg.noSessionsYourWalletSignsEvery}</p>}
    >
      {(data) => (
        <>
          <Outcome action={action} />
          <ul class="entries">
            {data.sessions.map((session) => (
              <SessionRow
                key={session.session_id}
                session={session}
                isThisBrowser={session.session_id === current}
                onEnd={() => void end(() => endSession(session))}
              />
            ))}
          </ul>
        </>
      )}
    </OwnerRegion>
  );
}

function subjectOf({ action, api_key_id, signer_uuid, hash, fid, record_id }: AuditEntry): string {
  const parts = [
    record_id && `${action.startsWith("app.") ? record_id : record_id.slice(0, 8)}`,
    api_key_id && msg.key(api_key_id),
    signer_uuid && msg.signer(signer_uuid.slice(0, 8)),
    fid !== null && msg.forFid(fid),
    hash && msg.message(shortHex(hash)),
  ];
  return parts.filter(Boolean).join(", ");
}

function AuditRow({ entry }: { entry: AuditEntry }) {
  const { action, outcome, at, address, request_id } = entry;
  const subject = subjectOf(entry);
  return (
    <li>
      <p class="row wrap">
        <span class="grow">
          {auditWords(action)}
          {subject !== "" && <span class="s dim"> · {subject}</span>}
        </span>
        {outcome !== "ok" && <Pill kind="bad">{msg.refused(outcome.replaceAll("_", " "))}</Pill>}
        <Time at={at} />
      </p>
      <p class="xs mono dim user">{msg.fromRequest(address, request_id)}</p>
    </li>
  );
}

function Audit() {
  const { query, route, path } = useLocation();
  const selection: AuditSelection = query.of === "records" ? "records" : "everything";
  const call = AUDIT[selection];
  const pages = useOwnerPages(call, listOf("entries"));
  const session = owner.value?.session?.id;
  // A list from an earlier visit lacks what has happened since.
  useEffect(() => {
    if (session !== undefined && pages.items !== undefined) pages.refresh();
  }, [session]);
  return (
    <OwnerRegion
      title={msg.auditLog}
      query={pages}
      aside={
        <label class="row tight s choices">
          <span class="dim">{msg.show}</span>
          <select
            name="of"
            value={selection}
            onChange={(event) =>
              route(event.currentTarget.value === "records" ? `${path}?of=records` : path, true)
            }
          >
            <option value="everything">{msg.everything}</option>
            <option value="records">{msg.miniAppsAndWebhooks}</option>
          </select>
        </label>
      }
      isEmpty={(entries) => entries.length === 0}
      empty={
        <p>
          {msg.noEntriesYetHereYouWill(
            selection === "records" ? msg.theChangesOfYourMiniApps : msg.theChangesOfYourHasSigned,
          )}
        </p>
      }
    >
      {(entries) => (
        <>
          <ul class="entries">
            {entries.map((entry, at) => (
              <AuditRow entry={entry} key={`${entry.request_id} ${entry.action} ${at}`} />
            ))}
          </ul>
          <p class="pad s dim">
            {msg.theLogHasChangesAndSigned(
              <a href="/console/manage/apps">{msg.miniApp}</a>,
              <a href="/console/manage/webhooks">{msg.webhook}</a>,
            )}
          </p>
        </>
      )}
    </OwnerRegion>
  );
}

/** The owner's sessions and audit log. */
export function Page() {
  return (
    <ManagePage title={msg.activity}>
      {() => (
        <>
          {noSessionReason() === undefined && <Sessions />}
          <Audit />
        </>
      )}
    </ManagePage>
  );
}

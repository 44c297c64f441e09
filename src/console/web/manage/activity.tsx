import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type Call, get } from "../data/call.ts";
import { formatMoment, shortHex } from "../data/format.ts";
import { runOperation } from "../owner/operation.ts";
import { dropSession, noSessionReason, owner } from "../owner/owner.ts";
import { OwnerRegion } from "../owner/owner-region.tsx";
import { sessionRequest } from "../owner/session-request.ts";
import { type OwnerPages, useOwnerPages, useOwnerQuery } from "../owner/use-owner-query.ts";
import { apiPrefix } from "../page-config.ts";
import { LoadMore, pagesAsQuery } from "../parts/load-more.tsx";
import { Pill } from "../parts/pill.tsx";
import { Time } from "../parts/time.tsx";
import { plainName } from "../text/name.ts";
import { UserName } from "../text/user-name.tsx";
import { Outcome, useAction } from "./action.tsx";
import { auditWords } from "./audit-words.ts";
import { ManagePage } from "./manage-page.tsx";

interface Session {
  readonly session_id: string;
  readonly access: "read" | "operate";
  readonly label: string;
  readonly origin: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly last_used_at: number | null;
}

interface AuditEntry {
  readonly at: number;
  readonly action: string;
  readonly outcome: string;
  readonly fid: number | null;
  readonly api_key_id: string | null;
  readonly signer_uuid: string | null;
  readonly hash: string | null;
  readonly record_id: string | null;
  readonly request_id: string;
  readonly address: string;
}

const signed = (call: Call, op: string, cli: string) => ({ ...call, op, cli });
const SESSIONS = signed(get("/session/list"), "session.read", "session list");
const AUDIT = {
  everything: signed(get("/audit", { limit: 25 }), "audit.read", "audit --limit 25"),
  records: signed(get("/audit", { of: "records", limit: 25 }), "audit.read", "audit --records --limit 25"),
} as const;
type AuditSelection = keyof typeof AUDIT;

/** Ends a session: this browser's by its own key, another one by the wallet. */
async function endSession({ session_id: id, label }: Session): Promise<void> {
  const call = {
    method: "DELETE",
    path: `${apiPrefix}/session?session_id=${id}`,
    op: "session.delete",
  } as const;
  if (id === owner.peek()?.session?.id) {
    await sessionRequest(call);
    await dropSession();
    return;
  }
  await runOperation({
    ...call,
    title: "End a session",
    words: `The session “${plainName(label)}” ends at once, on every node. Whoever uses it has to sign again.`,
    cli: `session end ${id}`,
  });
}

const endAll = () =>
  runOperation({
    method: "DELETE",
    path: `${apiPrefix}/session?all=true`,
    op: "session.delete",
    title: "End all sessions",
    words: "Every session of your fid ends at once, also the one of this browser.",
    cli: "session end --all",
  }).then(dropSession);

function SessionRow({
  session,
  isThisBrowser,
  onEnd,
}: {
  session: Session;
  isThisBrowser: boolean;
  onEnd: () => void;
}) {
  const { label, access, origin, created_at, expires_at, last_used_at } = session;
  return (
    <li class="row wrap">
      <div class="grow">
        <p class="row wrap tight">
          <b>
            <UserName name={label} />
          </b>
          {isThisBrowser && <Pill kind="acc">this browser</Pill>}
        </p>
        <p class="s dim user">
          May {access === "operate" ? "read, test, replay and switch webhooks" : "read"}, on{" "}
          <bdi>{origin}</bdi>. Started <Time ago at={created_at} />
          {last_used_at === null ? ", not used yet" : ", last used "}
          {last_used_at !== null && <Time ago at={last_used_at} />}, ends {formatMoment(expires_at * 1000)}.
        </p>
      </div>
      <button type="button" class="btn" onClick={onEnd}>
        End<span class="skip"> the session {plainName(label)}</span>
      </button>
    </li>
  );
}

function Sessions() {
  const sessions = useOwnerQuery<{ sessions: readonly Session[] }>(SESSIONS);
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
      title="Sessions"
      call={SESSIONS}
      query={sessions}
      prompted={sessions}
      aside={
        <button type="button" class="btn bad" onClick={() => void end(endAll)}>
          End all
        </button>
      }
      isEmpty={(data) => data.sessions.length === 0}
      empty={<p>No session of your fid is open. Every request is signed by your wallet.</p>}
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

const entriesOf = (body: { entries: readonly AuditEntry[]; next: { cursor: string | null } }) => ({
  items: body.entries,
  next: body.next.cursor,
});

function subjectOf({ action, api_key_id, signer_uuid, hash, fid, record_id }: AuditEntry): string {
  const parts = [
    record_id && `${action.startsWith("app.") ? record_id : record_id.slice(0, 8)}`,
    api_key_id && `key ${api_key_id}`,
    signer_uuid && `signer ${signer_uuid.slice(0, 8)}`,
    fid !== null && `for fid ${fid}`,
    hash && `message ${shortHex(hash)}`,
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
        {outcome !== "ok" && <Pill kind="bad">refused: {outcome.replaceAll("_", " ")}</Pill>}
        <Time at={at} />
      </p>
      <p class="xs mono dim user">
        from {address}, request {request_id}
      </p>
    </li>
  );
}

function Audit() {
  const { query, route, path } = useLocation();
  const of: AuditSelection = query.of === "records" ? "records" : "everything";
  const call = AUDIT[of];
  const pages: OwnerPages<AuditEntry> = useOwnerPages(call, entriesOf);
  const session = owner.value?.session?.id;
  // A list of an earlier visit does not know what was done since.
  useEffect(() => {
    if (session !== undefined && pages.items !== undefined) pages.refresh();
  }, [session]);
  return (
    <OwnerRegion
      title="What was done"
      call={call}
      query={pagesAsQuery(pages)}
      prompted={pages}
      aside={
        <label class="row tight s choices">
          <span class="dim">Show</span>
          <select
            name="of"
            value={of}
            onChange={(event) =>
              route(event.currentTarget.value === "records" ? `${path}?of=records` : path, true)
            }
          >
            <option value="everything">everything</option>
            <option value="records">mini apps and webhooks</option>
          </select>
        </label>
      }
      isEmpty={(entries) => entries.length === 0}
      empty={
        <p>
          Nothing yet. Here stand{" "}
          {of === "records"
            ? "the changes of your mini apps and webhooks"
            : "the changes of your mini apps, webhooks, API keys, signers and sessions and every message that a signer of yours has signed"}
          , for 400 days.
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
          <LoadMore pages={pages} />
          <p class="pad s dim">
            The log is of changes and signed messages, for 400 days. What was sent and delivered is with each{" "}
            <a href="/console/manage/apps">mini app</a> and <a href="/console/manage/webhooks">webhook</a>.
          </p>
        </>
      )}
    </OwnerRegion>
  );
}

/** Sessions and audit log of the owner. */
export function Page() {
  return (
    <ManagePage title="Activity">
      {() => (
        <>
          {noSessionReason() === undefined && <Sessions />}
          <Audit />
        </>
      )}
    </ManagePage>
  );
}

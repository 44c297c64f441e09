import { useState } from "preact/hooks";
import { get, type ResponseOf } from "../../data/call.ts";
import { useQuery } from "../../data/query.ts";
import { useOwnerQuery } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { Card, Region } from "../../parts/region.tsx";
import * as msg from "../../text/en/manage/apps.ts";
import { UserText } from "../../text/user-text.tsx";
import type { App } from "./apps.tsx";

type Report = ResponseOf<"GET /frame/manifest">;

const TONES = { error: "bad", warning: "warn", info: undefined } as const;

function Findings({ report: { account_association: association, findings } }: { report: Report }) {
  return (
    <div class="pad stack">
      <p>
        <b>{association?.valid ? msg.signedByFid(association.fid ?? 0) : msg.nobodysSignatureHolds}</b>
      </p>
      {findings.length === 0 && <p class="s">{msg.nothingToFix}</p>}
      <ul class="stack tight s" data-findings>
        {findings.map(({ severity, path, code, message }) => (
          <li key={`${path} ${code} ${message}`} data-tone={TONES[severity]}>
            <b>{msg.severities[severity]}</b> {path !== "" && <code>{path}</code>} <UserText text={message} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What clients find wrong with an app's manifest, on the owner's request. The node fetches it. */
export function ManifestCheck({ app: { app_url }, note }: { app: App; note?: string }) {
  const [isAsked, setAsked] = useState(false);
  const domain = URL.parse(app_url)?.hostname ?? "";
  const call = get("/frame/manifest", { domain });
  const query = useQuery(isAsked ? call : undefined);
  if (isAsked)
    return (
      <Region title={msg.manifest} call={call} query={query}>
        {(report) => <Findings report={report} />}
      </Region>
    );
  return (
    <Card title={msg.manifest}>
      <p class="s">{note ?? msg.theNodeReadsTheManifestOf(domain)}</p>
      <p>
        <button type="button" class="btn" onClick={() => setAsked(true)}>
          {msg.checkTheManifest}
        </button>
      </p>
    </Card>
  );
}

/** The same check before the first notification of an app; renders nothing once it has sent one. */
export function FirstSendCheck({ app }: { app: App }) {
  const call = signed("GET /frame/app/campaigns", { query: { app_id: app.app_id, limit: 1 } });
  const { data } = useOwnerQuery(call);
  if (data?.campaigns.length !== 0) return null;
  return <ManifestCheck app={app} note={msg.thisAppHasNotSentYet} />;
}

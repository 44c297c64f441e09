import type { ChannelReport } from "../../../notices/report.ts";
import { useCheckTexts } from "../content/check-texts.ts";
import type { Schemas } from "../data/call.ts";
import { type ChannelChanges, Channels } from "../notices/channels.tsx";
import { asReport, type OwnIncident, useOwnIncidents } from "../notices/own-incidents.ts";
import { ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { runOperation } from "../owner/operation.ts";
import { OwnerRegion, useOwnerQuery } from "../owner/owner-data.tsx";
import { sessionRequest } from "../owner/session-request.ts";
import { signed } from "../owner/signed-call.ts";
import { IncidentRow } from "../status/incidents.tsx";
import * as incidentMsg from "../text/en/incidents.ts";
import * as msg from "../text/en/operator/notices.ts";
import { saidIn } from "../text/format.ts";
import { plainName } from "../text/name.ts";
import { ManagePage } from "./manage-page.tsx";

const EVERY_MS = 15_000;

type OwnChannel = Schemas["NoticeChannel"];

const reportOf = ({ channel_id: id, ...channel }: OwnChannel): ChannelReport => ({ id, ...channel });

/** @param pushKey the key from the list of channels. */
const changesOf = (pushKey: string | null): ChannelChanges => ({
  async add(terms, { kind, ...target }) {
    const { secret } = await runOperation({
      ...signed("POST /notice_channel", { body: { ...terms, [kind]: target } as never }),
      title: msg.addAChannel,
      words: msg.theNodeWillTell("endpoint" in target ? msg.browser : target.url),
    });
    return secret ?? undefined;
  },
  edit: ({ id, label }, terms) =>
    sessionRequest({
      ...signed("PUT /notice_channel", { body: { channel_id: id, ...terms } as never }),
      access: "operate",
      words: msg.theChannelWillChange(plainName(label)),
    }),
  remove: ({ id, label }) =>
    runOperation({
      ...signed("DELETE /notice_channel", { body: { channel_id: id } }),
      title: msg.remove,
      words: msg.theChannelGetsNothingMore(plainName(label)),
    }),
  test: ({ id, label }) =>
    sessionRequest({
      ...signed("POST /notice_channel/test", { body: { channel_id: id } }),
      access: "operate",
      words: msg.theChannelGetsATest(plainName(label)),
    }),
  pushKey: async () => pushKey ?? "",
});

function OwnChannels() {
  const query = useOwnerQuery(signed("GET /notice_channel/list"), { everyMs: EVERY_MS });
  return (
    <OwnerRegion title={msg.notices} query={query}>
      {({ channels, checks, push_key: pushKey }) => (
        <Channels
          checks={checks}
          channels={channels.map(reportOf)}
          isPushOn={pushKey !== null}
          severity="notice"
          changes={changesOf(pushKey)}
          words={msg.whatNoticesOfOwnersAre}
          onChanged={() => query.refresh()}
        />
      )}
    </OwnerRegion>
  );
}

function Incident({ incident, onChanged }: { incident: OwnIncident; onChanged: () => void }) {
  const { incident_id, state, remedy, path, title } = incident;
  const action = useAction();
  const texts = useCheckTexts();
  const acknowledge = () =>
    action.run(async () => {
      await sessionRequest({
        ...signed("POST /notice_channel/incidents/acknowledge", { body: { incident_id } }),
        access: "operate",
        words: msg.itsRemindersEnd(saidIn(incidentMsg.TITLES, title)),
      });
      onChanged();
      return msg.itsRemindersHaveEnded;
    });
  return (
    <IncidentRow incident={asReport(incident)}>
      {state !== "resolved" && <p class="s">{saidIn(texts, remedy)}</p>}
      <Outcome action={action} />
      <p class="row wrap">
        <a class="btn" href={path}>
          {msg.open}
        </a>
        {state === "open" && (
          <ActionButton action={action} onClick={acknowledge}>
            {incidentMsg.acknowledge}
          </ActionButton>
        )}
      </p>
    </IncidentRow>
  );
}

function OwnIncidents() {
  const query = useOwnIncidents();
  return (
    <OwnerRegion
      title={incidentMsg.incidents}
      query={query}
      isEmpty={({ incidents }) => incidents.length === 0}
      empty={msg.noIncidentsOfYours}
    >
      {({ incidents }) => (
        <>
          {incidents.map((incident) => (
            <Incident incident={incident} onChanged={() => query.refresh()} key={incident.incident_id} />
          ))}
        </>
      )}
    </OwnerRegion>
  );
}

/** The owner's incidents, and the channels that get notices of them. */
export function Page() {
  return (
    <ManagePage title={msg.notices}>
      {() => (
        <>
          <OwnIncidents />
          <OwnChannels />
        </>
      )}
    </ManagePage>
  );
}

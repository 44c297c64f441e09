import { useState } from "preact/hooks";
import type { IncidentsReport, OperatorIncident } from "../../../checks/incident-report.ts";
import { useCheckTexts } from "../content/check-texts.ts";
import { type Query, useQuery } from "../data/query.ts";
import { type Action, ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { Field } from "../parts/form.tsx";
import { Time } from "../parts/pill.tsx";
import { IncidentsCard } from "../status/incidents.tsx";
import * as msg from "../text/en/incidents.ts";
import { saidIn } from "../text/format.ts";
import { operatorChange, operatorRead, operatorRequest } from "./session.ts";

const EVERY_MS = 15_000;
const MUTED_HOURS = 72;

type Change =
  | { readonly action: "ack" | "mute"; readonly hours?: number }
  | { readonly action: "note"; readonly note: string };

function Actions(props: { incident: OperatorIncident; action: Action; onChange: (change: Change) => void }) {
  const { incident, action, onChange } = props;
  const [note, setNote] = useState(incident.note ?? "");
  const texts = useCheckTexts();
  const { id, state, remedy, muted_until: mutedUntil, acked_by: ackedBy, is_public: isPublic } = incident;
  const { owner_fid: ownerFid } = incident;
  const isMuted = mutedUntil !== null && mutedUntil * 1000 > Date.now();
  return (
    <>
      {ownerFid !== null && <p class="s dim">{msg.ofTheOwner(ownerFid)}</p>}
      {remedy !== null && <p class="s">{saidIn(texts, remedy)}</p>}
      {ackedBy !== null && incident.acked_at !== null && (
        <p class="s dim">{msg.acknowledgedBy(<bdi>{ackedBy}</bdi>, <Time ago at={incident.acked_at} />)}</p>
      )}
      <form
        class="row wrap end"
        onSubmit={(event) => {
          event.preventDefault();
          onChange({ action: "note", note });
        }}
      >
        <div class="grow">
          <Field
            label={isPublic ? msg.noteWhichEveryoneSees : msg.note}
            name={`note-${id}`}
            value={note}
            onInput={setNote}
          />
        </div>
        <button
          type="submit"
          class="btn"
          aria-disabled={action.isBusy}
          disabled={note === (incident.note ?? "")}
        >
          {msg.saveNote}
        </button>
        {state === "open" && (
          <ActionButton action={action} onClick={() => onChange({ action: "ack" })}>
            {msg.acknowledge}
          </ActionButton>
        )}
        <ActionButton
          action={action}
          onClick={() => onChange({ action: "mute", hours: isMuted ? 0 : MUTED_HOURS })}
        >
          {isMuted ? msg.unmute : msg.muteForDays(MUTED_HOURS / 24)}
        </ActionButton>
      </form>
    </>
  );
}

export const useOperatorIncidents = (): Query<IncidentsReport<OperatorIncident>> =>
  useQuery(operatorRead<IncidentsReport<OperatorIncident>>("/incidents"), {
    send: operatorRequest,
    everyMs: EVERY_MS,
  });

/** All incidents of the nodes, and what the operator may do with open ones. */
export function OperatorIncidents({ mayChange }: { mayChange: boolean }) {
  const query = useOperatorIncidents();
  const action = useAction();
  const change = (id: string, what: Change) =>
    action.run(async () => {
      await operatorRequest(operatorChange("incident", { id, ...what }));
      query.refresh();
      return undefined;
    });
  return (
    <>
      <Outcome action={action} />
      <IncidentsCard
        query={query}
        {...(mayChange && {
          actions: (incident: OperatorIncident) => (
            <Actions
              incident={incident}
              action={action}
              onChange={(what) => void change(incident.id, what)}
              key={incident.id}
            />
          ),
        })}
      />
    </>
  );
}

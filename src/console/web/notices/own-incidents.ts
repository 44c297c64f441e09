import type { IncidentReport } from "../../../checks/incident-report.ts";
import type { Schemas } from "../data/call.ts";
import { useOwnerQuery } from "../owner/owner-data.tsx";
import { signed } from "../owner/signed-call.ts";

export type OwnIncident = Schemas["OwnIncident"];

const EVERY_MS = 15_000;

/** Returns the incidents of the signed-in owner's records. */
export const useOwnIncidents = () =>
  useOwnerQuery(signed("GET /notice_channel/incidents"), { everyMs: EVERY_MS });

/** Converts it to the format of node incidents. */
export const asReport = ({ incident_id: id, ...incident }: OwnIncident): IncidentReport => ({
  id,
  ...incident,
  node: null,
  flaps: 0,
  note: null,
});

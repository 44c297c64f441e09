import type { IncidentReport } from "../../../checks/incident-report.ts";
import type { Schemas } from "../data/call.ts";
import { useOwnerQuery } from "../owner/owner-data.tsx";
import { signed } from "../owner/signed-call.ts";

export type OwnIncident = Schemas["OwnIncident"];

const EVERY_MS = 15_000;

/** The incidents of the records of the signed-in owner. */
export const useOwnIncidents = () =>
  useOwnerQuery(signed("GET /notice_channel/incidents"), { everyMs: EVERY_MS });

/** As the pages show incidents of nodes. */
export const asReport = ({ incident_id: id, ...incident }: OwnIncident): IncidentReport => ({
  id,
  ...incident,
  node: null,
  flaps: 0,
  note: null,
});

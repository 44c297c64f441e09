import { plural, type Rich, type Value } from "../format.ts";

export const incidents = "Incidents";
export const open = "Open";
export const acknowledged = "Acknowledged";
export const resolved = "Resolved";
export const today = "Today";
export const SEVERITIES = { critical: "Critical", warning: "Warning", notice: "Notice" } as const;
export const openIncidents = (count: number) => (count === 0 ? "None open" : `${count} open`);
/** @param open the text from `openIncidents`. */
export const publicly = (open: string) => `Public: ${open.toLowerCase()}`;
export const yours = (open: string) => `Yours: ${open.toLowerCase()}`;
const inDays = (days: number) => (days === 1 ? "the last 24 hours" : `the last ${days} days`);
export const noIncidents = (days: number) => `No incidents recorded in ${inDays(days)}.`;
export const noPublicIncidents = (days: number) => `No public incidents recorded in ${inDays(days)}.`;
export const lasted = (time: Value) => `, lasted ${time}`;
export const openedAgain = (flaps: number) => `, opened again ${flaps === 1 ? "once" : `${flaps} times`}`;
export const onNode = (node: Rich): Rich => [", on ", node];
export const earlier = (count: number) => `${count} earlier`;
export const daysAgo = (days: number) => `${days} days ago`;
export const daysWithIncidents = (bad: number, days: number) =>
  `${plural(days, "watched day")}, ${bad === 0 ? "none" : bad} with a warning or critical incident`;

// operator/incidents.tsx
export const note = "Note";
export const noteWhichEveryoneSees = "Note, which everyone sees";
export const ofTheOwner = (fid: number) => `It concerns fid ${fid}, who sees it too.`;
export const saveNote = "Save note";
export const acknowledge = "Acknowledge";
export const unmute = "Unmute";
export const muteForDays = (days: number) => `Mute for ${days} days`;
export const acknowledgedBy = (by: Rich, when: Rich): Rich => ["Acknowledged by ", by, " ", when, "."];

/** Translations of the titles of checks, which the node sends in English. */
export const TITLES: Readonly<Record<string, string>> = {};
